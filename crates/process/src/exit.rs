//! How a server came to its end, and why one did not start.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use super::tail::excerpt;

/// The end of a server's process: its status, and what it said last on its standard error.
///
/// As an error it reads `npx ended (exit status: 1): …`, with the last lines of what the server
/// said. Control characters are left out there; [`ChildExit::stderr`] has all that was kept.
#[derive(Debug, Clone)]
pub struct ChildExit {
    pub(super) program: Arc<str>,
    pub(super) status: Option<ExitStatus>,
    pub(super) stderr: Arc<str>,
    pub(super) was_asked: bool,
}

impl ChildExit {
    /// The status it ended with; none if that could not be learned.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// The end of what it wrote to its standard error, up to
    /// [`ChildOptions::max_stderr_bytes`](super::ChildOptions::max_stderr_bytes). What is no UTF-8 is replaced.
    ///
    /// Servers write what they like there, also when all is well: it explains a failure, and is no
    /// sign of one.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Whether we ended it, rather than it itself or somebody else.
    pub fn was_asked(&self) -> bool {
        self.was_asked
    }
}

impl fmt::Display for ChildExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ended", self.program)?;
        match self.status {
            Some(status) => write!(f, " ({status})")?,
            None => f.write_str(" (status unknown)")?,
        }
        let said = excerpt(&self.stderr);
        if said.is_empty() {
            return Ok(());
        }
        let separator = if said.contains('\n') { "\n" } else { " " };
        write!(f, ":{separator}{said}")
    }
}

impl Error for ChildExit {}

/// Why a server's process was not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program in the `PATH` that the server gets, or at the path it was given.
    NotFound {
        /// The program, as it was named.
        program: String,
    },
    /// There is such a file, but it may not be executed.
    NotExecutable {
        /// The program, as it was named.
        program: String,
    },
    /// The working directory does not exist or is none.
    NoDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// The system did not start it. On Windows this is also the answer to an argument that a
    /// batch file could not be given safely.
    Failed {
        /// The program, as it was named.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended by itself too often in a row.
    Crashing {
        /// How often.
        times: u32,
        /// When it may be started again, counted from now.
        rest: Duration,
        /// How it ended the last time.
        last: Option<ChildExit>,
    },
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { program } => write!(f, "there is no program {program} to start"),
            Self::NotExecutable { program } => write!(f, "{program} may not be executed"),
            Self::NoDirectory { directory } => {
                write!(
                    f,
                    "the working directory {} is not a directory",
                    directory.display()
                )
            }
            Self::Failed { program, .. } => write!(f, "{program} could not be started"),
            Self::Crashing { times, rest, .. } => write!(
                f,
                "the server ended by itself {times} times in a row; the next start is in {} s",
                rest.as_secs()
            ),
        }
    }
}

impl Error for SpawnError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed { source, .. } => Some(source),
            Self::Crashing { last, .. } => last.as_ref().map(|last| last as _),
            _ => None,
        }
    }
}
