//! Readers of replies: they leave, resume, and replace each other.

use pintle_proto::RequestKey;
use tokio::task::AbortHandle;

use super::shared::Resumed;
use super::{Lanes, Remaining, now};
use crate::rules::event_id::EventId;
use crate::server::session::bounds::{Bounds, Replay};
use crate::server::session::replay_buffer::Source;
use crate::server::session::replies::{Reply, ReplyFormat};

impl Lanes {
    /// Turns the reply to a request into a stream that its client can resume, if the revision has
    /// that. Returns the event id of its beginning, if the revision has a priming event.
    pub(in crate::server::session) fn open_reply_stream(
        &mut self,
        key: RequestKey,
        bounds: &Bounds,
    ) -> Option<EventId> {
        let reply = self.replies.get_mut(key)?;
        if !self.resumes || reply.form != ReplyFormat::Own {
            return None;
        }
        let stream = match reply.stream {
            Some(stream) => stream,
            None => {
                let stream = self.replay.open(Source::Reply(key), &bounds.replay);
                reply.stream = Some(stream);
                self.begin_log_of_reply(key, stream, bounds);
                stream
            }
        };
        self.primes.then(|| self.replay.beginning(stream))
    }

    /// Detaches the reader of a reply after the messages that wait now. Returns false if the client
    /// would not resume.
    pub(in crate::server::session) fn detach_client(
        &mut self,
        key: RequestKey,
        bounds: &Bounds,
    ) -> bool {
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

    /// Records that a handler continues without its post. Its messages wait for the client to resume.
    /// If the reply is not a stream, they are lost, except for questions: these leave on the other
    /// streams of the session. Returns false if the request was cancelled.
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

    /// Records that a reader is gone, unless another one has replaced it.
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
        if let Some(held) = reply.held() {
            held.clear();
        }
        if !reply.is_unreachable() {
            return self.log_unread(key, bounds);
        }
        let mut unread = std::mem::take(&mut reply.outbox);
        while let Some(transmit) = unread.pop() {
            self.redirect(transmit, bounds);
        }
    }

    /// Records that a resumed reader left. Closes the lane if the reply has ended.
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

    /// Moves the unread rest of a complete reply to the replay buffer. Returns false if the reply is
    /// incomplete or is not a stream.
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
            self.replay.record(stream, transmit.into(), bounds);
        }
        self.replay.leave(stream, now());
        true
    }

    /// Closes the lane of a request whose answer has left or will not follow.
    pub(in crate::server::session) fn close(&mut self, key: RequestKey) {
        let Some(reply) = self.replies.get_mut(key) else {
            return;
        };
        self.wakers.extend(reply.waker.take());
        match reply.stream {
            Some(stream) if reply.is_cancelled => self.replay.cancel(stream, now()),
            Some(stream) => self.replay.leave(stream, now()),
            None => {}
        }
        self.replies.discard(key);
    }

    /// Resumes a stream after an event. Returns the missed messages and the source of later ones.
    pub(in crate::server::session) fn resume(
        &mut self,
        after: EventId,
        bounds: &Replay,
    ) -> Option<Resumed> {
        if !self.resumes || self.is_elsewhere(after) {
            return None;
        }
        let (source, missed) = self.replay.resume(after, now(), bounds)?;
        let released = self.replay.released(after.stream);
        let rest = match source {
            Source::Unsolicited => {
                let (reader, before) = self.listeners.attach(after.stream, released.clone());
                self.wakers.extend(before);
                Remaining::Unsolicited(after.stream, reader)
            }
            Source::Reply(key) => self.take_over(key),
            Source::Cancelled => Remaining::Cancelled,
        };
        Some(Resumed {
            missed,
            rest,
            released,
        })
    }

    /// Replaces the reader of a reply.
    pub(super) fn take_over(&mut self, key: RequestKey) -> Remaining {
        let reply = self.replies.get_mut(key);
        let Some(reply) = reply.filter(|reply| !reply.is_answered) else {
            return Remaining::Nothing;
        };
        reply.reader += 1;
        reply.is_read = true;
        reply.is_detaching = false;
        if let Some(held) = reply.held() {
            held.clear();
        }
        self.wakers.extend(reply.waker.take());
        Remaining::Reply(key, reply.reader)
    }

    /// Returns true if no other reader has replaced this one.
    #[inline]
    pub(in crate::server::session) fn is_reader(&self, key: RequestKey, reader: u32) -> bool {
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| reply.reader == reader)
    }
}
