//! Which server, and how it is talked to.

use std::path::PathBuf;
use std::time::Duration;

use pintle::auth::Secret;
use pintle::model::{LoggingLevel, Revision};

use super::{AccessArgs, value};
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
