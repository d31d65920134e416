//! Who ends a server when its host cannot: the keeper.
//!
//! A process that is killed cleans nothing up. So before a server is started, a small shell is, which
//! leads the process group that the server is then born into, and does nothing but read a pipe whose
//! other end only the host has. When the host dies, however it dies, the pipe ends, and the keeper
//! ends the group, itself included. No server is missed between its start and an entry in some list,
//! because it is in the group before its program begins; where the group is gone already, joining it
//! fails, and nothing is started.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, ChildStdin, Command};

const SHELL: &str = "/bin/sh";

/// Waits for the end of the host, gives the group a moment to leave by itself, asks it to, and kills
/// it. `kill` with 0 means the group of the caller, so no number is remembered that could mean
/// somebody else by then. Not every `sleep` knows fractions.
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
    /// Ends when we do.
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

    /// The id of the keeper, and of its group. Until the keeper is awaited, the system gives it to
    /// nobody else.
    pub(super) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits for the end of the keeper, which has been killed with its group.
    pub(super) async fn reap(&mut self) {
        // Nothing hangs on how it ended, and nothing can be done if that cannot be learned.
        let _ = self.process.wait().await;
    }
}
