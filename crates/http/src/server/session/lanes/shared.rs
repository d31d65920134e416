//! Streams that other replicas can resume: each has a log in the store.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use pintle_proto::{RequestKey, TransmitKind};

use super::{Lanes, PostEvent, Remaining, now};
use crate::rules::event_id::EventId;
use crate::server::events::OutgoingMessage;
use crate::server::session::bounds::{Bounds, Replay};
use crate::server::session::held::{Held, Next};
use crate::server::session::journal::{Journal, Released};
use crate::server::session::replay_buffer::Source;
use crate::server::session::replies::Reply;

/// A stream that was resumed at this replica.
pub(in crate::server::session) struct Resumed {
    pub(in crate::server::session) missed: VecDeque<OutgoingMessage>,
    pub(in crate::server::session) rest: Remaining,
    /// Present if the missed messages must wait for the log.
    pub(in crate::server::session) released: Option<Released>,
}

/// A stream that another replica resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) struct HandedOver {
    /// The number of the last message that left. `None` if the log is not complete.
    pub(in crate::server) last: Option<u64>,
}

impl Lanes {
    /// The tag of the events of this part.
    pub(in crate::server::session) fn tag(&self) -> u32 {
        self.replay.tag()
    }

    /// Returns true if the stream of an event is at another replica: it began there, or has moved there.
    pub(in crate::server::session) fn is_elsewhere(&self, event: EventId) -> bool {
        self.tag() != event.tag || self.replay.is_moved(event.stream)
    }

    /// Begins the log of a stream, if replicas share the session and this one has joined the others.
    pub(super) fn begin_log(&mut self, stream: u64, request: Option<Box<str>>, bounds: &Bounds) {
        let (Some(session), Some(fleet)) = (&self.shared, bounds.fleet()) else {
            return;
        };
        let log = fleet.stream_log(session.bits(), self.replay.tag(), stream);
        let waiting = self.waiting.get_or_insert_default();
        let journal = Journal::begin(fleet, log, request, &bounds.replay, waiting);
        if let Some(journal) = journal {
            self.replay.set_journal(stream, journal);
        }
    }

    /// Begins the log of a reply.
    pub(super) fn begin_log_of_reply(&mut self, key: RequestKey, stream: u64, bounds: &Bounds) {
        let reply = self
            .replies
            .get(key)
            .and_then(|reply| reply.shared.as_ref());
        let Some(request) = reply.map(|shared| shared.request.clone()) else {
            return;
        };
        self.begin_log(stream, Some(request), bounds);
        let released = self.replay.released(stream);
        if let Some(reply) = self.replies.get_mut(key)
            && let Some(shared) = &mut reply.shared
        {
            let primer = self
                .primes
                .then(|| self.replay.primer(stream, &bounds.replay));
            shared.held =
                released.map(|released| Held::new(released, primer.into_iter().collect()));
        }
    }

    /// Returns true if the reply to a request is a stream with a log.
    pub(in crate::server::session) fn is_logged(&self, key: RequestKey) -> bool {
        let shared = self
            .replies
            .get(key)
            .and_then(|reply| reply.shared.as_ref());
        shared.is_some_and(|shared| shared.held.is_some())
    }

    /// Returns the next event of a reply whose stream has a log. `None` if it has none.
    pub(super) fn next_logged(
        &mut self,
        key: RequestKey,
        cx: Option<&Context<'_>>,
        bounds: &Bounds,
    ) -> Option<Option<PostEvent>> {
        self.replies.get_mut(key)?.held()?;
        self.log_waiting(key, bounds);
        let reply = self.replies.get_mut(key)?;
        let next = reply.held()?.next(cx);
        Some(match next {
            Next::Message(message) => Some(PostEvent::Send(message)),
            Next::Later => None,
            Next::TakenOver => Some(PostEvent::Detach),
            Next::Nothing if reply.is_cancelled => Some(PostEvent::Stop),
            Next::Nothing => std::mem::take(&mut reply.is_detaching).then_some(PostEvent::Detach),
        })
    }

    /// Returns the first message of a reply, or holds it back if the reply has become a stream with a log.
    pub(super) fn send_logged(
        &mut self,
        key: RequestKey,
        message: OutgoingMessage,
        cx: Option<&Context<'_>>,
        bounds: &Bounds,
    ) -> Option<PostEvent> {
        let Some(held) = self.replies.get_mut(key).and_then(Reply::held) else {
            return Some(PostEvent::Send(message));
        };
        held.push(message);
        self.next_logged(key, cx, bounds).flatten()
    }

    /// Moves the messages that wait for a reader to the log, because a client may read it at another replica.
    pub(super) fn log_unread(&mut self, key: RequestKey, bounds: &Bounds) {
        while let Some(reply) = self.replies.get_mut(key)
            && !reply.is_read
            && let Some(held) = reply.held()
        {
            held.clear();
            if reply.outbox.is_empty() {
                return;
            }
            self.log_waiting(key, bounds);
        }
    }

    /// Moves messages of a reply to its log, and holds them until the log has them.
    fn log_waiting(&mut self, key: RequestKey, bounds: &Bounds) {
        while let Some(reply) = self.replies.get_mut(key)
            && reply.held().is_some_and(|held| held.has_room())
            && let Some(transmit) = reply.outbox.pop()
        {
            reply.is_answered |= matches!(transmit.kind, TransmitKind::Answer(_));
            let message = self.record(key, transmit.into(), &bounds.replay);
            if let Some(held) = self.replies.get_mut(key).and_then(Reply::held) {
                held.push(message);
            }
        }
    }

    /// Moves messages that belong to no request to the log of a stream, if it has one.
    pub(super) fn log_unsolicited(&mut self, stream: u64, bounds: &Replay) {
        while self
            .listeners
            .held(stream)
            .is_some_and(|held| held.has_room())
            && let Some(transmit) = self.unsolicited.pop()
        {
            let message = self.replay.record(stream, transmit.into(), bounds);
            if let Some(held) = self.listeners.held(stream) {
                held.push(message);
            }
        }
    }

    /// Returns the next message that the log of a stream has.
    pub(super) fn poll_logged(
        &mut self,
        stream: u64,
        cx: &Context<'_>,
    ) -> Poll<Option<OutgoingMessage>> {
        let next = self.listeners.held(stream).map(|held| held.next(Some(cx)));
        match next {
            Some(Next::Message(message)) => Poll::Ready(Some(message)),
            Some(Next::TakenOver) => Poll::Ready(None),
            Some(Next::Later | Next::Nothing) | None => {
                self.listeners.wait(stream, cx.waker());
                Poll::Pending
            }
        }
    }

    /// Ends the reader of a stream, because another replica resumes it.
    pub(in crate::server::session) fn hand_over(
        &mut self,
        event: EventId,
        next: &str,
        bounds: &Bounds,
    ) -> Option<HandedOver> {
        if event.tag != self.replay.tag() {
            return None;
        }
        let (source, last) = self.replay.shared(event.stream)?;
        let Some(last) = last else {
            return Some(HandedOver { last: None });
        };
        match source {
            Source::Cancelled => {}
            Source::Reply(key) => self.hand_over_reply(key, bounds),
            Source::Unsolicited => self.hand_over_unsolicited(event.stream, next, bounds),
        }
        let last = self
            .replay
            .shared(event.stream)
            .map_or(Some(last), |(_, last)| last);
        Some(HandedOver { last })
    }

    fn hand_over_reply(&mut self, key: RequestKey, bounds: &Bounds) {
        if let Remaining::Reply(key, reader) = self.take_over(key) {
            self.release(key, reader, bounds);
        }
    }

    fn hand_over_unsolicited(&mut self, stream: u64, next: &str, bounds: &Bounds) {
        if self.replay.is_moved(stream) {
            return;
        }
        while let Some(transmit) = self.unsolicited.pop() {
            let message = OutgoingMessage::from(transmit);
            self.replay.record(stream, message, &bounds.replay);
        }
        self.replay.move_to(stream, next, now());
        self.wakers.extend(self.listeners.close(stream));
    }
}
