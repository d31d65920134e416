//! Which server, and how it is talked to.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use pintle::auth::Secret;
use pintle::model::{LoggingLevel, Revision};

use super::access::{AccessArgs, AccessSettings};
use super::output::Format;
use super::value;
use super::words::UsageError;
use crate::ask::ScriptedAnswer;

/// A server and what to ask of it: in every command that talks to one.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// The server (a URL, or @NAME), and what the command needs to know
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// A program to start as the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Print JSON: the same, for programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Look @NAME up in this file, and in no other
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub(crate) config: Option<PathBuf>,

    /// Use @NAME without asking for consent, for this run, although a project's file describes it
    #[arg(long, help_heading = "Server")]
    pub(crate) trust: bool,

    /// The answer to a question that the file asks (`${input:ID}`)
    #[arg(long = "input", value_name = "ID=VALUE", value_parser = value::pair, help_heading = "Server")]
    pub(crate) inputs: Vec<(String, String)>,

    /// A header for every request to a URL
    #[arg(long = "header", value_name = "NAME:VALUE", value_parser = value::header, help_heading = "Server")]
    pub(crate) headers: Vec<(String, Secret)>,

    /// A variable for the environment of a program, which gets few others; NAME passes ours on
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = value::variable, help_heading = "Server")]
    pub(crate) env: Vec<(String, String)>,

    /// The directory to start a program in
    #[arg(long, value_name = "DIRECTORY", help_heading = "Server")]
    pub(crate) cwd: Option<PathBuf>,

    /// Speak this revision of the protocol and no other, such as 2025-11-25
    #[arg(long, value_name = "DATE", value_parser = value::revision, help_heading = "Conversation")]
    pub(crate) revision: Option<Revision>,

    /// Longest wait for the server to begin, and for each call without a sign of it, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = value::duration, help_heading = "Conversation")]
    pub(crate) timeout: Option<Duration>,

    /// Write every message of the conversation into this file, a line of JSON for each
    #[arg(long, value_name = "FILE", help_heading = "Conversation")]
    pub(crate) trace: Option<PathBuf>,

    /// Let the server send log messages from this level on, such as debug or warning
    #[arg(long, value_name = "LEVEL", value_parser = value::level, help_heading = "Conversation")]
    pub(crate) log: Option<LoggingLevel>,

    /// Tell the server of this directory, if it asks for roots
    #[arg(
        long = "root",
        value_name = "DIRECTORY",
        help_heading = "Questions of the server"
    )]
    pub(crate) roots: Vec<PathBuf>,

    /// The answer to the next question: a JSON object, `accept`, `decline` or `cancel`
    #[arg(
        long = "answer",
        value_name = "ANSWER",
        help_heading = "Questions of the server"
    )]
    pub(crate) answers: Vec<ScriptedAnswer>,

    /// Let a model be asked: this program gets the request as JSON, and gives the message as JSON
    #[arg(long, value_name = "COMMAND", help_heading = "Questions of the server")]
    pub(crate) sample_with: Option<String>,

    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

/// A server, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerSpec {
    /// By its name in the file of a host.
    Named(String),
    /// By its address.
    Url(String),
    /// By the program to start.
    Program(Vec<String>),
}

/// How a server is reached and talked to.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) config: Option<PathBuf>,
    /// Whether a server that a project's file describes needs no consent.
    pub(crate) is_trusted: bool,
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) revision: Option<Revision>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) log: Option<LoggingLevel>,
    /// Whether what a started server writes on its standard error is shown.
    pub(crate) shows_stderr: bool,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) answers: Vec<ScriptedAnswer>,
    pub(crate) sample_with: Option<String>,
    /// Who asks.
    pub(crate) access: AccessSettings,
}

impl Settings {
    /// Takes apart what was typed: the words, the program behind `--`, and the rest.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for what names something that is not there.
    pub(crate) fn take(
        args: ServerArgs,
    ) -> Result<(Vec<String>, Vec<String>, Format, Self), UsageError> {
        let settings = Self {
            config: args.config,
            is_trusted: args.trust,
            inputs: args.inputs,
            headers: args.headers,
            env: args.env,
            cwd: args.cwd,
            revision: args.revision,
            timeout: args.timeout,
            trace: args.trace,
            log: args.log,
            shows_stderr: false,
            roots: args.roots,
            answers: args.answers,
            sample_with: args.sample_with,
            access: AccessSettings::read(args.access, &|name| env::var(name).ok())?,
        };
        Ok((args.words, args.command, Format::from(args.json), settings))
    }
}

impl ServerSpec {
    pub(crate) fn first_of(words: &mut Vec<String>) -> Result<Self, UsageError> {
        let missing = "which server? A URL, @NAME (`pintle list @` shows them), or -- COMMAND";
        if words.is_empty() {
            return Err(UsageError(missing.to_owned()));
        }
        let first = words.remove(0);
        match first.strip_prefix('@') {
            Some("") => Err(UsageError(missing.to_owned())),
            Some(name) => Ok(Self::Named(name.to_owned())),
            None if first.contains("://") => Ok(Self::Url(first)),
            None => Err(UsageError(no_server(&first))),
        }
    }
}

fn no_server(word: &str) -> String {
    let hint = match word.contains([':', '/']) {
        true => format!("http://{word}"),
        false => format!("@{word}"),
    };
    format!("`{word}` is no server: a URL has a scheme, a name has an @; did you mean {hint}?")
}
