//! The server, and the options for it.

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
use crate::words;

/// Options of every command that connects to a server.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// The server (a URL, or @NAME), and the arguments of the command
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,

    /// A program to start as the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Print the result as JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,

    /// Least severe log level that the server sends, such as debug or warning
    #[arg(long, value_name = "LEVEL", value_parser = value::level, help_heading = "Conversation")]
    pub(crate) log: Option<LoggingLevel>,

    /// Root directory for a server that requests roots; the option can be repeated
    #[arg(
        long = "root",
        value_name = "DIRECTORY",
        help_heading = "Questions of the server"
    )]
    pub(crate) roots: Vec<PathBuf>,

    /// Answer to the next question: a JSON object, `accept`, `decline` or `cancel`
    #[arg(
        long = "answer",
        value_name = "ANSWER",
        help_heading = "Questions of the server"
    )]
    pub(crate) answers: Vec<ScriptedAnswer>,

    /// Start a process of @NAME also if hosts share one (`pintle serve --share`)
    #[arg(long, help_heading = "Server")]
    pub(crate) no_share: bool,

    /// Program that answers sampling requests: it reads the request and writes the message, both as JSON
    #[arg(long, value_name = "COMMAND", help_heading = "Questions of the server")]
    pub(crate) sample_with: Option<String>,
}

/// Options of the way to a server.
#[derive(Debug, clap::Args)]
pub(crate) struct ReachArgs {
    /// Look up @NAME in this file only
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub(crate) config: Option<PathBuf>,

    /// Use @NAME from the file of a project without a question for consent, in this run
    #[arg(long, help_heading = "Server")]
    pub(crate) trust: bool,

    /// Answer to a question of the file (`${input:ID}`)
    #[arg(long = "input", value_name = "ID=VALUE", value_parser = value::pair, help_heading = "Server")]
    pub(crate) inputs: Vec<(String, String)>,

    /// Header for every request to a URL
    #[arg(long = "header", value_name = "NAME:VALUE", value_parser = value::header, help_heading = "Server")]
    pub(crate) headers: Vec<(String, Secret)>,

    /// Variable for the environment of a program, which gets few others; NAME alone passes on its current value
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = value::variable, help_heading = "Server")]
    pub(crate) env: Vec<(String, String)>,

    /// Working directory of the program
    #[arg(long, value_name = "DIRECTORY", help_heading = "Server")]
    pub(crate) cwd: Option<PathBuf>,

    /// Kill the program and its descendants when they have more memory than this, such as 2GiB; on Linux only
    #[arg(long, value_name = "BYTES", value_parser = value::size, help_heading = "Server")]
    pub(crate) max_memory: Option<u64>,

    /// Use only this revision of the protocol, such as 2025-11-25
    #[arg(long, value_name = "DATE", value_parser = value::revision, help_heading = "Conversation")]
    pub(crate) revision: Option<Revision>,

    /// Longest wait for the connection, and for progress or the result of each call, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = value::duration, help_heading = "Conversation")]
    pub(crate) timeout: Option<Duration>,

    /// Write every message of the conversation to this file, one line of JSON each
    #[arg(long, value_name = "FILE", help_heading = "Conversation")]
    pub(crate) trace: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) access: AccessArgs,
}

/// A server of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerSpec {
    /// By its name in the file of a host.
    Named(String),
    /// By its address.
    Url(String),
    /// By the program to start.
    Program(Vec<String>),
}

/// The options for a server and its conversation.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) config: Option<PathBuf>,
    /// Whether a server in the file of a project needs no consent.
    pub(crate) is_trusted: bool,
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) max_memory: Option<u64>,
    pub(crate) revision: Option<Revision>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) log: Option<LoggingLevel>,
    /// Whether the standard error of a started server is shown.
    pub(crate) shows_stderr: bool,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) answers: Vec<ScriptedAnswer>,
    pub(crate) sample_with: Option<String>,
    /// Whether a shared process of the server is not used.
    pub(crate) no_share: bool,
    /// The authorization options.
    pub(crate) access: AccessSettings,
}

impl Settings {
    /// Splits the arguments into the words, the program behind `--`, the format and the settings.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for an option that names a variable without a usable value.
    pub(crate) fn take(
        args: ServerArgs,
    ) -> Result<(Vec<String>, Vec<String>, Format, Self), UsageError> {
        let settings = Self {
            log: args.log,
            roots: args.roots,
            answers: args.answers,
            sample_with: args.sample_with,
            no_share: args.no_share,
            ..Self::reaching(args.reach)?
        };
        Ok((args.words, args.command, Format::from(args.json), settings))
    }

    /// Returns the settings of the way to a server.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for an option that names a variable without a usable value.
    pub(crate) fn reaching(args: ReachArgs) -> Result<Self, UsageError> {
        Ok(Self {
            config: args.config,
            is_trusted: args.trust,
            inputs: args.inputs,
            headers: args.headers,
            env: args.env,
            cwd: args.cwd,
            max_memory: args.max_memory,
            revision: args.revision,
            timeout: args.timeout,
            trace: args.trace,
            access: AccessSettings::read(args.access, &|name| env::var(name).ok())?,
            ..Self::default()
        })
    }

    /// Whether a shared process cannot fulfil the settings: it asks no questions, and its conversation with the server
    /// has begun.
    pub(crate) fn needs_own_process(&self) -> bool {
        let asks = !self.roots.is_empty() || !self.answers.is_empty() || self.sample_with.is_some();
        let begins = self.revision.is_some() || self.trace.is_some() || self.log.is_some();
        self.no_share || asks || begins || self.max_memory.is_some()
    }

    /// Returns the first given option that is for one server only.
    pub(crate) fn first_of_server(&self) -> Option<&'static str> {
        self.given_reaching()
            .find(|option| !["--config", "--timeout"].contains(option))
    }

    /// Returns the first given option of the way to a server.
    pub(crate) fn first_reaching(&self) -> Option<&'static str> {
        self.given_reaching().next()
    }

    fn given_reaching(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--config", self.config.is_some()),
            ("--trust", self.is_trusted),
            ("--input", !self.inputs.is_empty()),
            ("--header", !self.headers.is_empty()),
            ("--env", !self.env.is_empty()),
            ("--cwd", self.cwd.is_some()),
            ("--max-memory", self.max_memory.is_some()),
            ("--revision", self.revision.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--trace", self.trace.is_some()),
            ("an authorization option", !self.access.is_empty()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(name, _)| name)
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

/// Reads a server that stands in one word: a URL, `@NAME`, or a command line.
///
/// # Errors
///
/// A text for the user about the expected form.
pub(crate) fn rival(text: &str) -> Result<ServerSpec, String> {
    if text.starts_with('@') || text.contains("://") {
        return ServerSpec::first_of(&mut vec![text.to_owned()]).map_err(|error| error.0);
    }
    match words::split(text) {
        Some(words) if !words.is_empty() => Ok(ServerSpec::Program(words)),
        Some(_) => Err("expected a URL, @NAME, or a command line".to_owned()),
        None => Err("a quote is not closed".to_owned()),
    }
}

fn no_server(word: &str) -> String {
    let hint = match word.contains([':', '/']) {
        true => format!("http://{word}"),
        false => format!("@{word}"),
    };
    format!("`{word}` is not a server: a URL has a scheme, a name has an @; did you mean {hint}?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_in_one_word_has_three_forms() {
        let program = |words: &[&str]| {
            ServerSpec::Program(words.iter().map(|word| (*word).to_owned()).collect())
        };
        for (text, server) in [
            ("@cursor/a", ServerSpec::Named("cursor/a".to_owned())),
            (
                "https://a.example/mcp",
                ServerSpec::Url("https://a.example/mcp".to_owned()),
            ),
            (
                "node 'my server.js' -v",
                program(&["node", "my server.js", "-v"]),
            ),
        ] {
            assert_eq!(rival(text), Ok(server), "{text}");
        }
        for text in ["", " ", "@", "node 'x"] {
            assert!(rival(text).is_err(), "{text}");
        }
    }
}
