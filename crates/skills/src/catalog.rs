//! All skills of a server with their files, by URI.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use pintle::model::{Resource, ResourceContents};

use crate::entry::{SkillEntry, SkillFile, SkillFiles, is_skill_md};
use crate::error::{SkillError, SkillErrorKind};
use crate::frontmatter::Frontmatter;
use crate::limits::SkillLimits;
use crate::media;
use crate::skill::Skill;
use crate::uri::{self, SKILL_MD};

/// Skills and files, all of them checked.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) limits: SkillLimits,
    skill_by_directory: BTreeMap<String, CatalogEntry>,
    file_by_uri: BTreeMap<String, File>,
    total_bytes: u64,
}

/// A skill, and whether it is listed.
#[derive(Debug)]
struct CatalogEntry {
    entry: SkillEntry,
    is_listed: bool,
}

/// A file: its description and its bytes.
#[derive(Debug)]
struct File {
    resource: Resource,
    skill_file: SkillFile,
    bytes: Bytes,
}

impl Catalog {
    /// Creates an empty catalog with these bounds.
    pub(crate) fn new(limits: SkillLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Adds a skill.
    ///
    /// # Errors
    ///
    /// [`SkillError`] if the skill is invalid or beyond the bounds.
    pub(crate) fn add(&mut self, skill: &Skill) -> Result<(), SkillError> {
        let names = uri::names(&skill.path, self.limits.max_depth)
            .map_err(|fault| SkillError::at(&skill.path, fault))?;
        let directory = uri::of(names.iter().copied());
        let fail = |fault| SkillError::at(&directory, fault);
        self.check_room(&directory).map_err(fail)?;
        let frontmatter = self
            .read(skill, &names)
            .map_err(|fault| SkillError::at(uri::inside(&directory, SKILL_MD), fault))?;
        for (path, bytes) in &skill.files {
            self.add_file(&directory, path, bytes, &frontmatter)
                .map_err(|fault| SkillError::at(format!("{directory}/{path}"), fault))?;
        }
        let resources = match skill.is_dynamic {
            true => SkillFiles::Dynamic,
            false => SkillFiles::All(Vec::new()),
        };
        let place = uri::inside(&directory, SKILL_MD);
        let catalog_entry = CatalogEntry {
            entry: SkillEntry::new(place, frontmatter.members, resources),
            is_listed: skill.is_listed,
        };
        self.skill_by_directory
            .insert(directory.clone(), catalog_entry);
        self.add_files_to_entries(&directory)
    }

    fn check_room(&self, directory: &str) -> Result<(), SkillErrorKind> {
        if self.skill_by_directory.contains_key(directory) {
            return Err(SkillErrorKind::Taken);
        }
        match self.skill_by_directory.len() < self.limits.max_skills {
            true => Ok(()),
            false => Err(SkillErrorKind::too_much("skills", self.limits.max_skills)),
        }
    }

    fn read(&self, skill: &Skill, names: &[&str]) -> Result<Frontmatter, SkillErrorKind> {
        let text = skill.files.get(SKILL_MD).ok_or(SkillErrorKind::NoSkill)?;
        let frontmatter = Frontmatter::read(text, self.limits.max_frontmatter_bytes)?;
        match names.last() {
            Some(last) if *last == frontmatter.name => Ok(frontmatter),
            _ => Err(SkillErrorKind::OtherName {
                name: frontmatter.name,
            }),
        }
    }

    fn add_file(
        &mut self,
        directory: &str,
        path: &str,
        bytes: &Bytes,
        frontmatter: &Frontmatter,
    ) -> Result<(), SkillErrorKind> {
        let names = uri::names(path, self.limits.max_depth)?;
        let place = uri::inside(directory, path);
        // The outer skill has added the files of a nested skill already.
        if let Some(file) = self.file_by_uri.get_mut(&place) {
            if file.bytes != *bytes {
                return Err(SkillErrorKind::Taken);
            }
            describe(&mut file.resource, path, frontmatter);
            return Ok(());
        }
        self.total_bytes += bytes.len() as u64;
        if self.total_bytes > self.limits.max_total_bytes {
            return Err(SkillErrorKind::too_much(
                "total_bytes",
                self.limits.max_total_bytes,
            ));
        }
        let name = names.last().copied().unwrap_or_default();
        let mut resource = Resource::new(place.as_str(), name);
        resource.mime_type = Some(media::of(name, bytes).to_owned());
        resource.size = Some(bytes.len() as u64);
        describe(&mut resource, path, frontmatter);
        let file = File {
            resource,
            skill_file: SkillFile::of(place.as_str(), bytes),
            bytes: bytes.clone(),
        };
        self.file_by_uri.insert(place, file);
        Ok(())
    }

    /// Adds the files of a skill to its entry, and to the entries of the skills around it.
    fn add_files_to_entries(&mut self, directory: &str) -> Result<(), SkillError> {
        let mut next = Some(directory);
        while let Some(place) = next {
            next = uri::parent(place);
            let files: Vec<_> = self
                .files_in(place)
                .map(|(_, file)| file.skill_file.clone())
                .collect();
            let Some(catalog_entry) = self.skill_by_directory.get_mut(place) else {
                continue;
            };
            check_size(&files, &self.limits).map_err(|fault| SkillError::at(place, fault))?;
            if let SkillFiles::All(listed) = &mut catalog_entry.entry.resources {
                *listed = files;
            }
        }
        Ok(())
    }

    /// The files inside a directory, at any depth.
    fn files_in(&self, directory: &str) -> impl Iterator<Item = (&String, &File)> {
        let (first, end) = (format!("{directory}/"), format!("{directory}0"));
        let range = (Bound::Excluded(first), Bound::Excluded(end));
        self.file_by_uri.range::<String, _>(range)
    }

    /// The listed skills, by their URIs.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &SkillEntry> {
        let entries = self.skill_by_directory.values();
        entries
            .filter(|catalog_entry| catalog_entry.is_listed)
            .map(|catalog_entry| &catalog_entry.entry)
    }

    /// The skill whose `SKILL.md` is at `uri`, listed or not.
    pub(crate) fn skill(&self, uri: &str) -> Option<&SkillEntry> {
        if !is_skill_md(uri) {
            return None;
        }
        let catalog_entry = self.skill_by_directory.get(uri::parent(uri)?)?;
        Some(&catalog_entry.entry)
    }

    /// The file at a URI.
    pub(crate) fn contents(&self, uri: &str) -> Option<ResourceContents> {
        let File {
            resource, bytes, ..
        } = self.file_by_uri.get(uri)?;
        let mut contents = match media::text(bytes) {
            Some(text) => ResourceContents::text(uri, text),
            None => ResourceContents::blob(uri, bytes),
        };
        match &mut contents {
            ResourceContents::Text(text) => text.mime_type.clone_from(&resource.mime_type),
            ResourceContents::Blob(blob) => blob.mime_type.clone_from(&resource.mime_type),
            _ => {}
        }
        Some(contents)
    }

    /// The `SKILL.md` files of listed skills.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &Resource> {
        self.listed()
            .filter_map(|entry| Some(&self.file_by_uri.get(&entry.uri)?.resource))
    }

    /// The direct children of a directory, by their URIs. A directory that does not exist has none.
    pub(crate) fn children(&self, directory: &str) -> Option<Vec<Resource>> {
        let is_directory = directory.starts_with(uri::SCHEME) && !directory.ends_with('/');
        let mut files = self.files_in(directory).filter(|_| is_directory).peekable();
        files.peek()?;
        let mut children: BTreeMap<String, Resource> = BTreeMap::new();
        for (place, file) in files {
            let path = place.get(directory.len() + 1..).unwrap_or_default();
            match path.split_once('/') {
                None => children.insert(place.clone(), file.resource.clone()),
                Some((name, _)) => {
                    let place = format!("{directory}/{name}");
                    let child = folder(&place, name);
                    children.insert(place, child)
                }
            };
        }
        Some(children.into_values().collect())
    }
}

/// The name of a file in lists; a `SKILL.md` has the name of its skill.
fn describe(resource: &mut Resource, path: &str, frontmatter: &Frontmatter) {
    if path == SKILL_MD {
        resource.name.clone_from(&frontmatter.name);
        resource.description = Some(frontmatter.description.clone());
    }
}

fn folder(place: &str, name: &str) -> Resource {
    let mut folder = Resource::new(place, name);
    folder.mime_type = Some(media::DIRECTORY.to_owned());
    folder
}

fn check_size(files: &[SkillFile], limits: &SkillLimits) -> Result<(), SkillErrorKind> {
    if files.len() > limits.max_files_per_skill {
        return Err(SkillErrorKind::too_much(
            "skill_files",
            limits.max_files_per_skill,
        ));
    }
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    match bytes <= limits.max_bytes_per_skill {
        true => Ok(()),
        false => Err(SkillErrorKind::too_much(
            "skill_bytes",
            limits.max_bytes_per_skill,
        )),
    }
}
