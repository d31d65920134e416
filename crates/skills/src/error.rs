//! Why skills cannot be served.

use std::io;

/// Why a skill, or a directory of them, cannot be served; found at start.
#[derive(Debug, thiserror::Error)]
#[error("the skill at `{place}` cannot be served")]
pub struct SkillError {
    place: String,
    #[source]
    fault: SkillFault,
}

impl SkillError {
    pub(crate) fn at(place: impl Into<String>, fault: impl Into<SkillFault>) -> Self {
        Self {
            place: place.into(),
            fault: fault.into(),
        }
    }

    /// Where: a path, or a URI.
    pub fn place(&self) -> &str {
        &self.place
    }

    #[cfg(all(test, unix))]
    pub(crate) fn into_fault(self) -> SkillFault {
        self.fault
    }

    /// What is wrong there.
    pub fn fault(&self) -> &SkillFault {
        &self.fault
    }
}

/// What is wrong with a skill.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFault {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unreadable(#[from] io::Error),
    /// It is a symbolic link: what it points to may be anything, tomorrow something else.
    #[error("it is a symbolic link: put the file itself there")]
    Link,
    /// It is neither a file nor a directory, or has become something else while it was read.
    #[error("it is no plain file")]
    NotPlain,
    /// Its name cannot be part of a URI, or leads elsewhere.
    #[error("its name is none a file of a skill may have")]
    Name,
    /// A directory that was to hold skills holds none.
    #[error("there is no SKILL.md in it or below it")]
    NoSkill,
    /// `SKILL.md` is not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// `SKILL.md` does not begin with YAML between two lines of `---`.
    #[error("it does not begin with YAML between two lines of `---`")]
    NoFrontmatter,
    /// The YAML is not what frontmatter may be.
    #[error("line {line} of its YAML: {reason}")]
    Yaml {
        /// The line, counted from the first after `---`.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A field that every skill has is missing, empty or too long.
    #[error("its YAML needs `{field}`: {rule}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it has to be.
        rule: &'static str,
    },
    /// The last directory of its path and its name differ.
    #[error("it is called `{name}`, so its directory has to be called that")]
    OtherName {
        /// The name it gives itself.
        name: String,
    },
    /// There is another one at this URI.
    #[error("another one is at the same URI")]
    Taken,
    /// It is beyond one of the limits.
    #[error("it is beyond `{setting}`, which is {limit}")]
    TooMuch {
        /// The limit's name in `SkillLimits`.
        setting: &'static str,
        /// Its value.
        limit: u64,
    },
}

impl SkillFault {
    pub(crate) fn too_much(setting: &'static str, limit: impl TryInto<u64>) -> Self {
        Self::TooMuch {
            setting,
            limit: limit.try_into().unwrap_or(u64::MAX),
        }
    }
}
