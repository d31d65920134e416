//! Each command is an [`Action`] and has a file. [`run`] does the action of an [`Invocation`].

mod access;
mod attempt;
mod bench;
mod call;
mod check;
mod complete;
mod diff;
mod doctor;
mod hosts;
mod inspect;
mod install;
mod lint;
mod list;
mod listen;
mod lock;
mod manual;
mod older_revision;
mod pack;
mod parse;
mod ping;
mod print;
mod prompt;
mod read;
mod replay;
mod serve;
mod shell;
mod tap;
mod tasks;
#[cfg(test)]
mod tests;
mod tokens;
mod web;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::Shell;

use crate::args::{
    Call, Completion, DoctorArgs, Format, Kind, MockArgs, ReplayArgs, ServerSpec, Settings,
    SurfaceSource, TapArgs, TaskAction, UsageError, Verbosity,
};
use crate::conversation::{Conversation, ConversationOptions};
use crate::exit::{CliError, Exit};
use pintle_hosts::without_query;

use check::Checking;
use diff::{Diff, SurfaceSlot};
use install::{Install, Uninstall};
use lint::Lint;
use pack::Pack;

use attempt::{converse, or_interrupted};
use bench::Bench;
use read::Reading;
use serve::Serve;
use web::Page;

/// One run of the tool: an action, and everything that the action needs.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// The command.
    pub(crate) action: Action,
    /// The server that was typed. Every action in a conversation has one.
    pub(crate) server: Option<ServerSpec>,
    /// Options for the server and the conversation.
    pub(crate) settings: Settings,
    /// The form of results and errors.
    pub(crate) format: Format,
    /// The amount of logs on standard error.
    pub(crate) verbosity: Verbosity,
}

/// A command with its arguments.
#[derive(Debug)]
pub(crate) enum Action {
    /// List the servers in the files of hosts.
    Hosts,
    /// List these kinds; every kind that the server offers, if there are none.
    List(Vec<Kind>),
    /// Call a tool.
    Call(Call),
    /// Read resources.
    Read(Reading),
    /// Get a prompt.
    Prompt(Call),
    /// Complete an argument.
    Complete(Completion),
    /// Print changes.
    Listen {
        /// The resources to subscribe to; without one, changes of lists are printed.
        uris: Vec<String>,
        /// Ends the command after this number of changes.
        count: Option<NonZeroUsize>,
    },
    /// Ping this many times.
    Ping(NonZeroU32),
    /// Show the server and everything it offers.
    Inspect,
    /// List, poll, await or cancel tasks.
    Tasks(TaskAction),
    /// Read commands line by line.
    Shell,
    /// Measure the latency of a tool.
    Bench(Bench),
    /// Sign in to the server.
    Login,
    /// Remove the stored credentials of the server.
    Logout,
    /// Show the sign-in to the server, or to all servers if none was typed.
    Status,
    /// Add a server to the file of a host.
    Install(Box<Install>),
    /// Remove a server from the file of a host.
    Uninstall(Uninstall),
    /// Create the packages of the server.
    Pack(Box<Pack>),
    /// Write the lock file of the server.
    Lock(PathBuf),
    /// Read the surface of the server.
    ReadSurface(SurfaceSlot),
    /// Compare two surfaces.
    Diff(Diff),
    /// Judge a server by the protocol.
    Check(Box<Checking>),
    /// Check tools against the limits of hosts.
    Lint(Lint),
    /// Examine the servers of hosts.
    Doctor(DoctorArgs),
    /// Estimate the tokens of tools.
    Tokens(SurfaceSource),
    /// Serve a server, or the showcase.
    Serve(Box<Serve>),
    /// Show the messages between a host and a server.
    Tap(TapArgs),
    /// Serve the page.
    Web(Page),
    /// Serve the answers of a recording.
    Replay(ReplayArgs),
    /// Serve fixed answers.
    Mock(MockArgs),
    /// Print a completion script for a shell.
    Completions(Shell),
    /// Print the manual.
    Man,
}

impl Action {
    /// Whether all output of the action comes at its end, so that a failed attempt printed nothing.
    fn prints_at_its_end(&self) -> bool {
        match self {
            Self::Read(reading) => reading.uris.len() == 1,
            Self::List(_) | Self::Call(_) | Self::Prompt(_) | Self::Complete(_) => true,
            Self::Inspect | Self::Lock(_) | Self::ReadSurface(_) => true,
            _ => false,
        }
    }

    /// Whether the action uses the shared process of the server, if one runs. Other actions examine the server itself.
    fn uses_shared(&self) -> bool {
        let prints = matches!(self, Self::Listen { .. } | Self::Tasks(_) | Self::Shell);
        let gets = matches!(self, Self::Read(_) | Self::Prompt(_) | Self::Complete(_));
        prints || gets || matches!(self, Self::List(_) | Self::Call(_))
    }

    /// Whether the action uses several threads. A server behind a proxy does its own work, and a message that passes
    /// from thread to thread costs more than the proxy's work.
    pub(crate) fn needs_threads(&self, has_server: bool) -> bool {
        match self {
            Self::Serve(_) => !has_server,
            Self::Bench(_) => true,
            _ => false,
        }
    }
}

/// Does the action of an invocation, and returns the exit code of its success.
pub(crate) async fn run(invocation: Invocation) -> Result<ExitCode, CliError> {
    let done = match invocation.action {
        Action::Hosts => hosts::run(invocation.settings.config.as_deref(), invocation.format),
        Action::Login | Action::Logout | Action::Status => {
            or_interrupted(access::run(invocation)).await
        }
        Action::Install(install) => install.run(),
        Action::Uninstall(uninstall) => uninstall.run(),
        Action::Bench(ref bench) => bench::start(&invocation, bench).await,
        Action::Diff(ref diff) => diff::run(&invocation, diff).await,
        Action::Lint(ref lint) => lint::run(&invocation, lint).await,
        Action::Check(ref checking) if checking.waits_for_visits() => checked(invocation).await,
        Action::Check(_) => or_interrupted(checked(invocation)).await,
        Action::Doctor(args) => or_interrupted(doctor::run(&args)).await,
        Action::Tokens(ref source) => tokens::run(&invocation, source).await,
        Action::Serve(serve) => {
            serve::run(*serve, invocation.server.as_ref(), &invocation.settings).await
        }
        Action::Web(page) => web::run(page, invocation.server, invocation.settings).await,
        Action::Replay(args) => replay::run(args).await,
        Action::Mock(args) => replay::mock(args).await,
        Action::Tap(args) => return tap::run(args).await,
        Action::Completions(shell) => manual::completions(shell),
        Action::Man => manual::manual(),
        _ => in_conversation(&invocation).await,
    };
    done.map(|()| Exit::Done.into())
}

async fn checked(mut invocation: Invocation) -> Result<(), CliError> {
    match std::mem::replace(&mut invocation.action, Action::Hosts) {
        Action::Check(checking) => check::run(&invocation, *checking).await,
        _ => Ok(()),
    }
}

async fn in_conversation(invocation: &Invocation) -> Result<(), CliError> {
    let server = invocation.required_server()?;
    converse_at(server, invocation, &invocation.action).await
}

/// Does an action in a conversation with this server, with the options of an invocation.
async fn converse_at(
    server: &ServerSpec,
    invocation: &Invocation,
    action: &Action,
) -> Result<(), CliError> {
    let options = ConversationOptions {
        server,
        settings: &invocation.settings,
        format: invocation.format,
        checks_output: !matches!(action, Action::Call(call) if call.is_unchecked),
        watches_cache: matches!(action, Action::Shell),
        uses_shared: action.uses_shared()
            && matches!(server, ServerSpec::Named(_))
            && !invocation.settings.needs_own_process(),
    };
    let done = converse(options, action).await;
    done.map_err(|failure| failure.with_next(|| next_step(server)))
}

/// The next step for a server that requires a sign-in.
fn next_step(server: &ServerSpec) -> String {
    let server = match server {
        ServerSpec::Named(name) => format!("@{name}"),
        ServerSpec::Url(url) => without_query(url).to_owned(),
        ServerSpec::Program(_) => {
            return "Pass credentials to the program with --env.".to_owned();
        }
    };
    format!("Sign in with `pintle login {server}`, or pass a token with --bearer-env VARIABLE.")
}

/// Does an action in a conversation that is open.
async fn fulfil(conversation: &Conversation, action: &Action) -> Result<(), CliError> {
    match action {
        Action::List(kinds) => list::run(conversation, kinds).await,
        Action::Call(call) => call::run(conversation, call).await,
        Action::Read(reading) => read::run(conversation, reading).await,
        Action::Prompt(call) => prompt::run(conversation, call).await,
        Action::Complete(completion) => complete::run(conversation, completion).await,
        Action::Listen { uris, count } => listen::run(conversation, uris.clone(), *count).await,
        Action::Ping(count) => ping::run(conversation, *count).await,
        Action::Inspect => inspect::run(conversation).await,
        Action::Tasks(action) => tasks::run(conversation, action).await,
        Action::Bench(bench) => bench::run(conversation, bench).await,
        Action::Pack(pack) => pack::run(conversation, pack).await,
        Action::Lock(file) => lock::run(conversation, file).await,
        Action::ReadSurface(slot) => {
            let surface = lock::surface(conversation).await?;
            // A retry reads the same server again.
            let _ = slot.set(surface);
            Ok(())
        }
        Action::Hosts
        | Action::Shell
        | Action::Diff(_)
        | Action::Lint(_)
        | Action::Doctor(_)
        | Action::Tokens(_)
        | Action::Check(_)
        | Action::Login
        | Action::Logout
        | Action::Status
        | Action::Install(_)
        | Action::Uninstall(_)
        | Action::Serve(_)
        | Action::Tap(_)
        | Action::Web(_)
        | Action::Replay(_)
        | Action::Mock(_)
        | Action::Completions(_)
        | Action::Man => Err(UsageError(shell::ONE_SERVER.to_owned()).into()),
    }
}
