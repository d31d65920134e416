//! Readers of replies: they part, come back, and take each other's place.

use std::collections::VecDeque;

use pintle_proto::RequestKey;
use tokio::task::AbortHandle;

use super::{Lanes, Remaining, now};
use crate::rules::event_id::EventId;
use crate::server::events::OutgoingMessage;
use crate::server::session::bounds::{Bounds, Replay};
use crate::server::session::replay_buffer::Source;
use crate::server::session::replies::{Reply, ReplyFormat};

impl Lanes {
    /// Makes the reply to a request a stream that its client can come back to, where there is such
    /// a thing; gives the name of its beginning, where clients know that.
    pub(in crate::server::session) fn open_reply_stream(
        &mut self,
        key: RequestKey,
        bounds: &Replay,
    ) -> Option<EventId> {
        let reply = self.replies.get_mut(key)?;
        if !self.resumes || reply.form != ReplyFormat::Own {
            return None;
        }
        let stream = *reply
            .stream
            .get_or_insert_with(|| self.trails.open(Source::Reply(key), bounds));
        self.primes.then(|| self.trails.beginning(stream))
    }

    /// Lets the reader of a reply go once it has heard what was said so far; false where its client
    /// would not come back.
    pub(in crate::server::session) fn part(&mut self, key: RequestKey, bounds: &Replay) -> bool {
        let read = |reply: &&mut Reply| reply.is_read && !reply.is_cancelled;
        let can_part = self.open_reply_stream(key, bounds).is_some();
        match self.replies.get_mut(key).filter(read) {
            Some(reply) if can_part => {
                reply.is_detaching = true;
                self.wakers.extend(reply.waker.take());
                true
            }
            _ => false,
        }
    }

    /// Notes that a handler goes on without its post. What it says waits for its client to come
    /// back; if there is nothing to come back to, it is lost, except for questions: those leave as
    /// if they were asked by nobody in particular. False if its answer is not wanted any more.
    pub(in crate::server::session) fn detach(
        &mut self,
        key: RequestKey,
        reader: u32,
        handler: AbortHandle,
        bounds: &Bounds,
    ) -> bool {
        let wanted = self.replies.get_mut(key);
        let Some(reply) = wanted.filter(|reply| !reply.is_cancelled) else {
            return false;
        };
        reply.detached = Some(handler);
        self.release(key, reader, bounds);
        true
    }

    /// Notes that a reader is gone, unless another one has taken its place.
    pub(in crate::server::session) fn release(
        &mut self,
        key: RequestKey,
        reader: u32,
        bounds: &Bounds,
    ) {
        let Some(reply) = self
            .replies
            .get_mut(key)
            .filter(|reply| reply.reader == reader)
        else {
            return;
        };
        reply.is_read = false;
        reply.waker = None;
        if !reply.is_unheard() {
            return;
        }
        let mut unheard = std::mem::take(&mut reply.outbox);
        while let Some(transmit) = unheard.pop() {
            self.redirect(transmit, bounds);
        }
    }

    /// Lets a reader that came back go: for good if all was said.
    pub(in crate::server::session) fn leave(
        &mut self,
        key: RequestKey,
        reader: u32,
        bounds: &Bounds,
    ) {
        let Some(reply) = self.replies.get(key).filter(|reply| reply.reader == reader) else {
            return;
        };
        if reply.is_answered || reply.is_cancelled {
            self.close(key);
        } else if !self.keep_rest(key, &bounds.replay) {
            self.release(key, reader, bounds);
        }
    }

    /// Keeps what a reply still has to say for a client that comes back; false if there is nothing
    /// to come back to, or the reply is not complete.
    pub(in crate::server::session) fn keep_rest(
        &mut self,
        key: RequestKey,
        bounds: &Replay,
    ) -> bool {
        let has_answer = |reply: &Reply| !reply.is_cancelled && reply.has_answer;
        let stream = self
            .replies
            .get(key)
            .filter(|reply| has_answer(reply))
            .and_then(|reply| reply.stream);
        let (Some(stream), Some(mut reply)) =
            (stream, stream.and_then(|_| self.replies.remove(key)))
        else {
            return false;
        };
        while let Some(transmit) = reply.outbox.pop() {
            self.trails.say(stream, transmit.into(), bounds);
        }
        self.trails.leave(stream, now());
        true
    }

    /// Closes the lane of a request: its answer has left, or will not come.
    pub(in crate::server::session) fn close(&mut self, key: RequestKey) {
        let Some(reply) = self.replies.remove(key) else {
            return;
        };
        self.wakers.extend(reply.waker);
        match reply.stream {
            Some(stream) if reply.is_cancelled => self.trails.silence(stream, now()),
            Some(stream) => self.trails.leave(stream, now()),
            None => {}
        }
    }

    /// Goes on with a stream after an event: what was missed, and what is still to come.
    pub(in crate::server::session) fn resume(
        &mut self,
        after: EventId,
        bounds: &Replay,
    ) -> Option<(VecDeque<OutgoingMessage>, Remaining)> {
        if !self.resumes {
            return None;
        }
        let (source, missed) = self.trails.resume(after, now(), bounds)?;
        let rest = match source {
            Source::Unasked => {
                let (reader, before) = self.listeners.attach(after.stream);
                self.wakers.extend(before);
                Remaining::Unasked(after.stream, reader)
            }
            Source::Reply(key) => self.take_over(key),
            Source::Silence => Remaining::Silence,
        };
        Some((missed, rest))
    }

    /// Puts a new reader in place of whoever read a reply before.
    fn take_over(&mut self, key: RequestKey) -> Remaining {
        let reply = self.replies.get_mut(key);
        let Some(reply) = reply.filter(|reply| !reply.is_answered) else {
            return Remaining::Nothing;
        };
        reply.reader += 1;
        reply.is_read = true;
        reply.is_detaching = false;
        self.wakers.extend(reply.waker.take());
        Remaining::Reply(key, reply.reader)
    }

    /// Whether nobody has taken the place of this reader.
    #[inline]
    pub(in crate::server::session) fn is_reader(&self, key: RequestKey, reader: u32) -> bool {
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| reply.reader == reader)
    }
}
