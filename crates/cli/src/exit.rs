//! How a run ends, as scripts see it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use pintle::http::ServeError;
use pintle::server::StartError;

/// The documented exit codes. A code never changes its meaning.
///
/// 2, 3 (sign-in needed), 5 (the tool failed, or nothing was found) and 6 (a schema was broken)
/// belong to commands that call servers; 2 is left free, because shells use it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It is done.
    Done = 0,
    /// What was asked for is not understood, or not allowed.
    Usage = 1,
    /// An address cannot be reached, or not be listened on.
    Unreachable = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a run did not do what was meant.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The showcase is not what it says it is: our fault.
    Start(StartError),
    /// Anybody who reaches the address could use the server, and nobody said that this is meant.
    Exposed(Exposed),
    /// HTTP cannot be served.
    Http(ServeError),
    /// A stream or the system failed.
    Io(io::Error),
}

impl Failure {
    /// The code of this failure.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Start(_) | Self::Exposed(_) => Exit::Usage,
            Self::Http(_) | Self::Io(_) => Exit::Unreachable,
        }
    }

    /// What went wrong.
    pub(crate) fn error(&self) -> &(dyn std::error::Error + 'static) {
        match self {
            Self::Start(error) => error,
            Self::Exposed(error) => error,
            Self::Http(error) => error,
            Self::Io(error) => error,
        }
    }
}

/// An address that is not loopback.
#[derive(Debug)]
pub(crate) struct Exposed {
    address: SocketAddr,
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        write!(
            f,
            "{address} is not a loopback address, and whoever reaches it could use the server; \
             add --allow-insecure-bind if that is meant"
        )
    }
}

impl std::error::Error for Exposed {}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Exposed { address } => Self::Exposed(Exposed { address }),
            error => Self::Http(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
