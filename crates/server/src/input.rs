//! Rounds of questions: from a handler that needs input to the one request and the one answer that
//! the client sees.
//!
//! Where results may ask (2026-07-28), a handler that asks is dropped, and the retry runs it again
//! over what was answered; what must be remembered meanwhile travels sealed. Where servers send
//! requests (up to 2025-11-25), a handler that returns its questions is run again here.

mod live;
mod memory;
mod memory_state_store;
mod request_identity;
pub(crate) mod required;
pub(crate) mod rounds;
mod seal;
#[cfg(feature = "sealed")]
mod sealed;
mod states;
#[cfg(feature = "tasks")]
mod stored_states;

pub use memory_state_store::MemoryStateStore;
pub use seal::{SealError, SealFuture, StateSeal, UnsealError};

pub(crate) use memory::Memory;
pub(crate) use request_identity::RequestIdentity;
pub(crate) use rounds::{RetryParams, Rounds, UntilSuspended, is_final};
pub(crate) use states::States;
#[cfg(feature = "tasks")]
pub(crate) use stored_states::StoredStates;

use std::sync::Arc;

/// The seal of a server that was given none: good for one process.
#[cfg(feature = "sealed")]
pub(crate) fn default_seal() -> Arc<dyn StateSeal> {
    match pintle_keys::Keys::random() {
        Ok(keys) => Arc::new(keys),
        Err(_) => Arc::new(MemoryStateStore::default()),
    }
}

/// The seal of a server that was given none: good for one process.
#[cfg(not(feature = "sealed"))]
pub(crate) fn default_seal() -> Arc<dyn StateSeal> {
    Arc::new(MemoryStateStore::default())
}
