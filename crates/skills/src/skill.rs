//! A skill from memory.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;

use crate::uri::SKILL_MD;

/// A skill, described by its files.
#[derive(Clone)]
pub struct Skill {
    pub(crate) path: String,
    pub(crate) files: BTreeMap<String, Bytes>,
    pub(crate) is_listed: bool,
    pub(crate) is_dynamic: bool,
}

impl Skill {
    /// Begins a skill at `skill://<path>/SKILL.md`. The last part of the path is the name in its YAML.
    pub fn new(path: impl Into<String>, skill_md: impl Into<Bytes>) -> Self {
        Self {
            path: path.into(),
            files: BTreeMap::from([(SKILL_MD.to_owned(), skill_md.into())]),
            is_listed: true,
            is_dynamic: false,
        }
    }

    /// Adds a file by its path inside the skill, such as `references/limits.md`.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, content: impl Into<Bytes>) -> Self {
        self.files.insert(path.into(), content.into());
        self
    }

    /// Leaves the skill out of lists. A client that knows its URI can get it.
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.is_listed = false;
        self
    }

    /// Declares that resources of the server generate files of this skill on request. Clients receive
    /// no digests then.
    #[must_use]
    pub fn dynamic(mut self) -> Self {
        self.is_dynamic = true;
        self
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("path", &self.path)
            .field("files", &self.files.keys())
            .finish_non_exhaustive()
    }
}
