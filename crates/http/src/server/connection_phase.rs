//! The phases of a connection: the peer may send a request, or we owe a response.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

/// Counts the phases of one connection. Clones share the counter.
///
/// One task reads and writes the counter, so the memory order does not matter.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionPhases(Arc<AtomicU64>);

/// A phase of a connection: even while the peer may send a request, odd while we owe a response.
///
/// The odd phase begins when the head of a request is complete, and ends when the body of the response is
/// dropped. So phases alternate only because HTTP/1.1 serves one request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionPhase(u64);

impl ConnectionPhases {
    /// Returns the current phase.
    pub(super) fn now(&self) -> ConnectionPhase {
        ConnectionPhase(self.0.load(Ordering::Relaxed))
    }

    /// Begins the phase of our response, which ends when the guard is dropped.
    pub(super) fn begin_response(&self) -> ResponseGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        ResponseGuard(self.clone())
    }
}

impl ConnectionPhase {
    /// The first phase of a connection.
    pub(super) const FIRST: Self = Self(0);

    /// Returns true if the peer may send a request.
    pub(super) fn awaits_request(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// Ends the phase of our response on drop.
#[derive(Debug)]
pub(super) struct ResponseGuard(ConnectionPhases);

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A response body that ends the phase of our response.
#[derive(Debug)]
pub(super) struct GuardedBody<B> {
    body: B,
    _response: Option<ResponseGuard>,
}

impl<B> GuardedBody<B> {
    pub(super) fn new(body: B, response: Option<ResponseGuard>) -> Self {
        Self {
            body,
            _response: response,
        }
    }
}

impl<B: Body + Unpin> Body for GuardedBody<B> {
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
    fn phases_of_requests_and_responses_alternate() {
        let phases = ConnectionPhases::default();
        assert_eq!(phases.now(), ConnectionPhase::FIRST);
        for _ in 0..3 {
            assert!(phases.now().awaits_request());
            let response = phases.begin_response();
            assert!(!phases.now().awaits_request());
            drop(response);
        }
        assert_ne!(phases.now(), ConnectionPhase::FIRST);
    }
}
