//! Being told that something changed.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// Tells that something changed, until the store is closed.
pub struct Changes(Box<ChangeSignal>);

type ChangeSignal = dyn FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send;

impl Changes {
    /// Changes that `poll` tells of, for those who write a store: as the `poll_next` of a stream.
    pub fn new(poll: impl FnMut(&mut Context<'_>) -> Poll<Option<()>> + Send + 'static) -> Self {
        Self(Box::new(poll))
    }

    /// Waits for the next change; `None` once the store is closed.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost: a change that was not given is told the next time.
    pub async fn next(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Changes::next`], for those who poll.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        (self.0)(cx)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changes")
    }
}
