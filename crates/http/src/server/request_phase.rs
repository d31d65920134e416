//! The phases of a connection: the peer sends a request, or we send a response.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

/// Counts the phases of one connection. In even ones the peer may send a request; in odd ones we owe
/// a response. Clones share the counter.
///
/// One task reads and writes the counter, so the memory order does not matter.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestPhases(Arc<AtomicU64>);

/// The number of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestPhase(u64);

impl RequestPhases {
    /// Returns the current phase.
    pub(super) fn now(&self) -> RequestPhase {
        RequestPhase(self.0.load(Ordering::Relaxed))
    }

    /// Begins the phase of our response, which ends when the guard is dropped.
    pub(super) fn take(&self) -> ResponseGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        ResponseGuard(self.clone())
    }
}

impl RequestPhase {
    /// The first phase of a connection.
    pub(super) const FIRST: Self = Self(0);

    /// Returns true if the peer may send a request.
    pub(super) fn is_the_peers(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// Ends the phase of our response on drop.
#[derive(Debug)]
pub(super) struct ResponseGuard(RequestPhases);

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A response body that ends the phase of our response.
#[derive(Debug)]
pub(super) struct Closing<B> {
    body: B,
    _turn: ResponseGuard,
}

impl<B> Closing<B> {
    pub(super) fn new(body: B, turn: ResponseGuard) -> Self {
        Self { body, _turn: turn }
    }
}

impl<B: Body + Unpin> Body for Closing<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_alternate() {
        let turns = RequestPhases::default();
        assert_eq!(turns.now(), RequestPhase::FIRST);
        for _ in 0..3 {
            assert!(turns.now().is_the_peers());
            let ours = turns.take();
            assert!(!turns.now().is_the_peers());
            drop(ours);
        }
        assert_ne!(turns.now(), RequestPhase::FIRST);
    }
}
