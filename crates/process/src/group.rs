//! A server's process and all that it starts, as one thing that can be ended.

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

/// Everything the system needs to know to start a server. Nothing is left to look up or to expand.
#[derive(Debug)]
pub(super) struct SpawnPlan {
    /// The file, as an absolute path.
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) directory: PathBuf,
}

impl SpawnPlan {
    /// The command with its three pipes. There is no shell: arguments arrive as they are.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Our ends of a server's streams.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}
