//! What can be wrong with arguments.

use std::io;

use crate::exit::{CliError, Exit};

/// Why words did not become arguments.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// A word is none of the forms there are.
    #[error("invalid argument `{word}`: expected key=value, key:=json, {{…}}, @file or -")]
    NoForm { word: String },
    /// A key is empty, or nests without end.
    #[error("invalid key in `{word}`: {reason}")]
    BadKey { word: String, reason: &'static str },
    /// What should be JSON is not.
    #[error("{place} is not JSON: {reason}")]
    NotJson { place: String, reason: String },
    /// What should be all arguments is no object.
    #[error("{place} is not a JSON object; it has to hold all arguments")]
    NoObject { place: String },
    /// A file cannot be read.
    #[error("cannot read {place}")]
    Unreadable { place: String, source: io::Error },
    /// One key is given twice, and the schema wants one value.
    #[error("`{key}` is given twice and is not a list")]
    Twice { key: String },
    /// A key leads into something that has no members.
    #[error("`{key}` cannot be set: {reason}")]
    NoPlace { key: String, reason: &'static str },
    /// The arguments do not fit the schema.
    #[error("{}", faults.join("\n"))]
    Unfit { faults: Vec<String> },
}

impl ArgumentError {
    /// The exit code: what does not fit the schema is told from what cannot be read.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Unfit { .. } => Exit::Schema,
            _ => Exit::Usage,
        }
    }
}

impl From<ArgumentError> for CliError {
    fn from(error: ArgumentError) -> Self {
        Self::new(error.exit(), error)
    }
}
