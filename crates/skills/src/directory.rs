//! Skills from a directory: every directory in it that has a `SKILL.md`, with all its files.
//!
//! No file outside is read, because links are rejected. So is a file or directory whose kind changes
//! between the check and the opening.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::error::{SkillError, SkillErrorKind};
use crate::limits::SkillLimits;
use crate::skill::Skill;
use crate::uri::{self, SKILL_MD};

/// Reads the skills in a directory, or the directory as one skill.
///
/// # Errors
///
/// [`SkillError`] with the path of the invalid skill or file.
pub(crate) fn read(root: &Path, limits: &SkillLimits) -> Result<Vec<Skill>, SkillError> {
    let fail = |fault: SkillErrorKind| SkillError::at(root.display().to_string(), fault);
    let root = fs::canonicalize(root).map_err(|error| fail(error.into()))?;
    let mut walk = Walk {
        limits,
        files: BTreeMap::new(),
        budget: limits.max_total_bytes,
    };
    walk.directory(&root, Path::new(""), 0)?;
    let skills = walk.skills(&root)?;
    match skills.is_empty() {
        true => Err(fail(SkillErrorKind::NoSkill)),
        false => Ok(skills),
    }
}

/// The files found so far.
struct Walk<'l> {
    limits: &'l SkillLimits,
    /// Files by their path from the root, with `/` between names.
    files: BTreeMap<String, (PathBuf, Metadata)>,
    /// The number of bytes that may still be read.
    budget: u64,
}

impl Walk<'_> {
    fn directory(&mut self, root: &Path, inner: &Path, depth: usize) -> Result<(), SkillError> {
        let place = root.join(inner);
        let fail = |fault: SkillErrorKind| SkillError::at(place.display().to_string(), fault);
        if depth > self.limits.max_depth {
            return Err(fail(SkillErrorKind::too_much(
                "depth",
                self.limits.max_depth,
            )));
        }
        let entries = fs::read_dir(&place).map_err(|error| fail(error.into()))?;
        // Checked after the opening, because a link may have replaced the directory before it.
        match fs::canonicalize(&place) {
            Ok(real) if real == place => {}
            Ok(_) => return Err(fail(SkillErrorKind::Link)),
            Err(error) => return Err(fail(error.into())),
        }
        for entry in entries {
            let entry = entry.map_err(|error| fail(error.into()))?;
            self.entry(root, &inner.join(entry.file_name()), depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, root: &Path, inner: &Path, depth: usize) -> Result<(), SkillError> {
        let place = root.join(inner);
        let fail = |fault: SkillErrorKind| SkillError::at(place.display().to_string(), fault);
        let name = inner.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") {
            return Ok(());
        }
        let name = name.to_str().filter(|name| uri::is_name(name));
        let path = name.and_then(|_| path_of(inner));
        let path = path.ok_or_else(|| fail(SkillErrorKind::Name))?;
        let found = fs::symlink_metadata(&place).map_err(|error| fail(error.into()))?;
        if found.is_symlink() {
            return Err(fail(SkillErrorKind::Link));
        }
        if found.is_dir() {
            return self.directory(root, inner, depth + 1);
        }
        if !found.is_file() {
            return Err(fail(SkillErrorKind::NotPlain));
        }
        let most = self
            .limits
            .max_skills
            .saturating_mul(self.limits.max_files_per_skill);
        if self.files.len() >= most {
            return Err(fail(SkillErrorKind::too_much("skill_files", most)));
        }
        self.files.insert(path, (place.clone(), found));
        Ok(())
    }

    /// Reads the files of all skills, each file once.
    fn skills(&mut self, root: &Path) -> Result<Vec<Skill>, SkillError> {
        let own = root.file_name().and_then(|name| name.to_str());
        let directories: Vec<String> = self
            .files
            .keys()
            .filter_map(|path| directory_of(path))
            .map(str::to_owned)
            .collect();
        let mut bytes_by_path: BTreeMap<String, Bytes> = BTreeMap::new();
        let mut skills = Vec::new();
        for directory in directories {
            let path = match (&*directory, own) {
                ("", Some(own)) => own.to_owned(),
                _ => directory.clone(),
            };
            let mut skill = Skill::new(path, Bytes::new());
            for path in self.inside(&directory) {
                let bytes = match bytes_by_path.get(&path) {
                    Some(bytes) => bytes.clone(),
                    None => self.read(&path)?,
                };
                bytes_by_path.insert(path.clone(), bytes.clone());
                let inner = path.get(prefix(&directory).len()..).unwrap_or_default();
                skill = skill.file(inner, bytes);
            }
            skills.push(skill);
        }
        Ok(skills)
    }

    fn inside(&self, directory: &str) -> Vec<String> {
        let prefix = prefix(directory);
        let paths = self.files.keys();
        let inside = paths.filter(|path| path.starts_with(&prefix));
        inside.cloned().collect()
    }

    fn read(&mut self, path: &str) -> Result<Bytes, SkillError> {
        let (place, seen) = &self.files[path];
        let limit = self.budget.min(self.limits.max_bytes_per_skill);
        let bytes = read_file(place, seen, limit)
            .map_err(|fault| SkillError::at(place.display().to_string(), fault))?;
        match bytes {
            Some(bytes) => {
                self.budget -= bytes.len() as u64;
                Ok(bytes)
            }
            None => Err(SkillError::at(place.display().to_string(), self.beyond())),
        }
    }

    /// The limit that the next byte exceeds.
    fn beyond(&self) -> SkillErrorKind {
        if self.budget < self.limits.max_bytes_per_skill {
            return SkillErrorKind::too_much("total_bytes", self.limits.max_total_bytes);
        }
        SkillErrorKind::too_much("skill_bytes", self.limits.max_bytes_per_skill)
    }
}

fn prefix(directory: &str) -> String {
    match directory {
        "" => String::new(),
        directory => format!("{directory}/"),
    }
}

/// The directory of a `SKILL.md`; empty for the root.
fn directory_of(path: &str) -> Option<&str> {
    match path.strip_suffix(SKILL_MD)? {
        "" => Some(""),
        directory => directory.strip_suffix('/'),
    }
}

fn path_of(inner: &Path) -> Option<String> {
    let names: Option<Vec<&str>> = inner.iter().map(|name| name.to_str()).collect();
    Some(names?.join("/"))
}

/// Reads a file of at most `limit` bytes.
fn read_file(place: &Path, seen: &Metadata, limit: u64) -> Result<Option<Bytes>, SkillErrorKind> {
    let file = File::open(place)?;
    let opened = file.metadata()?;
    if !opened.is_file() || !is_same(seen, &opened) {
        return Err(SkillErrorKind::NotPlain);
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then(|| bytes.into()))
}

#[cfg(unix)]
fn is_same(seen: &Metadata, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same(seen: &Metadata, opened: &Metadata) -> bool {
    seen.file_type() == opened.file_type()
}

#[cfg(all(test, unix))]
mod tests;
