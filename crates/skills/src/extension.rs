//! Skills as an extension of a server.

use std::path::Path;

use pintle::model::{Feature, Freshness};
use pintle::server::{ExtensionMethod, NotFound, ProtocolExtension, ReadCall, Resource};

use crate::EXTENSION;
use crate::catalog::Catalog;
use crate::directory;
use crate::error::SkillError;
use crate::limits::SkillLimits;
use crate::methods::{GetSkill, ListSkills, ReadDirectory, get_skill, list_skills, read_directory};
use crate::skill::Skill;

/// The skills of a server, for [`Server::extend`](pintle::server::Server::extend).
#[derive(Debug, Default)]
pub struct Skills {
    catalog: Catalog,
    freshness: Freshness,
}

impl Skills {
    /// Creates an extension without skills.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an extension without skills, with other bounds.
    pub fn within(limits: SkillLimits) -> Self {
        Self {
            catalog: Catalog::new(limits),
            freshness: Freshness::default(),
        }
    }

    /// Adds the skills in a directory: every directory in it, at any depth, that has a `SKILL.md`,
    /// with all its files. The relative path of a skill is its path in URIs. A directory that has a
    /// `SKILL.md` itself is one skill, with the name of the directory.
    ///
    /// Names that begin with a dot are left out. The path to the directory may contain links; a link
    /// in the directory is an error.
    ///
    /// # Errors
    ///
    /// [`SkillError`] with the path of the invalid skill or file.
    pub fn directory(mut self, path: impl AsRef<Path>) -> Result<Self, SkillError> {
        for skill in directory::read(path.as_ref(), &self.catalog.limits)? {
            self.catalog.add(&skill)?;
        }
        Ok(self)
    }

    /// Adds a skill from memory.
    ///
    /// # Errors
    ///
    /// [`SkillError`] with the URI of the invalid skill or file.
    pub fn skill(mut self, skill: Skill) -> Result<Self, SkillError> {
        self.catalog.add(&skill)?;
        Ok(self)
    }

    /// Sets how long clients may cache lists and entries, and which clients may share them. By default
    /// they are not cached.
    #[must_use]
    pub fn freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = freshness;
        self
    }
}

/// Every file is a resource. The list of resources contains the `SKILL.md` of each listed skill; the
/// other files are in entries and directories.
impl From<Skills> for ProtocolExtension {
    fn from(skills: Skills) -> Self {
        let Skills { catalog, freshness } = skills;
        let manifests: Vec<Resource> = catalog.manifests().map(manifest).collect();
        let list = ExtensionMethod::new::<ListSkills, _>(list_skills).freshness(freshness);
        let get = ExtensionMethod::new::<GetSkill, _>(get_skill).freshness(freshness);
        let extension = ProtocolExtension::new(EXTENSION)
            .needs(Feature::Envelope)
            .setting("directoryRead", true)
            .state(catalog)
            .add_method(list)
            .add_method(get)
            .method::<ReadDirectory, _>(read_directory)
            .resource(read_on(
                Resource::new("skill://{+path}", "skill-file")
                    .description("A file of a skill; the skills say which there are."),
            ));
        manifests.into_iter().fold(extension, Self::resource)
    }
}

fn manifest(definition: &pintle::model::Resource) -> Resource {
    let mut resource = Resource::new(definition.uri.as_str(), definition.name.as_str());
    if let Some(description) = &definition.description {
        resource = resource.description(description.as_str());
    }
    if let Some(mime) = &definition.mime_type {
        resource = resource.mime(mime.as_str());
    }
    read_on(match definition.size {
        Some(size) => resource.size(size),
        None => resource,
    })
}

/// Reads the file at the requested URI.
fn read_on(resource: Resource) -> Resource {
    resource.on_read(|call: &ReadCall<'_>| {
        let catalog: pintle::server::State<Catalog> = call.ability()?;
        let contents = catalog.contents(call.uri());
        Ok(std::future::ready(contents.ok_or(NotFound)))
    })
}
