//! What can be wrong with a configuration file, or with a name looked up in one.

use std::io;
use std::path::{Path, PathBuf};

/// Why a server could not be had from a configuration file. Each names the file, and the line and
/// the key where there is one.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {}", file.display())]
    Unreadable {
        /// The path of the file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is longer than any configuration.
    #[error("{} is too large: a configuration file has at most {limit} bytes", file.display())]
    TooLarge {
        /// The path of the file.
        file: PathBuf,
        /// Maximum size, in bytes.
        limit: u64,
    },
    /// The file is neither JSON with comments nor TOML.
    #[error("{}:{line}: {reason}", file.display())]
    Syntax {
        /// The path of the file.
        file: PathBuf,
        /// The line; from 1.
        line: usize,
        /// The reason, as a part of a sentence.
        reason: String,
    },
    /// A member of a server does not have the expected form.
    #[error("{}:{line}: `{key}` of the server `{server}` has to be {expected}", file.display())]
    Wrong {
        /// The path of the file.
        file: PathBuf,
        /// The line; from 1.
        line: usize,
        /// The name of the server.
        server: String,
        /// The key of the member.
        key: String,
        /// The required form.
        expected: &'static str,
    },
    /// A server has neither a command nor a URL.
    #[error(
        "{}:{line}: the server `{server}` has neither a command nor a URL{hint}",
        file.display()
    )]
    NoTarget {
        /// The path of the file.
        file: PathBuf,
        /// The line; from 1.
        line: usize,
        /// The name of the server.
        server: String,
        /// A hint, or an empty text.
        hint: &'static str,
    },
    /// A variable has no value.
    #[error(
        "{}:{line}: `{key}` of the server `{server}` needs {what}, {reason}",
        file.display()
    )]
    NoValue {
        /// The path of the file.
        file: PathBuf,
        /// The line; from 1.
        line: usize,
        /// The name of the server.
        server: Box<str>,
        /// The key of the member.
        key: Box<str>,
        /// The missing value.
        what: Box<str>,
        /// The reason, as a part of a sentence.
        reason: Box<str>,
    },
    /// No file knows the name.
    #[error("no host has a server named `{name}`{suggestion}; `pintle list @` lists the servers")]
    Unknown {
        /// The name that was looked up.
        name: String,
        /// A similar name as a remark, or an empty text.
        suggestion: String,
    },
    /// Several files know the name, and do not mean the same.
    #[error("several files define different servers named `{name}`; use one of {}", choices.join(", "))]
    Ambiguous {
        /// The name that was looked up.
        name: String,
        /// The addresses that distinguish the servers.
        choices: Vec<String>,
    },
    /// The first half of `@host/name` is not a known host.
    #[error("`{host}` is not a known host; the known hosts are {known}")]
    UnknownHost {
        /// The unknown id.
        host: String,
        /// The ids of the known hosts.
        known: String,
    },
    /// A file that was named is not there, or has no servers.
    #[error("{} {reason}", file.display())]
    Useless {
        /// The path of the file.
        file: PathBuf,
        /// The reason, as a part of a sentence.
        reason: &'static str,
    },
}

impl ConfigError {
    /// Returns the file and the line of the fault, if the fault has a place.
    pub fn place(&self) -> Option<(&Path, usize)> {
        match self {
            Self::Unreadable { file, .. }
            | Self::TooLarge { file, .. }
            | Self::Useless { file, .. } => Some((file, 1)),
            Self::Syntax { file, line, .. }
            | Self::Wrong { file, line, .. }
            | Self::NoTarget { file, line, .. }
            | Self::NoValue { file, line, .. } => Some((file, *line)),
            Self::Unknown { .. } | Self::Ambiguous { .. } | Self::UnknownHost { .. } => None,
        }
    }
}
