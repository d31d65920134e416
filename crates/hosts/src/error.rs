//! What can be wrong with a configuration file, or with a name looked up in one.

use std::io;
use std::path::PathBuf;

/// Why a server could not be had from a configuration file. Each names the file, and the line and
/// the key where there is one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    /// The file is longer than any configuration.
    #[error("{} has more than {limit} bytes, which no configuration needs", file.display())]
    TooLarge { file: PathBuf, limit: u64 },
    /// The file is neither JSON with comments nor TOML.
    #[error("{}:{line}: {reason}", file.display())]
    Syntax {
        file: PathBuf,
        line: usize,
        reason: String,
    },
    /// A member of a server is not what it has to be.
    #[error("{}:{line}: `{key}` of the server `{server}` has to be {expected}", file.display())]
    Wrong {
        file: PathBuf,
        line: usize,
        server: String,
        key: String,
        expected: &'static str,
    },
    /// A server says neither how it is started nor where it is.
    #[error(
        "{}:{line}: the server `{server}` has neither a command nor a URL{hint}",
        file.display()
    )]
    NoReach {
        file: PathBuf,
        line: usize,
        server: String,
        hint: &'static str,
    },
    /// A variable has no value.
    #[error(
        "{}:{line}: `{key}` of the server `{server}` needs {what}, {reason}",
        file.display()
    )]
    NoValue {
        file: PathBuf,
        line: usize,
        server: Box<str>,
        key: Box<str>,
        what: Box<str>,
        reason: Box<str>,
    },
    /// No file knows the name.
    #[error(
        "no host has a server named `{name}`{suggestion}; `pintle list @` shows those there are"
    )]
    Unknown { name: String, suggestion: String },
    /// Several files know the name, and do not mean the same.
    #[error("`{name}` is not the same server everywhere; say which one: {}", choices.join(", "))]
    Ambiguous { name: String, choices: Vec<String> },
    /// The first half of `@host/name` is no host.
    #[error("`{host}` is no host that is known here; these are: {known}")]
    UnknownHost { host: String, known: String },
    /// A file that was named is not there, or has no servers.
    #[error("{} {reason}", file.display())]
    Useless { file: PathBuf, reason: &'static str },
}
