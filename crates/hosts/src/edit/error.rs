//! Why the file of a host was not changed.

use std::io;
use std::path::PathBuf;

use crate::error::ConfigError;

/// Why a server was not written into the file of a host, or not removed from it. The file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file cannot be read, or has a syntax error.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The file has a server of that name.
    #[error("{} has a server named `{name}` already; --replace replaces it", file.display())]
    Exists {
        /// The path of the file.
        file: PathBuf,
        /// The name of the server.
        name: String,
    },
    /// The file has no server of that name.
    #[error("{} has no server named `{name}`{suggestion}", file.display())]
    Absent {
        /// The path of the file.
        file: PathBuf,
        /// The name of the server.
        name: String,
        /// A similar name as a remark, or an empty text.
        suggestion: String,
    },
    /// Several files of the host have a server of that name.
    #[error("several files of {host} have a server named `{name}`; use --file with one of {}", files.join(", "))]
    SeveralFiles {
        /// The name of the host.
        host: &'static str,
        /// The name of the server.
        name: String,
        /// The paths of the files.
        files: Vec<String>,
    },
    /// The host has no such file, or its place is unknown here.
    #[error("{host} has no configuration file of the {owner} here")]
    NoFile {
        /// The name of the host.
        host: &'static str,
        /// The owner of the file: the user or the project.
        owner: &'static str,
    },
    /// The host has no form for a part of the definition.
    #[error("the configuration file of {host} cannot have {what}")]
    Unsupported {
        /// The name of the host.
        host: &'static str,
        /// The part of the definition.
        what: String,
    },
    /// The name is not usable in every host.
    #[error(
        "invalid server name `{0}`: a name has 1 to 64 ASCII letters, digits, `-`, `_` and `.`, and begins with a letter or digit"
    )]
    InvalidName(String),
    /// The file has a form that is not edited automatically.
    #[error("{} is not edited automatically: {reason}{by_hand}", file.display())]
    NotEditable {
        /// The path of the file.
        file: PathBuf,
        /// The reason, as a part of a sentence.
        reason: &'static str,
        /// The lines to add by hand, or an empty text.
        by_hand: String,
    },
    /// Another program has changed the file.
    #[error("{} was changed by another program; run the command again", .0.display())]
    Changed(PathBuf),
    /// The file, or its backup, cannot be written.
    #[error("cannot write {}", file.display())]
    Unwritable {
        /// The path of the file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// Why a text was not edited. The caller adds the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextError {
    /// The text has a syntax error.
    Syntax(crate::raw_entry::SyntaxError),
    /// The entry exists.
    Exists,
    /// The entry does not exist.
    Absent,
    /// The text has a form that is not edited.
    NotEditable(&'static str),
}

impl From<crate::raw_entry::SyntaxError> for TextError {
    fn from(error: crate::raw_entry::SyntaxError) -> Self {
        Self::Syntax(error)
    }
}
