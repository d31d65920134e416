//! The program, run to its end.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// How long anything may take, before a test fails rather than hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command line under construction.
pub(crate) struct Pintle {
    words: Vec<String>,
    input: String,
    directory: Option<PathBuf>,
    env: Vec<(String, String)>,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) notes: String,
}

/// `pintle` with words that are separated by blanks.
pub(crate) fn pintle(line: &str) -> Pintle {
    Pintle {
        words: line.split_whitespace().map(str::to_owned).collect(),
        input: String::new(),
        directory: None,
        env: Vec::new(),
    }
}

impl Pintle {
    /// Adds a word that may have blanks.
    pub(crate) fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    /// Writes to its standard input.
    pub(crate) fn input(mut self, input: &str) -> Self {
        input.clone_into(&mut self.input);
        self
    }

    /// Runs it in a directory, which is also the user's own.
    pub(crate) fn at(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self.set("HOME", &directory.display().to_string())
    }

    /// Sets a variable.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs it to its end.
    pub(crate) async fn run(self) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
        command.args(&self.words).kill_on_drop(true).envs(self.env);
        command
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME");
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        let input = self.input;
        let write = async move {
            // A program that has heard enough closes its input.
            let _ = stdin.write_all(input.as_bytes()).await;
        };
        let (output, ()) = tokio::join!(timeout(PATIENCE, child.wait_with_output()), write);
        let output = output.expect("in time").expect("ends");
        Ended {
            code: output.status.code(),
            output: String::from_utf8(output.stdout).expect("text"),
            notes: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Runs it to a good end, and gives what it printed.
    pub(crate) async fn prints(self) -> String {
        let words = self.words.join(" ");
        let ended = self.run().await;
        assert_eq!(ended.code, Some(0), "{words}: {ended:?}");
        ended.output
    }

    /// Runs it to a good end, and reads what it printed.
    pub(crate) async fn gives(self) -> Value {
        let text = self.prints().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Runs it to a bad end, and gives what it said.
    pub(crate) async fn fails(self, code: i32) -> String {
        let words = self.words.join(" ");
        let ended = self.run().await;
        assert_eq!(ended.code, Some(code), "{words}: {ended:?}");
        ended.notes
    }
}
