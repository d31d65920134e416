//! The response to a client that resumes the stream of another replica.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::elsewhere::Elsewhere;
use crate::server::events::{MessageSource, OutgoingMessage};
use crate::server::peers::Permit;
use crate::server::session::Stream;

/// The number of messages that wait for the connection.
const MAX_MESSAGES: usize = 64;

/// The end of a stream, after the log of another replica.
pub(super) enum Rest {
    /// Nothing follows: the stream ends with its log.
    Permit(#[expect(dead_code, reason = "it counts the stream while it is open")] Permit),
    /// Its messages continue at this replica.
    Stream(Stream),
}

/// The messages of other replicas, and then those of this one.
pub(in crate::server) struct Followed {
    missed: std::vec::IntoIter<OutgoingMessage>,
    log: Option<(mpsc::Receiver<OutgoingMessage>, AbortHandle)>,
    is_continued: oneshot::Receiver<bool>,
    rest: Option<Rest>,
}

impl Followed {
    /// The messages that a client has missed, and a stream of this replica.
    pub(super) fn here(missed: Vec<OutgoingMessage>, stream: Stream) -> Self {
        let (_, is_continued) = oneshot::channel();
        Self {
            missed: missed.into_iter(),
            log: None,
            is_continued,
            rest: Some(Rest::Stream(stream)),
        }
    }

    pub(super) fn start(
        elsewhere: Elsewhere,
        missed: Vec<OutgoingMessage>,
        rest: Rest,
        ttl: Duration,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_MESSAGES);
        let (ended, is_continued) = oneshot::channel();
        let follower = tokio::spawn(async move {
            let is_continued = elsewhere.follow(sender, ttl).await;
            // The connection may be gone.
            let _ = ended.send(is_continued);
        });
        Self {
            missed: missed.into_iter(),
            log: Some((receiver, follower.abort_handle())),
            is_continued,
            rest: Some(rest),
        }
    }
}

impl MessageSource for Followed {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        if let Some(message) = self.missed.next() {
            return Poll::Ready(Some(message));
        }
        if let Some((log, _)) = &mut self.log {
            if let Some(message) = std::task::ready!(log.poll_recv(cx)) {
                return Poll::Ready(Some(message));
            }
            let continued = Pin::new(&mut self.is_continued).poll(cx);
            if !matches!(std::task::ready!(continued), Ok(true)) {
                self.rest = None;
            }
            self.log = None;
        }
        match &mut self.rest {
            Some(Rest::Stream(stream)) => stream.poll_message(cx),
            Some(Rest::Permit(_)) | None => Poll::Ready(None),
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        if let Some((_, follower)) = &self.log {
            follower.abort();
        }
    }
}
