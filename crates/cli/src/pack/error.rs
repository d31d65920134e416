//! Why a server was not packed.

use std::io;
use std::path::PathBuf;

use super::place::Place;

/// Why a server was not packed. No file was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PackError {
    /// The directory has no file of a project.
    #[error("{} has no Cargo.toml, package.json or pyproject.toml; --project names the directory of the server", .0.display())]
    NoProject(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}", file.display())]
    Unreadable {
        /// The path of the file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file of the project has a syntax error.
    #[error("{}: {reason}", file.display())]
    Syntax {
        /// The path of the file.
        file: PathBuf,
        /// The reason, as a part of a sentence.
        reason: String,
    },
    /// The versions differ.
    #[error("the versions differ: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Drift(Vec<Place>),
    /// No place has a version.
    #[error("the project has no version")]
    NoVersion,
    /// The names of the server differ.
    #[error("the names differ: {first} has `{name}`, and {second} has `{other}`")]
    NameDrift {
        /// The first place.
        first: &'static str,
        /// The name in the first place.
        name: String,
        /// The second place.
        second: &'static str,
        /// The name in the second place.
        other: String,
    },
    /// A value that no file of the project has.
    #[error("the package has no {what}; {option} sets it")]
    Missing {
        /// The name of the value.
        what: &'static str,
        /// The option that sets the value.
        option: &'static str,
    },
    /// A value that registries reject.
    #[error("invalid {what}: {reason}")]
    Invalid {
        /// The name of the value.
        what: &'static str,
        /// The reason, as a part of a sentence.
        reason: String,
    },
    /// The target is not a triple of a known platform.
    #[error(
        "`{0}` is not a target; a target is a triple such as x86_64-unknown-linux-musl or aarch64-apple-darwin"
    )]
    UnknownTarget(String),
    /// The archive cannot be written.
    #[error("cannot write the archive")]
    Archive(#[from] zip::result::ZipError),
    /// A file of the package cannot be written.
    #[error("cannot write {}", file.display())]
    Unwritable {
        /// The path of the file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl PackError {
    pub(super) fn invalid(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            what,
            reason: reason.into(),
        }
    }
}
