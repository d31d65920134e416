//! Errors of signing in and of stored credentials.

use pintle::runtime::FetchError;

use crate::exit::{CliError, Exit};

/// Why the tool cannot sign in, or finds no credentials.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessError {
    /// The server did not answer a request without a token.
    #[error("cannot determine whether the server requires a sign-in")]
    Probe(#[source] FetchError),
    /// No credentials are stored for a server.
    #[error("not signed in")]
    SignedOut,
    /// The user declined to sign in.
    #[error("the sign-in was declined")]
    Declined,
    /// The environment names no directory for credentials.
    #[error(
        "no directory for credentials: neither HOME nor XDG_DATA_HOME (on Windows: APPDATA) is set"
    )]
    NoDirectory,
}

impl From<AccessError> for CliError {
    fn from(error: AccessError) -> Self {
        let exit = match error {
            AccessError::Probe(_) => Exit::Unreachable,
            AccessError::SignedOut | AccessError::Declined => Exit::SignIn,
            AccessError::NoDirectory => Exit::Usage,
        };
        Self::new(exit, error)
    }
}
