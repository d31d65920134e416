//! What was meant by what was typed.

pub(crate) mod access;
mod talk;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap_complete::Shell;

use crate::args::{Args, AuthCommand, Command, ListArgs, ServeArgs};
use crate::exit::{CliError, Exit};

pub(crate) use access::{Ask, AskFor};
pub(crate) use talk::{
    AsTask, Bench, Call, Completion, Reading, Settings, Talk, TaskWish, Until, Wanted, Wish,
};

/// Everything a run needs to know.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What to do.
    pub(crate) task: Task,
    /// How much to say about it.
    pub(crate) chatter: Verbosity,
}

/// What to do.
#[derive(Debug)]
pub(crate) enum Task {
    /// List the servers that hosts know.
    Hosts(Hosts),
    /// Talk to a server.
    Talk(Box<Talk>),
    /// Sign in, sign out, or say who is signed in.
    Access(Box<Ask>),
    /// Serve the showcase.
    Serve(Serving),
    /// Print a script for a shell.
    Completions(Shell),
    /// Print the manual.
    Man,
}

/// Whose servers are listed, and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hosts {
    /// The file to read; those of all hosts, when missing.
    pub(crate) config: Option<PathBuf>,
    /// For whom.
    pub(crate) format: Format,
}

/// For whom results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// How the showcase is served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Serving {
    /// Where.
    pub(crate) transport: Transport,
    /// How many entries a page of a list has, if not as many as usual.
    pub(crate) page_size: Option<NonZeroUsize>,
}

/// Where the showcase is served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// On standard input and output.
    Stdio,
    /// Over HTTP.
    Http {
        /// Where to listen.
        address: SocketAddr,
        /// Who may come.
        exposure: Exposure,
    },
}

/// Who may come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Only this machine, unasked; another address is refused.
    Loopback,
    /// Whoever reaches the address, unasked.
    Anybody,
    /// Whoever reaches the address and has a token.
    Holders(BearerPolicy),
}

/// Whose tokens let somebody in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BearerPolicy {
    /// Who signed them.
    pub(crate) issuer: String,
    /// What they are for.
    pub(crate) audience: String,
    /// What they have to be good for.
    pub(crate) scopes: Vec<String>,
}

/// How much is said on standard error about what goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// What somebody should look at.
    Warnings,
    /// Every call.
    Calls,
    /// Everything.
    Everything,
}

/// Words that are no command together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

impl From<UsageError> for CliError {
    fn from(error: UsageError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl Plan {
    /// For whom results, and failures, are printed.
    pub(crate) fn format(&self) -> Format {
        match &self.task {
            Task::Hosts(hosts) => hosts.format,
            Task::Talk(talk) => talk.format,
            Task::Access(ask) => ask.format,
            Task::Serve(_) | Task::Completions(_) | Task::Man => Format::Text,
        }
    }

    /// Whether there is work for several threads.
    pub(crate) fn needs_threads(&self) -> bool {
        match &self.task {
            Task::Serve(_) => true,
            Task::Talk(talk) => matches!(talk.wish, Wish::Bench(_)),
            Task::Hosts(_) | Task::Access(_) | Task::Completions(_) | Task::Man => false,
        }
    }
}

impl TryFrom<Args> for Plan {
    type Error = UsageError;

    fn try_from(args: Args) -> Result<Self, UsageError> {
        let chatter = Verbosity::from(args.verbose);
        let mut task = args.command.try_into()?;
        if let Task::Talk(talk) = &mut task {
            talk.settings.shows_stderr = chatter != Verbosity::Warnings;
        }
        Ok(Self { task, chatter })
    }
}

impl TryFrom<Command> for Task {
    type Error = UsageError;

    fn try_from(command: Command) -> Result<Self, UsageError> {
        Ok(match command {
            Command::List(list) if names_no_server(&list) => Self::Hosts(Hosts {
                format: Format::from(list.server.json),
                config: list.server.config,
            }),
            Command::Login(args) => Self::Access(Box::new(Ask::login(args.server)?)),
            Command::Logout(args) => Self::Access(Box::new(Ask::logout(args.server)?)),
            Command::Auth {
                command: AuthCommand::Status(args),
            } => Self::Access(Box::new(Ask::status(args.server)?)),
            Command::Serve(serve) => Self::Serve(serve.into()),
            Command::Completions { shell } => Self::Completions(shell),
            Command::Man => Self::Man,
            talk => Self::Talk(Box::new(talk.try_into()?)),
        })
    }
}

fn names_no_server(list: &ListArgs) -> bool {
    list.server.command.is_empty() && list.server.words == ["@"]
}

impl From<bool> for Format {
    fn from(is_json: bool) -> Self {
        match is_json {
            true => Self::Json,
            false => Self::Text,
        }
    }
}

impl From<ServeArgs> for Serving {
    fn from(args: ServeArgs) -> Self {
        Self {
            page_size: args.page_size,
            transport: args.into(),
        }
    }
}

impl From<ServeArgs> for Transport {
    fn from(args: ServeArgs) -> Self {
        if args.stdio {
            return Self::Stdio;
        }
        let exposure = match (args.auth_issuer, args.audience) {
            (Some(issuer), Some(audience)) => Exposure::Holders(BearerPolicy {
                issuer,
                audience,
                scopes: args.require_scope,
            }),
            _ if args.allow_insecure_bind => Exposure::Anybody,
            _ => Exposure::Loopback,
        };
        Self::Http {
            address: args.http,
            exposure,
        }
    }
}

impl From<u8> for Verbosity {
    fn from(times: u8) -> Self {
        match times {
            0 => Self::Warnings,
            1 => Self::Calls,
            _ => Self::Everything,
        }
    }
}

#[cfg(test)]
mod tests;
