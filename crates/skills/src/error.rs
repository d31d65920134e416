//! Why skills cannot be served.

use std::io;

/// Why a skill or a directory of skills cannot be served. Reported at start.
#[derive(Debug, thiserror::Error)]
#[error("the skill at `{place}` cannot be served")]
pub struct SkillError {
    place: String,
    #[source]
    fault: SkillErrorKind,
}

impl SkillError {
    pub(crate) fn at(place: impl Into<String>, fault: impl Into<SkillErrorKind>) -> Self {
        Self {
            place: place.into(),
            fault: fault.into(),
        }
    }

    /// The path or the URI of the skill or file.
    pub fn place(&self) -> &str {
        &self.place
    }

    #[cfg(all(test, unix))]
    pub(crate) fn into_fault(self) -> SkillErrorKind {
        self.fault
    }

    /// The reason why the skill cannot be served.
    pub fn fault(&self) -> &SkillErrorKind {
        &self.fault
    }
}

/// The reason of a [`SkillError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillErrorKind {
    /// The file or directory cannot be read.
    #[error("the file cannot be read")]
    Unreadable(#[from] io::Error),
    /// The file is a symbolic link. Its target may be outside of the skill and may change.
    #[error("the file is a symbolic link; put the file itself there")]
    Link,
    /// The path is not a file or a directory, or its kind changed while it was read.
    #[error("the path is not a regular file")]
    NotPlain,
    /// The name cannot be part of a URI, or leads out of the skill.
    #[error("the file name is not allowed in a skill")]
    Name,
    /// The directory contains no skill.
    #[error("the directory has no SKILL.md at any depth")]
    NoSkill,
    /// `SKILL.md` is not UTF-8.
    #[error("SKILL.md is not UTF-8")]
    NotText,
    /// `SKILL.md` does not begin with YAML between two lines of `---`.
    #[error("SKILL.md does not begin with YAML between two lines of `---`")]
    NoFrontmatter,
    /// The YAML is not valid frontmatter.
    #[error("invalid YAML in line {line}: {reason}")]
    Yaml {
        /// The line, counted from the first after `---`.
        line: usize,
        /// The reason, as the parser of YAML reports it.
        reason: String,
    },
    /// A required field is missing, empty or too long.
    #[error("invalid `{field}` in the YAML: it must be {rule}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The rule for its value.
        rule: &'static str,
    },
    /// The name of the skill and the last directory of its path differ.
    #[error("the directory does not have the name of its skill, `{name}`")]
    OtherName {
        /// The name in the YAML.
        name: String,
    },
    /// Another skill or file has this URI.
    #[error("another skill or file has the same URI")]
    Taken,
    /// The skill exceeds one of the limits.
    #[error("the limit `{setting}` ({limit}) is exceeded")]
    TooMuch {
        /// The name of the limit in `SkillLimits`.
        setting: &'static str,
        /// The value of the limit.
        limit: u64,
    },
}

impl SkillErrorKind {
    pub(crate) fn too_much(setting: &'static str, limit: impl TryInto<u64>) -> Self {
        Self::TooMuch {
            setting,
            limit: limit.try_into().unwrap_or(u64::MAX),
        }
    }
}
