//! Notifications of changes in a store.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// Stream of notifications that something changed, until the store is closed.
pub struct Changes(Box<ChangeSignal>);

type ChangeSignal = dyn FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send;

impl Changes {
    /// Creates a stream from the `poll_next` function of a store implementation.
    pub fn new(poll: impl FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send + 'static) -> Self {
        Self(Box::new(poll))
    }

    /// Waits for the next change; `None` once the store is closed.
    ///
    /// # Cancellation
    ///
    /// Cancellation is safe: the next call returns a change that this call did not return.
    pub async fn next(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Changes::next`], as a poll function.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        (self.0)(cx)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changes")
    }
}
