//! A stream that a client has opened, or has come back to.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::Session;
use super::lanes::{PostEvent, Remaining};
use crate::rules::event_id::EventId;
use crate::server::events::{MessageSource, OutgoingMessage};
use crate::server::streams::StreamPermit;

/// One GET. It gives again what its client has missed, then goes on where that ended.
///
/// Of the streams for what the server says unasked, the newest of a session hears everything; an
/// older one stays as a spare.
pub(in crate::server) struct Stream {
    session: Arc<Session>,
    missed: VecDeque<OutgoingMessage>,
    rest: Remaining,
    beginning: Option<EventId>,
    _permit: StreamPermit,
}

impl Stream {
    /// Opens a stream for what the server says unasked.
    pub(in crate::server) fn open(session: Arc<Session>, permit: StreamPermit) -> Self {
        let (rest, beginning) = session.listen();
        Self {
            session,
            missed: VecDeque::new(),
            rest,
            beginning,
            _permit: permit,
        }
    }

    /// Goes on with any stream of the session after the last event that its client has seen; none
    /// if nothing can be said about what followed.
    pub(in crate::server) fn resume(
        session: Arc<Session>,
        after: EventId,
        permit: StreamPermit,
    ) -> Option<Self> {
        let (missed, rest) = session.resume(after)?;
        Some(Self {
            session,
            missed,
            rest,
            beginning: None,
            _permit: permit,
        })
    }

    /// Whether it was the reply to a request that was cancelled: nothing is left to say.
    pub(in crate::server) fn is_silenced(&self) -> bool {
        matches!(self.rest, Remaining::Silence)
    }

    fn poll_reply(&mut self, next: Poll<PostEvent>) -> Poll<Option<OutgoingMessage>> {
        match std::task::ready!(next) {
            PostEvent::Say(said) => {
                if said.verdict.is_some() {
                    self.leave();
                }
                Poll::Ready(Some(said))
            }
            // A request that is a stream already has been started by its post.
            PostEvent::Start(..) | PostEvent::Stop | PostEvent::Part => {
                self.leave();
                Poll::Ready(None)
            }
        }
    }

    fn leave(&mut self) {
        self.session.leave(self.rest);
        self.rest = Remaining::Nothing;
    }
}

impl MessageSource for Stream {
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        if let Some(said) = self.missed.pop_front() {
            return Poll::Ready(Some(said));
        }
        match self.rest {
            Remaining::Nothing | Remaining::Silence => Poll::Ready(None),
            Remaining::Unasked(stream, reader) => self.session.poll_unasked(stream, reader, cx),
            Remaining::Reply(key, reader) => {
                let next = self.session.poll_reply(key, reader, cx);
                self.poll_reply(next)
            }
        }
    }

    fn beginning(&mut self) -> Option<EventId> {
        self.beginning.take()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.leave();
    }
}
