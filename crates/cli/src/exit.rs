//! How a run ends, as scripts see it.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use pintle::auth::AuthError;
use pintle::auth::resource::RequireBearerError;
use pintle::client::{CallError, ConnectError, Misbehavior};
use pintle::http::ServeError;
use pintle::proto::{PeerCallError, TransportError, TransportErrorKind};
use pintle::runtime::FetchError;
use pintle::server::StartError;

use crate::arguments::ArgumentError;
use crate::plan::UsageError;
use pintle_hosts::ConfigError;

/// The documented exit codes. A code never changes its meaning.
///
/// 2 is left free, because shells use it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It is done.
    Done = 0,
    /// What was asked for is not understood, or not allowed.
    Usage = 1,
    /// The server wants to know who is there.
    SignIn = 3,
    /// A server or an address cannot be reached, or not be listened on.
    Unreachable = 4,
    /// The tool failed, or nothing was found.
    Failed = 5,
    /// A value does not fit its schema: an argument, or what a tool gave; or the schema makes no sense.
    Schema = 6,
    /// Somebody pressed Ctrl-C: what shells say of a program that was interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a run did not do what was meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The showcase is not what it says it is: our fault.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Anybody who reaches the address could use the server, and nobody said that this is meant.
    #[error(transparent)]
    Exposed(ExposedAddressError),
    /// Tokens cannot be required as somebody wants them.
    #[error(transparent)]
    Tokens(#[from] RequireBearerError),
    /// HTTP cannot be served.
    #[error(transparent)]
    Http(ServeError),
    /// The words make no command.
    #[error(transparent)]
    Misunderstood(#[from] UsageError),
    /// A configuration file has no such server.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// The user has not agreed to a server that a project's file, or a named one, describes.
    #[error("no consent to the server `{server}` of {}: {reason}", file.display())]
    NoConsent {
        /// The server.
        server: String,
        /// The file that describes it.
        file: PathBuf,
        /// Why there is none, or how it is given.
        reason: &'static str,
    },
    /// The arguments are none, or do not fit.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// There is no conversation with the server.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The server wants to know who asks.
    #[error("{cause}")]
    SignIn {
        /// What it said.
        cause: Box<CliError>,
        /// What can be done.
        next: String,
    },
    /// Nobody could be signed in.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// The server did not answer whoever showed nothing.
    #[error("the server cannot be asked what it wants")]
    Knock(#[source] FetchError),
    /// Nothing is kept for a server.
    #[error("nobody is signed in")]
    SignedOut,
    /// Somebody did not want to sign in.
    #[error("nobody signed in")]
    Declined,
    /// The machine does not say where its user keeps things.
    #[error(
        "there is no place to keep credentials in: neither HOME nor XDG_DATA_HOME (on Windows: APPDATA) is set"
    )]
    Homeless,
    /// A call gave no result.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The server tells of changes no longer.
    #[error("the server tells of changes no longer")]
    NoMoreChanges(#[source] PeerCallError),
    /// There is nothing of that name.
    #[error("{0}")]
    NotFound(String),
    /// The tool ran and says that it failed; what it said was printed.
    #[error("the tool `{0}` says that it failed")]
    ToolFailed(String),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A stream or the system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl CliError {
    /// The same, with what can be done about it: for one that somebody has to sign in for.
    pub(crate) fn with_next(self, next: impl FnOnce() -> String) -> Self {
        match self {
            told @ Self::SignIn { .. } => told,
            cause if cause.exit() == Exit::SignIn => Self::SignIn {
                cause: Box::new(cause),
                next: next(),
            },
            other => other,
        }
    }

    /// Why it is so, and what whoever started this can do about it.
    pub(crate) fn parts(&self) -> (&Self, Option<&str>) {
        match self {
            Self::SignIn { cause, next } => (cause, Some(next)),
            told => (told, None),
        }
    }

    /// The option or the part of a URL that may be missing.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        let mut cause = Some(self as &(dyn Error + 'static));
        while let Some(error) = cause {
            let loss = error.downcast_ref().map(TransportError::kind);
            match loss {
                Some(TransportErrorKind::Status(404)) => {
                    return Some("The path of the URL may be missing; it is often /mcp.");
                }
                Some(TransportErrorKind::ProcessExited) => {
                    let hint = "A program gets few variables of the environment; \
                                --env NAME passes one on.";
                    return Some(hint);
                }
                _ => cause = error.source(),
            }
        }
        match self {
            Self::Call(error) => need_hint(&call_text(error)),
            _ => None,
        }
    }

    /// The code of this failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Start(_)
            | Self::Exposed(_)
            | Self::Tokens(_)
            | Self::Homeless
            | Self::Misunderstood(_)
            | Self::NoConsent { .. }
            | Self::Config(_) => Exit::Usage,
            Self::Arguments(error) => error.exit(),
            Self::Auth(AuthError::NoRedirectPort(..)) => Exit::Unreachable,
            Self::SignIn { .. } | Self::Auth(_) | Self::Declined | Self::SignedOut => Exit::SignIn,
            Self::Connect(error) => connect_exit(error),
            Self::Call(error) => call_exit(error),
            Self::NotFound(_) | Self::ToolFailed(_) => Exit::Failed,
            Self::Http(_) | Self::Io(_) | Self::Knock(_) | Self::NoMoreChanges(_) => {
                Exit::Unreachable
            }
            Self::Interrupted => Exit::Interrupted,
        }
    }
}

fn call_text(error: &CallError) -> String {
    let data = error.answer().and_then(|error| error.data.as_ref());
    let data = data.map(ToString::to_string);
    format!("{error} {}", data.unwrap_or_default())
}

/// The option without which this client does not have what a server needs, by the text of its error.
pub(crate) fn need_hint(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    if !text.contains("client") {
        None
    } else if text.contains("sampling") {
        Some("--sample-with COMMAND lets a program answer in place of a model.")
    } else if text.contains("roots") {
        Some("--root DIRECTORY gives the server a root.")
    } else {
        None
    }
}

fn connect_exit(error: &ConnectError) -> Exit {
    match error {
        ConnectError::Unauthorized(_) => Exit::SignIn,
        ConnectError::InvalidConfig(_) => Exit::Usage,
        _ => Exit::Unreachable,
    }
}

fn call_exit(error: &CallError) -> Exit {
    match error {
        CallError::Answered { .. }
        | CallError::NotSent { .. }
        | CallError::QuestionFailed { .. }
        | CallError::NotApproved { .. }
        | CallError::TaskCancelled { .. } => Exit::Failed,
        CallError::Misbehaved {
            source: Misbehavior::Output(_),
            ..
        }
        | CallError::UnusableOutputSchema { .. } => Exit::Schema,
        CallError::InvalidParams { .. } => Exit::Usage,
        CallError::Disconnected { source, .. } => transport_exit(source),
        CallError::NotConnected { source, .. } => connect_exit(source),
        _ => Exit::Unreachable,
    }
}

fn transport_exit(error: &TransportError) -> Exit {
    match error.kind() {
        TransportErrorKind::Unauthorized(_) => Exit::SignIn,
        _ => Exit::Unreachable,
    }
}

/// An address that is not loopback.
#[derive(Debug)]
pub(crate) struct ExposedAddressError {
    address: SocketAddr,
}

impl fmt::Display for ExposedAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        write!(
            f,
            "{address} is not a loopback address, and whoever reaches it could use the server; \
             add --auth-issuer and --audience to let in only whoever has a token, or \
             --allow-insecure-bind if everybody is meant"
        )
    }
}

impl Error for ExposedAddressError {}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Exposed { address } => Self::Exposed(ExposedAddressError { address }),
            error => Self::Http(error),
        }
    }
}
