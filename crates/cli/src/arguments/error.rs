//! Errors of arguments.

use std::io;

use crate::exit::{CliError, Exit};

/// Reason why words do not form arguments.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// A word does not have one of the forms.
    #[error("invalid argument `{word}`: expected key=value, key:=json, {{…}}, @file or -")]
    NoForm { word: String },
    /// A part of a key is empty, or the key has too many parts.
    #[error("invalid key in `{word}`: {reason}")]
    BadKey { word: String, reason: &'static str },
    /// A text that should be JSON is not JSON.
    #[error("{place} is not JSON: {reason}")]
    NotJson { place: String, reason: String },
    /// The JSON of all arguments is not an object.
    #[error("{place} is not a JSON object; it has to hold all arguments")]
    NoObject { place: String },
    /// A file cannot be read.
    #[error("cannot read {place}")]
    Unreadable { place: String, source: io::Error },
    /// One key is given twice, and the schema requires a single value.
    #[error("`{key}` is given twice and is not a list")]
    Twice { key: String },
    /// A key leads into a value that has no such member.
    #[error("`{key}` cannot be set: {reason}")]
    NoPlace { key: String, reason: &'static str },
    /// The arguments do not fit the schema.
    #[error("{}", faults.join("\n"))]
    Unfit { faults: Vec<String> },
}

impl ArgumentError {
    /// Returns the exit code. It differs for arguments that are invalid, and that do not fit the
    /// schema.
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
