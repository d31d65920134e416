//! The seam of request state, which a client carries from one round to the next for the server.

use std::future::{Future, ready};
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use pintle_model::errors;
use pintle_runtime::RandomnessError;

/// How long a state is valid: time for people to answer.
pub(super) const LIFE: Duration = Duration::from_secs(600);

/// Converts the state between two rounds into text that a client carries, and back.
///
/// An attacker may hold the text, so it must not reveal the state. A text that was made elsewhere
/// or for another request, or that has expired, must not be opened.
///
/// Spec: [2026-07-28, Multi round-trip requests, Security considerations][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
pub trait StateSeal: Send + Sync + 'static {
    /// Seals `content`, bound to `binding`: the principal, the method and the subject of the request.
    ///
    /// # Errors
    ///
    /// [`SealError`] without randomness or room.
    fn seal(&self, now: SystemTime, binding: &[u8], content: &[u8]) -> Result<String, SealError>;

    /// Opens a state that was sealed with the same binding.
    ///
    /// # Errors
    ///
    /// [`UnsealError`] for every reason, because a client must not learn the reason.
    fn open(&self, now: SystemTime, binding: &[u8], state: &str) -> Result<Vec<u8>, UnsealError>;

    /// Prepares for [`Self::seal`]: rotates keys that replicas share, if that is due. By default it
    /// does nothing.
    fn refresh(&self) -> SealFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Opens a state as [`Self::open`] does. May read keys again that another replica added. By default
    /// it reads none.
    ///
    /// # Errors
    ///
    /// [`UnsealError`] for every reason, because a client must not learn the reason.
    fn open_or_refresh<'a>(
        &'a self,
        now: SystemTime,
        binding: &'a [u8],
        state: &'a str,
    ) -> SealFuture<'a, Result<Vec<u8>, UnsealError>> {
        Box::pin(ready(self.open(now, binding, state)))
    }
}

/// Future that an operation of a [`StateSeal`] returns: boxed, because a server has any seal.
pub type SealFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

errors! {
    /// A state could not be sealed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct SealError
        => "the state of a request cannot be sealed: there is no randomness or no room";

    /// A state is not valid: it was sealed elsewhere or for another request, or it has expired.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct UnsealError => "requestState is invalid or has expired";
}

impl From<RandomnessError> for SealError {
    fn from(_: RandomnessError) -> Self {
        Self
    }
}
