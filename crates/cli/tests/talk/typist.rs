//! A user at a terminal.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use pty_process::{Command, Pty, Size, open};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::time::timeout;

/// Maximum time of a wait in a test. A test then fails, so that it cannot hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A program at a terminal of its own, with the user who types there.
pub(crate) struct Typist {
    terminal: Pty,
    child: Child,
    /// Text on the screen that the test has not read yet.
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

    /// Starts the program with words and variables, in a directory.
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

    /// Writes keys to the terminal.
    pub(crate) async fn types(&mut self, keys: &str) {
        let typed = self.terminal.write_all(keys.as_bytes()).await;
        typed.expect("the terminal is there");
    }

    /// Waits until the screen shows a text, and returns the text before it.
    pub(crate) async fn sees(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(text) {
                let rest = self.shown.split_off(at + text.len());
                return std::mem::replace(&mut self.shown, rest);
            }
            let mut piece = [0; 4096];
            let read = timeout(TEST_TIMEOUT, self.terminal.read(&mut piece)).await;
            match read {
                Ok(Ok(1..)) => {}
                ended => panic!("never shown: {text:?}; shown: {:?}; {ended:?}", self.shown),
            }
            let length = read.expect("in time").expect("readable");
            self.shown
                .push_str(&String::from_utf8_lossy(&piece[..length]));
        }
    }

    /// Waits for the end of the program.
    pub(crate) async fn leaves(mut self) -> ExitStatus {
        // The rest of the output must be read, because the program waits while the terminal is
        // full.
        let mut rest = Vec::new();
        let read = self.terminal.read_to_end(&mut rest);
        // On Linux, reading a closed terminal is an error.
        let _ = timeout(TEST_TIMEOUT, read).await.expect("in time");
        let ended = timeout(TEST_TIMEOUT, self.child.wait()).await;
        ended.expect("in time").expect("ended")
    }
}
