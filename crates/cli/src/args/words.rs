//! The words behind the server, as each command reads them.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum as _;
use pintle_hosts::suggestion;

use super::Kind;
use crate::exit::{CliError, Exit};

/// The words of a command line do not form a valid command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl From<UsageError> for CliError {
    fn from(error: UsageError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

/// A tool or a prompt, and its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) words: Vec<String>,
    pub(crate) save: Option<PathBuf>,
    /// Whether arguments and results skip the checks against the schemas.
    pub(crate) is_unchecked: bool,
    /// The options of the task, if the call runs as a task.
    pub(crate) task: Option<CallTaskOptions>,
}

/// Options of a call that runs as a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallTaskOptions {
    /// Whether the command ends without the result.
    pub(crate) is_detached: bool,
    /// The time to live that the command requests.
    pub(crate) keep: Option<Duration>,
}

/// An argument to complete.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The prompt, or the template of resources.
    pub(crate) of: String,
    pub(crate) argument: String,
    pub(crate) prefix: String,
    /// Arguments that have a value already.
    pub(crate) others: Vec<(String, String)>,
}

/// A command for tasks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TaskAction {
    /// List all tasks.
    List,
    /// Show the state of a task.
    Get(String),
    /// Print the result of a task, if the task has ended.
    Result(String, Option<PathBuf>),
    /// Await the end of a task, and print its result.
    Wait(String, Option<PathBuf>),
    /// Cancel a task.
    Cancel(String),
}

impl TaskAction {
    /// Checks that no command for tasks stands before the server.
    ///
    /// # Errors
    ///
    /// The first word is a command for tasks; the error shows the words in order.
    pub(crate) fn check_order(words: &[String]) -> Result<(), UsageError> {
        let Some((first, rest)) = words.split_first() else {
            return Ok(());
        };
        if !["list", "get", "wait", "result", "cancel"].contains(&first.as_str()) {
            return Ok(());
        }
        let is_server = |word: &&String| word.starts_with('@') || word.contains("://");
        let server = rest.iter().find(is_server);
        let id = rest.iter().find(|word| !is_server(word));
        let id = match first.as_str() {
            "list" => String::new(),
            _ => format!(" {}", id.map_or("ID", String::as_str)),
        };
        let server = server.map_or("SERVER", String::as_str);
        Err(UsageError(format!(
            "the server stands before `{first}`: pintle tasks {server} {first}{id}"
        )))
    }
}

/// The words behind the server.
pub(crate) struct Words(pub(crate) Vec<String>);

impl Words {
    pub(crate) fn none<T>(self, value: T) -> Result<T, UsageError> {
        match self.0.first() {
            None => Ok(value),
            Some(word) => Err(UsageError(format!("unexpected argument `{word}`"))),
        }
    }

    pub(crate) fn all(self, question: &str) -> Result<Vec<String>, UsageError> {
        match self.0.is_empty() {
            true => Err(UsageError(question.to_owned())),
            false => Ok(self.0),
        }
    }

    pub(crate) fn call(
        mut self,
        question: &str,
        save: Option<PathBuf>,
    ) -> Result<Call, UsageError> {
        if self.0.is_empty() {
            return Err(UsageError(question.to_owned()));
        }
        Ok(Call {
            tool: self.0.remove(0),
            words: self.0,
            save,
            is_unchecked: false,
            task: None,
        })
    }

    pub(crate) fn kinds(self) -> Result<Vec<Kind>, UsageError> {
        let kinds = self.0.iter().map(|word| {
            Kind::from_str(word, true).map_err(|_| {
                let kinds = ["tools", "resources", "templates", "prompts"];
                let near = suggestion(word, kinds);
                let kinds = kinds.join(", ");
                UsageError(format!(
                    "`{word}` is not a kind of list{near}; the kinds are {kinds}"
                ))
            })
        });
        kinds.collect()
    }

    pub(crate) fn completion(self) -> Result<Completion, UsageError> {
        let expected = "expected a prompt or a template, then KEY=PREFIX, then the arguments that have a value";
        let wrong = || UsageError(expected.to_owned());
        let mut words = self.0.into_iter();
        let of = words.next().ok_or_else(wrong)?;
        let pairs = words.map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let mut pairs: Vec<_> = pairs.collect::<Option<_>>().ok_or_else(wrong)?;
        if pairs.is_empty() {
            return Err(wrong());
        }
        let (argument, prefix) = pairs.remove(0);
        Ok(Completion {
            of,
            argument,
            prefix,
            others: pairs,
        })
    }

    pub(crate) fn tasks(self, save: Option<PathBuf>) -> Result<TaskAction, UsageError> {
        let words: Vec<&str> = self.0.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] | ["list"] => Ok(TaskAction::List),
            ["get", id] => Ok(TaskAction::Get((*id).to_owned())),
            ["result", id] => Ok(TaskAction::Result((*id).to_owned(), save)),
            ["wait", id] => Ok(TaskAction::Wait((*id).to_owned(), save)),
            ["cancel", id] => Ok(TaskAction::Cancel((*id).to_owned())),
            ["get" | "wait" | "result" | "cancel"] => Err(UsageError("which task?".to_owned())),
            [word, ..] => Err(UsageError(format!(
                "`{word}` is not a command for tasks; the commands are list, get ID, wait ID, result ID, cancel ID"
            ))),
        }
    }
}
