//! Runs of the program to its end.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// Maximum time of a wait in a test. A test then fails, so that it cannot hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A command line under construction.
pub(crate) struct Pintle {
    words: Vec<String>,
    input: String,
    directory: Option<PathBuf>,
    env: Vec<(String, String)>,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) notes: String,
}

/// Returns the command line of `pintle` with words that are separated by blanks.
pub(crate) fn pintle(line: &str) -> Pintle {
    Pintle {
        words: line.split_whitespace().map(str::to_owned).collect(),
        input: String::new(),
        directory: None,
        env: Vec::new(),
    }
}

impl Pintle {
    /// Adds a word, which may have blanks.
    pub(crate) fn word(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    /// Adds words that are separated by blanks.
    pub(crate) fn words(mut self, words: &str) -> Self {
        let words = words.split_whitespace().map(str::to_owned);
        self.words.extend(words);
        self
    }

    /// Sets the text of the program's standard input.
    pub(crate) fn input(mut self, input: &str) -> Self {
        input.clone_into(&mut self.input);
        self
    }

    /// Sets the working directory, which is also the home directory.
    pub(crate) fn at(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self.set("HOME", &directory.display().to_string())
    }

    /// Sets a variable of the environment.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs the program to its end.
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
            // An error means that the program has closed its input.
            let _ = stdin.write_all(input.as_bytes()).await;
        };
        let (output, ()) = tokio::join!(timeout(TEST_TIMEOUT, child.wait_with_output()), write);
        let output = output.expect("in time").expect("ends");
        Ended {
            code: output.status.code(),
            output: String::from_utf8(output.stdout).expect("text"),
            notes: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Runs the program, expects exit code 0, and returns its output.
    pub(crate) async fn prints(self) -> String {
        let words = self.words.join(" ");
        let ended = self.run().await;
        assert_eq!(ended.code, Some(0), "{words}: {ended:?}");
        ended.output
    }

    /// Runs the program, expects exit code 0, and parses its output as JSON.
    pub(crate) async fn json(self) -> Value {
        let text = self.prints().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Runs the program, expects this exit code, and returns its standard error.
    pub(crate) async fn fails(self, code: i32) -> String {
        let words = self.words.join(" ");
        let ended = self.run().await;
        assert_eq!(ended.code, Some(code), "{words}: {ended:?}");
        ended.notes
    }
}
