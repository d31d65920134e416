//! What a diagnosis knows of a server: plain data, without a judgement.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pintle_hosts::HostRules;

use crate::auth::Link;

/// The facts about a server in the file of a host.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The place of the definition.
    pub place: Place,
    /// The definition of the server.
    pub definition: Definition,
    /// The result of using the server.
    pub state: State,
}

/// The place of a definition, and the host that reads it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The address of the server, such as `@cursor/files`.
    pub address: String,
    /// The name of the server.
    pub server: String,
    /// The name of the host.
    pub host: &'static str,
    /// The rules of the host.
    pub rules: HostRules,
    /// The file with the definition.
    pub file: PathBuf,
    /// The line on which the server begins; from 1.
    pub line: usize,
    /// The lines of its members.
    pub lines: BTreeMap<String, usize>,
}

/// The parts of a definition that its rules need.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    /// The reason why the definition cannot be used, with the line.
    pub fault: Option<(usize, String)>,
    /// The value of `type`.
    pub declared: Option<String>,
    /// The member with the program.
    pub command_key: Option<String>,
    /// The member with the URL.
    pub url_key: Option<String>,
    /// The URL as the file has it, without its query.
    pub url: Option<String>,
    /// A text in the form of a variable that the host does not expand, with the key of its member.
    pub unknown_variable: Option<(String, String)>,
    /// Whether the same name has another definition in another file of the same host, with that file and its line.
    pub other: Option<(PathBuf, usize)>,
}

/// The result of using a server.
#[derive(Debug, Clone)]
pub enum State {
    /// The host does not use the server.
    Disabled,
    /// The user has not agreed to use it.
    NoConsent,
    /// The definition cannot be used.
    Invalid,
    /// A variable, a file or an answer is missing.
    Unexpanded(UnexpandedFacts),
    /// The server is a program.
    Program(Box<ProgramFacts>),
    /// The server is at a URL.
    Endpoint(Box<EndpointFacts>),
}

/// A value that is missing.
#[derive(Debug, Clone)]
pub struct UnexpandedFacts {
    /// The line that needs the value.
    pub line: usize,
    /// The missing value and the reason.
    pub reason: String,
}

/// The facts about a program.
#[derive(Debug, Clone)]
pub struct ProgramFacts {
    /// The program as the definition names it.
    pub command: String,
    /// The result of the search for the program.
    pub lookup: Lookup,
    /// The working directory.
    pub directory: PathBuf,
    /// Whether the working directory exists.
    pub has_directory: bool,
    /// The first argument that looks like a file and is not in the working directory.
    pub missing_file: Option<MissingFile>,
    /// The run of the program, if it could be started.
    pub run: Option<RunFacts>,
}

/// The result of the search for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The path of the program.
    Found(PathBuf),
    /// The program is in a directory that the host does not search.
    OffPath {
        /// The path of the program.
        found: PathBuf,
        /// Whether the directories are those of a desktop, which may differ on this machine.
        is_assumed: bool,
    },
    /// The file must not be executed.
    NotExecutable(PathBuf),
    /// A relative path is not in the working directory, but in another one.
    WrongDirectory(PathBuf),
    /// The program is not found.
    Missing,
}

/// An argument that looks like a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile {
    /// The text of the argument.
    pub argument: String,
    /// The file in another directory, if it is there.
    pub elsewhere: Option<PathBuf>,
}

/// The run of a program.
#[derive(Debug, Clone)]
pub struct RunFacts {
    /// The time that the server had to start.
    pub start_timeout: Duration,
    /// The first lines of standard output that are not messages, cut off.
    pub strays: Vec<String>,
    /// The number of such lines.
    pub stray_count: usize,
    /// The conversation, or the reason of its failure.
    pub conversation: Result<Conversation, Failure>,
    /// The end of standard error, without secrets.
    pub stderr: String,
    /// The exit status, if the program ended on its own before its input did.
    pub crash: Option<String>,
    /// The end of the program after its input.
    pub ending: Ending,
}

/// The end of a program after the end of its input.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// Whether the program did not exit in time.
    pub stays: bool,
    /// Processes that continued after the exit of the program.
    pub left: Vec<LeftProcess>,
}

/// A process that a server left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftProcess {
    /// The id of the process.
    pub id: u32,
    /// Its program, without arguments.
    pub program: String,
}

/// A conversation that was opened.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The revision of the conversation.
    pub revision: String,
    /// Whether the revision opens with a handshake.
    pub is_legacy: bool,
    /// Whether the revision has none of the features of the last revisions.
    pub is_outdated: bool,
    /// The name and the version of the server.
    pub server: Option<String>,
    /// The time until the conversation was open.
    pub opened_in: Duration,
    /// The lists that the server announces.
    pub lists: Vec<ListFacts>,
    /// Faults of tools.
    pub tools: Vec<ToolFinding>,
}

/// A list of a server.
#[derive(Debug, Clone)]
pub struct ListFacts {
    /// The method of the list.
    pub method: &'static str,
    /// The number of items, or the error.
    pub result: Result<usize, String>,
    /// Items that no client can use, each with its reason.
    pub invalid: Vec<String>,
}

/// A fault of a tool, of the rules for tools.
#[derive(Debug, Clone)]
pub struct ToolFinding {
    /// Whether the host rejects the tool.
    pub is_error: bool,
    /// The name of the tool.
    pub tool: String,
    /// The broken rule and the place.
    pub text: String,
    /// The change of the tool that ends the fault.
    pub fix: &'static str,
}

/// The reason why there is no conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server did not answer.
    TimedOut,
    /// The server ended, or closed its output.
    Ended,
    /// There is no common revision.
    NoCommonRevision(String),
    /// The server requires authorization, or refuses it: 401 or 403.
    Unauthorized(u16),
    /// Another reason, as a text.
    Other(String),
}

/// The facts about a server at a URL.
#[derive(Debug, Clone)]
pub struct EndpointFacts {
    /// The URL without its query.
    pub url: String,
    /// The result of the first request, which has no token.
    pub contact: Contact,
    /// The URL of a redirect, without its query.
    pub redirect: Option<String>,
    /// Another URL of the same server that answers as MCP.
    pub better_url: Option<String>,
    /// The variable that names a proxy for this URL.
    pub proxy: Option<&'static str>,
    /// The steps of the authorization, if the server requires one.
    pub chain: Vec<Link>,
    /// The token that was sent.
    pub token: Option<TokenFacts>,
    /// The conversation, if it was attempted.
    pub conversation: Option<Result<Conversation, Failure>>,
}

/// The token of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenFacts {
    /// Whether the definition has the token. Otherwise it comes from a sign-in.
    pub is_written: bool,
    /// Whether a conversation of the tool renews it.
    pub is_renewable: bool,
    /// Time since the token expired, if it did and if its expiry is known.
    pub expired_for: Option<Duration>,
}

/// The result of the first request to a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contact {
    /// An HTTP response with this status.
    Status(u16),
    /// The URL is not valid.
    UnusableUrl(String),
    /// No program accepts connections.
    Refused,
    /// The host name has no address.
    NoAddress(String),
    /// The certificate is not accepted, or the port does not speak TLS.
    Tls(String),
    /// The proxy does not connect to the server.
    Proxy(String),
    /// There was no response in time.
    TimedOut,
    /// The connection broke.
    Broken(String),
}
