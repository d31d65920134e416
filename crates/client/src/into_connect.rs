//! The values that a client connects to.

use std::convert::Infallible;
use std::error::Error;

use pintle_runtime::{Connect, IntoService};

use crate::targets::InProcess;

/// A value that a client connects to: a [`Connect`], or the description of a server in this process.
/// The crate `pintle` adds URLs.
///
/// `Kind` keeps implementations apart and is always inferred. A crate implements this trait for types of
/// other crates with a `Kind` of its own.
#[diagnostic::on_unimplemented(
    message = "a client cannot connect to `{Self}`",
    note = "connect to a `Connect`, such as a `Command` or an `HttpConnect`, or to a `Server`; a URL requires the crate `pintle` with its feature `http-client`"
)]
pub trait IntoConnect<Kind> {
    /// Opens the conversations.
    type Connect: Connect;
    /// Why the value does not name a server.
    type Error: Error + Send + Sync + 'static;

    /// Checks the value. Connects to nothing.
    ///
    /// # Errors
    ///
    /// Why the value does not name a server.
    fn into_connect(self) -> Result<Self::Connect, Self::Error>;
}

/// The kind of values that implement [`Connect`].
#[derive(Debug, Clone, Copy)]
pub struct ByConnect(Infallible);

impl<C: Connect> IntoConnect<ByConnect> for C {
    type Connect = C;
    type Error = Infallible;

    fn into_connect(self) -> Result<C, Infallible> {
        Ok(self)
    }
}

/// The kind of servers in this process.
#[derive(Debug, Clone, Copy)]
pub struct ByService(Infallible);

impl<S: IntoService> IntoConnect<ByService> for S {
    type Connect = InProcess<S::Service>;
    type Error = S::Error;

    fn into_connect(self) -> Result<Self::Connect, S::Error> {
        self.into_service().map(InProcess::new)
    }
}
