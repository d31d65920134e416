//! The words behind the server, as each command reads them.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum as _;
use pintle_hosts::suggestion;

use super::Kind;
use crate::exit::{CliError, Exit};

/// Words that are no command together.
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
    /// Whether arguments are sent that do not fit, and results are taken that do not.
    pub(crate) is_unchecked: bool,
    /// The task that it is to be, if it is to be one.
    pub(crate) task: Option<AsTask>,
}

/// A task that a call is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AsTask {
    /// Whether nobody waits for it.
    pub(crate) is_detached: bool,
    /// How long it is to be kept.
    pub(crate) keep: Option<Duration>,
}

/// An argument to complete.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The prompt, or the template of resources.
    pub(crate) of: String,
    pub(crate) argument: String,
    pub(crate) prefix: String,
    /// Arguments that are known already.
    pub(crate) others: Vec<(String, String)>,
}

/// What is wanted of tasks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TaskAction {
    /// All of them.
    List,
    /// How far one is.
    Get(String),
    /// What came of one, if it is done.
    Result(String, Option<PathBuf>),
    /// What comes of one, when it is done.
    Wait(String, Option<PathBuf>),
    /// That one ends.
    Cancel(String),
}

/// The words behind the server.
pub(crate) struct Words(pub(crate) Vec<String>);

impl Words {
    pub(crate) fn none<T>(self, value: T) -> Result<T, UsageError> {
        match self.0.first() {
            None => Ok(value),
            Some(word) => Err(UsageError(format!("`{word}` is one word too many"))),
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
                let known = ["tools", "resources", "templates", "prompts"];
                let near = suggestion(word, known);
                let known = known.join(", ");
                UsageError(format!(
                    "`{word}` is nothing to list{near}; there are {known}"
                ))
            })
        });
        kinds.collect()
    }

    pub(crate) fn completion(self) -> Result<Completion, UsageError> {
        let expected =
            "expected a prompt or a template, then KEY=PREFIX, then what is known already";
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
                "`{word}` is nothing to do with tasks; there are list, get ID, wait ID, result ID, cancel ID"
            ))),
        }
    }
}
