//! A server's process and every process that it starts, as one group that can be ended.

#[cfg(unix)]
mod keeper;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::Group;
#[cfg(windows)]
pub(super) use windows::Group;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// Everything that the system needs to start a server. No lookup or expansion follows.
#[derive(Debug)]
pub(super) struct SpawnPlan {
    /// Absolute path of the executable file.
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) directory: PathBuf,
    /// Whether the server writes to the standard error of the host.
    pub(super) inherits_stderr: bool,
}

impl SpawnPlan {
    /// Returns the command with its pipes. No shell runs, so arguments arrive unchanged.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match self.inherits_stderr {
                true => Stdio::inherit(),
                false => Stdio::piped(),
            });
        command
    }
}

/// The host's ends of a server's streams.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    /// Absent if the server writes to the standard error of the host.
    pub(super) stderr: Option<ChildStderr>,
}
