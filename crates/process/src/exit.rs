//! The end of a server's process, and the reasons why one does not start.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use super::tail::excerpt;

/// The end of a server's process: its status, and the end of its standard error.
///
/// As an error it reads `npx ended (exit status: 1): …`, with the last lines of standard error.
/// That text omits control characters; [`ChildExit::stderr`] has everything that was stored.
#[derive(Debug, Clone)]
pub struct ChildExit {
    pub(super) program: Arc<str>,
    pub(super) status: Option<ExitStatus>,
    pub(super) stderr: Arc<str>,
    pub(super) was_asked: bool,
    pub(super) was_too_large: bool,
}

impl ChildExit {
    /// Returns the exit status; `None` if the system did not report it.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Returns the end of the server's standard error, up to
    /// [`ChildOptions::max_stderr_bytes`](super::ChildOptions::max_stderr_bytes). Invalid UTF-8 is
    /// replaced.
    ///
    /// Servers may write any log there. The text can explain a failure, but does not indicate one.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Returns true if the host ended the server. False: it ended on its own, or another process
    /// ended it.
    pub fn was_asked(&self) -> bool {
        self.was_asked
    }

    /// Returns true if the host killed the server, because it had more memory than
    /// [`ChildOptions::max_memory_bytes`](super::ChildOptions::max_memory_bytes).
    pub fn was_too_large(&self) -> bool {
        self.was_too_large
    }
}

impl fmt::Display for ChildExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ended", self.program)?;
        if self.was_too_large {
            f.write_str(" because it had more memory than its limit")?;
        }
        match self.status {
            Some(status) => write!(f, " ({status})")?,
            None => f.write_str(" (status unknown)")?,
        }
        let shown = excerpt(&self.stderr);
        if shown.is_empty() {
            return Ok(());
        }
        let separator = if shown.contains('\n') { "\n" } else { " " };
        write!(f, ":{separator}{shown}")
    }
}

impl Error for ChildExit {}

/// Why a server's process was not started.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// The program does not exist in the server's `PATH`, or at the given path.
    NotFound {
        /// The program, as the configuration names it.
        program: String,
    },
    /// The file exists, but may not be executed.
    NotExecutable {
        /// The program, as the configuration names it.
        program: String,
    },
    /// The working directory does not exist, or is not a directory.
    NoDirectory {
        /// The configured working directory.
        directory: PathBuf,
    },
    /// The system did not start the program. On Windows, also: an argument cannot be passed safely
    /// to a batch file.
    Failed {
        /// The program, as the configuration names it.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The server ended on its own too often in a row.
    Crashing {
        /// Number of such ends in a row.
        times: u32,
        /// Time until the next permitted start, counted from now.
        rest: Duration,
        /// The last end of the server.
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
                "the server ended on its own {times} times in a row; the next start is in {} s",
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
