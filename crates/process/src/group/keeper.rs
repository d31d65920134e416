//! The keeper: a process that ends a server when its host cannot.
//!
//! A killed host cleans up nothing. So a small shell is started before the server, as leader of a
//! new process group. It only reads a pipe whose other end is in the host alone. When the host
//! ends for any reason, the pipe ends, and the keeper ends the group, itself included.
//!
//! The server joins the group before its program begins, so the keeper cannot miss a server. If the
//! group has already ended, joining it fails and no server starts.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, ChildStdin, Command};

const SHELL: &str = "/bin/sh";

/// Waits for the end of the host, then for 0.3 s, sends `SIGTERM` to the group, and `SIGKILL` 0.7 s
/// later. `kill` with 0 means the group of the caller: a stored id could belong to another group by
/// then. Some `sleep` programs reject fractions; the script then waits for 1 s.
const SCRIPT: &str = r#"trap "" HUP INT QUIT TERM
while read -r line; do :; done
sleep 0.3 || sleep 1
kill -TERM 0
sleep 0.7 || sleep 1
kill -KILL 0"#;

/// The leader of a server's process group.
#[derive(Debug)]
pub(super) struct Keeper {
    process: Child,
    /// The host's end of the pipe. The system closes it when the host ends.
    _life: ChildStdin,
}

impl Keeper {
    /// Starts a keeper, which leads a new process group.
    pub(super) fn start() -> io::Result<Self> {
        let mut command = Command::new(SHELL);
        command
            .args(["-c", SCRIPT, "pintle-keeper"])
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let mut process = command.spawn()?;
        let life = process.stdin.take();
        Ok(Self {
            process,
            _life: life.ok_or(io::ErrorKind::BrokenPipe)?,
        })
    }

    /// Returns the id of the keeper, and of its group. The system does not reuse it before the
    /// keeper is awaited.
    pub(super) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits for the end of the keeper, which has been killed with its group.
    pub(super) async fn reap(&mut self) {
        // The status does not matter, and a failed wait has no remedy.
        let _ = self.process.wait().await;
    }
}
