//! Somebody at a terminal.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use pty_process::{Command, Pty, Size, open};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::time::timeout;

/// How long anything may take, before a test fails rather than hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program at a terminal of its own, and whoever types.
pub(crate) struct Typist {
    terminal: Pty,
    child: Child,
    /// What the screen has shown that was not looked at yet.
    shown: String,
}

impl Typist {
    /// Starts the program with words.
    pub(crate) fn starts(words: &[&str]) -> Self {
        Self::starts_with(words, &[])
    }

    /// Starts the program with words and variables.
    pub(crate) fn starts_with(words: &[&str], env: &[(&str, &str)]) -> Self {
        Self::starts_at(Path::new("."), words, env)
    }

    /// The same, in a directory.
    pub(crate) fn starts_at(directory: &Path, words: &[&str], env: &[(&str, &str)]) -> Self {
        let (terminal, screen) = open().expect("a terminal");
        terminal.resize(Size::new(40, 120)).expect("a size");
        let command = Command::new(env!("CARGO_BIN_EXE_pintle"))
            .args(words)
            .current_dir(directory)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("TMUX")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .envs(env.iter().copied())
            .kill_on_drop(true);
        Self {
            terminal,
            child: command.spawn(screen).expect("starts"),
            shown: String::new(),
        }
    }

    /// Types keys.
    pub(crate) async fn types(&mut self, keys: &str) {
        let typed = self.terminal.write_all(keys.as_bytes()).await;
        typed.expect("the terminal is there");
    }

    /// Waits until the screen shows a text, and gives what it showed before it.
    pub(crate) async fn sees(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(text) {
                let rest = self.shown.split_off(at + text.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            let mut piece = [0; 4096];
            let read = timeout(PATIENCE, self.terminal.read(&mut piece)).await;
            match read {
                Ok(Ok(1..)) => {}
                ended => panic!("never shown: {text:?}; shown: {:?}; {ended:?}", self.shown),
            }
            let length = read.expect("in time").expect("readable");
            self.shown
                .push_str(&String::from_utf8_lossy(&piece[..length]));
        }
    }

    /// Waits until the program is gone.
    pub(crate) async fn leaves(mut self) -> ExitStatus {
        // Whatever is still written has to be read, or the program waits for ever.
        let mut rest = Vec::new();
        let read = self.terminal.read_to_end(&mut rest);
        // Linux says that the terminal is gone by an error.
        let _ = timeout(PATIENCE, read).await.expect("in time");
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("in time").expect("ended")
    }
}
