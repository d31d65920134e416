//! The seam of request state: what a client carries from one round to the next for us.

use std::time::{Duration, SystemTime};

use pintle_model::errors;
use pintle_runtime::RandomnessError;

/// How long a state is good: as long as people take to answer.
pub(super) const LIFE: Duration = Duration::from_secs(600);

/// Makes what a server remembers between rounds into text that a client carries, and back.
///
/// The text is in the hands of an attacker: it must tell nothing, and whatever was not made here,
/// was made for another request, or is too old must not be opened.
///
/// Spec: [2026-07-28, Multi round-trip requests, Security considerations][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
pub trait StateSeal: Send + Sync + 'static {
    /// Seals `content`, bound to `binding`: principal, method, and what was asked for.
    ///
    /// # Errors
    ///
    /// [`SealError`] if there is no randomness or no room.
    fn seal(&self, now: SystemTime, binding: &[u8], content: &[u8]) -> Result<String, SealError>;

    /// Opens what was sealed with the same binding.
    ///
    /// # Errors
    ///
    /// [`UnsealError`], whatever the reason: a client must not learn it.
    fn open(&self, now: SystemTime, binding: &[u8], state: &str) -> Result<Vec<u8>, UnsealError>;
}

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
