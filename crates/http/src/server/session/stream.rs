//! A stream that a client has opened or resumed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::Session;
use super::held::{Held, Next};
use super::lanes::{PostEvent, Remaining, Resumed};
use crate::rules::event_id::EventId;
use crate::server::events::{MessageSource, OutgoingMessage};
use crate::server::peers::Permit;

/// The stream of one GET. It repeats the messages that the client missed, then continues.
///
/// Of the streams for messages that belong to no request, the newest of a session receives all; an
/// older one is a spare.
pub(in crate::server) struct Stream {
    session: Arc<Session>,
    missed: VecDeque<OutgoingMessage>,
    /// The same, if they must wait for the log of the stream.
    held: Option<Held>,
    rest: Remaining,
    beginning: Option<EventId>,
    _permit: Permit,
}

impl Stream {
    /// Opens a stream for messages that belong to no request.
    pub(in crate::server) fn open(session: Arc<Session>, permit: Permit) -> Self {
        let (rest, beginning) = session.listen();
        Self {
            session,
            missed: VecDeque::new(),
            held: None,
            rest,
            beginning,
            _permit: permit,
        }
    }

    /// Resumes a stream of the session after the last event that its client received. Returns `None`
    /// if a later message is no longer stored.
    pub(in crate::server) fn resume(
        session: Arc<Session>,
        after: EventId,
        permit: Permit,
    ) -> Option<Self> {
        let Resumed {
            missed,
            rest,
            released,
        } = session.resume(after)?;
        let (missed, held) = match released {
            Some(released) => (VecDeque::new(), Some(Held::new(released, missed))),
            None => (missed, None),
        };
        Some(Self {
            session,
            missed,
            held,
            rest,
            beginning: None,
            _permit: permit,
        })
    }

    /// Returns the event id before the first message of a stream for messages that belong to no request.
    pub(in crate::server) fn name(&self) -> Option<EventId> {
        let Remaining::Unsolicited(stream, _) = self.rest else {
            return None;
        };
        let tag = self.session.lock().lanes.tag();
        Some(EventId {
            tag,
            stream,
            position: 0,
        })
    }

    /// Returns true if the stream was the reply to a cancelled request.
    pub(in crate::server) fn is_cancelled(&self) -> bool {
        matches!(self.rest, Remaining::Cancelled)
    }

    fn poll_reply(&mut self, next: Poll<PostEvent>) -> Poll<Option<OutgoingMessage>> {
        match std::task::ready!(next) {
            PostEvent::Send(message) => {
                if message.verdict.is_some() {
                    self.leave();
                }
                Poll::Ready(Some(message))
            }
            // A request that is a stream already has been started by its post.
            PostEvent::Start(..) | PostEvent::Stop | PostEvent::Detach => {
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
        if let Some(message) = self.missed.pop_front() {
            return Poll::Ready(Some(message));
        }
        match self.held.as_mut().map(|held| held.next(Some(cx))) {
            None => {}
            Some(Next::Message(message)) => return Poll::Ready(Some(message)),
            Some(Next::Later) => return Poll::Pending,
            Some(Next::Nothing) => self.held = None,
            Some(Next::TakenOver) => {
                self.leave();
                return Poll::Ready(None);
            }
        }
        match self.rest {
            Remaining::Nothing | Remaining::Cancelled => Poll::Ready(None),
            Remaining::Unsolicited(stream, reader) => {
                self.session.poll_unsolicited(stream, reader, cx)
            }
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
