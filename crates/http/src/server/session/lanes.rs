//! Where the messages of a session wait for their readers.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_model::Feature;
use pintle_proto::{
    Class, Incoming, Kind, Lane as Destination, Outbox, RequestKey, Terms, Ticket, Transmit,
};
use tokio::task::AbortHandle;

use super::bounds::{Bounds, Replay};
use super::event_id::EventId;
use super::listeners::Listeners;
use super::replies::{Replies, Reply};
use super::trails::{Source, Trails};
use crate::server::events::Said;

/// The lanes of a session.
#[derive(Debug)]
pub(super) struct Lanes {
    replies: Replies,
    /// What the server says unasked. It waits here while no stream is open.
    unasked: Outbox,
    listeners: Listeners,
    trails: Trails,
    /// Whether clients may come back to a stream.
    resumes: bool,
    /// Whether a stream begins with something to come back to, and may be closed early.
    primes: bool,
    /// No stream is served any more.
    is_mute: bool,
    wakers: Vec<Waker>,
}

/// What a post finds on its lane. Closed: it starts, hears, or goes.
pub(super) enum Next {
    /// The request may run now.
    Start(Ticket, Incoming),
    /// A message for the client.
    Say(Said),
    /// The request was cancelled.
    Stop,
    /// The request goes on, but not here.
    Part,
}

/// What a client that comes back goes on hearing. Closed by design.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest {
    /// The reply to a request that still runs.
    Reply(RequestKey, u32),
    /// What the server says unasked.
    Unasked(u64, u32),
    /// Nothing: all was said.
    Nothing,
}

impl Lanes {
    /// The lanes of a session on these terms.
    pub(super) fn new(tag: u32, terms: Option<&Terms>) -> Self {
        let has = |feature| terms.is_some_and(|terms| terms.has(feature));
        Self {
            replies: Replies::default(),
            unasked: Outbox::default(),
            listeners: Listeners::default(),
            trails: Trails::new(tag),
            resumes: has(Feature::Resumption),
            primes: has(Feature::PrimingEvent),
            is_mute: false,
            wakers: Vec::new(),
        }
    }

    /// Opens the lane of a request.
    pub(super) fn open(&mut self, key: RequestKey) {
        self.replies.open(key);
    }

    pub(super) fn start(&mut self, ticket: Ticket, incoming: Incoming) {
        if let Some(reply) = self.replies.get_mut(incoming.key) {
            reply.start = Some((ticket, incoming));
            self.wakers.extend(reply.waker.take());
        }
    }

    pub(super) fn cancel(&mut self, key: RequestKey) {
        let Some(reply) = self.replies.get_mut(key) else {
            return;
        };
        reply.is_cancelled = true;
        self.wakers.extend(reply.waker.take());
        if let Some(handler) = reply.detached.take() {
            handler.abort();
        }
        if !reply.is_read {
            self.close(key);
        }
    }

    /// Takes a request that has not been started.
    pub(super) fn take_start(&mut self, key: RequestKey) -> Option<(Ticket, Incoming)> {
        self.replies.get_mut(key)?.start.take()
    }

    /// Whether the answer to a request is still wanted.
    pub(super) fn is_wanted(&self, key: RequestKey) -> bool {
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| !reply.is_cancelled)
    }

    pub(super) fn push(&mut self, transmit: Transmit, bounds: &Bounds) {
        match transmit.lane {
            Destination::Session => self.push_unasked(transmit, bounds),
            Destination::Reply(key) => self.push_reply(key, transmit, bounds),
        }
    }

    fn push_unasked(&mut self, transmit: Transmit, bounds: &Bounds) {
        self.unasked.push(transmit, &bounds.conversation);
        self.wakers.extend(self.listeners.take_newest_waker());
    }

    fn push_reply(&mut self, key: RequestKey, transmit: Transmit, bounds: &Bounds) {
        let is_answer = matches!(transmit.kind, Kind::Answer(_));
        let Some(reply) = self.replies.get_mut(key) else {
            return;
        };
        if reply.is_unheard() {
            if is_answer {
                self.replies.remove(key);
            } else if is_of_a_question(&transmit) {
                self.push_unasked(transmit, bounds);
            }
            return;
        }
        reply.has_answer |= is_answer;
        reply.outbox.push(transmit, &bounds.conversation);
        self.wakers.extend(reply.waker.take());
        if is_answer && !reply.is_read {
            self.keep_rest(key, &bounds.replay);
        }
    }

    /// What comes next on the lane of a request, if it is there already.
    pub(super) fn next_reply(
        &mut self,
        key: RequestKey,
        reader: u32,
        bounds: &Bounds,
    ) -> Option<Next> {
        match self.replies.get_mut(key) {
            Some(reply) if reply.reader == reader => {
                // Whoever asks is awake.
                reply.waker = None;
                if let Some((ticket, incoming)) = reply.start.take() {
                    return Some(Next::Start(ticket, incoming));
                }
            }
            Some(_) => return Some(Next::Part),
            None => return Some(Next::Stop),
        }
        self.next_said(key, &bounds.replay)
    }

    fn next_said(&mut self, key: RequestKey, bounds: &Replay) -> Option<Next> {
        let reply = self.replies.get_mut(key)?;
        if let Some(transmit) = reply.outbox.pop() {
            let is_answer = matches!(transmit.kind, Kind::Answer(_));
            if !is_answer && reply.stream.is_none() {
                self.open_reply_stream(key, bounds);
            } else if is_answer {
                reply.is_answered = true;
            }
            return Some(Next::Say(self.say(key, transmit.into(), bounds)));
        }
        if reply.is_cancelled {
            return Some(Next::Stop);
        }
        std::mem::take(&mut reply.is_parting).then_some(Next::Part)
    }

    fn say(&mut self, key: RequestKey, said: Said, bounds: &Replay) -> Said {
        match self.replies.get(key).and_then(|reply| reply.stream) {
            Some(stream) => self.trails.say(stream, said, bounds),
            None => said,
        }
    }

    /// As [`Lanes::next_reply`]; when there is nothing, `cx` is woken once there is.
    pub(super) fn poll_reply(
        &mut self,
        key: RequestKey,
        reader: u32,
        cx: &Context<'_>,
        bounds: &Bounds,
    ) -> Poll<Next> {
        let next = self.next_reply(key, reader, bounds);
        if next.is_none()
            && let Some(reply) = self.replies.get_mut(key)
        {
            reply.waker = Some(cx.waker().clone());
        }
        next.map_or(Poll::Pending, Poll::Ready)
    }

    /// Makes the reply to a request a stream that its client can come back to, where there is such
    /// a thing; gives the name of its beginning, where clients know that.
    pub(super) fn open_reply_stream(
        &mut self,
        key: RequestKey,
        bounds: &Replay,
    ) -> Option<EventId> {
        let reply = self.replies.get_mut(key)?;
        if !self.resumes {
            return None;
        }
        let stream = *reply
            .stream
            .get_or_insert_with(|| self.trails.open(Source::Reply(key), bounds));
        self.primes.then(|| self.trails.beginning(stream))
    }

    /// Lets the reader of a reply go once it has heard what was said so far; false where its client
    /// would not come back.
    pub(super) fn part(&mut self, key: RequestKey, bounds: &Replay) -> bool {
        if !self.primes {
            return false;
        }
        let Some(reply) = self
            .replies
            .get_mut(key)
            .filter(|reply| reply.is_read && !reply.is_cancelled)
        else {
            return false;
        };
        reply.is_parting = true;
        self.wakers.extend(reply.waker.take());
        self.open_reply_stream(key, bounds).is_some()
    }

    /// Notes that a handler goes on without its post. What it says waits for its client to come
    /// back; if there is nothing to come back to, it is lost, except for questions: those leave as
    /// if they were asked by nobody in particular. False if its answer is not wanted any more.
    pub(super) fn detach(
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
    pub(super) fn release(&mut self, key: RequestKey, reader: u32, bounds: &Bounds) {
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
            if is_of_a_question(&transmit) {
                self.push_unasked(transmit, bounds);
            }
        }
    }

    /// Lets a reader that came back go: for good if all was said.
    pub(super) fn leave(&mut self, key: RequestKey, reader: u32, bounds: &Bounds) {
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
    pub(super) fn keep_rest(&mut self, key: RequestKey, bounds: &Replay) -> bool {
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
    pub(super) fn close(&mut self, key: RequestKey) {
        let Some(reply) = self.replies.remove(key) else {
            return;
        };
        self.wakers.extend(reply.waker);
        match reply.stream {
            Some(stream) if reply.is_cancelled => self.trails.forget(stream),
            Some(stream) => self.trails.leave(stream, now()),
            None => {}
        }
    }

    /// Opens a stream, which hears everything from now on; gives the name of its beginning, where
    /// clients know that.
    pub(super) fn listen(&mut self, bounds: &Replay) -> (Rest, Option<EventId>) {
        let stream = self.trails.open(Source::Unasked, bounds);
        let (reader, _) = self.listeners.attach(stream);
        let beginning = self.primes.then(|| self.trails.beginning(stream));
        (Rest::Unasked(stream, reader), beginning)
    }

    /// Goes on with a stream after an event: what was missed, and what is still to come.
    pub(super) fn resume(
        &mut self,
        after: EventId,
        bounds: &Replay,
    ) -> Option<(VecDeque<Said>, Rest)> {
        if !self.resumes {
            return None;
        }
        let (source, missed) = self.trails.resume(after, now(), bounds)?;
        let rest = match source {
            Source::Unasked => {
                let (reader, before) = self.listeners.attach(after.stream);
                self.wakers.extend(before);
                Rest::Unasked(after.stream, reader)
            }
            Source::Reply(key) => self.take_over(key),
        };
        Some((missed, rest))
    }

    /// Puts a new reader in place of whoever read a reply before.
    fn take_over(&mut self, key: RequestKey) -> Rest {
        let reply = self.replies.get_mut(key);
        let Some(reply) = reply.filter(|reply| !reply.is_answered) else {
            return Rest::Nothing;
        };
        reply.reader += 1;
        reply.is_read = true;
        reply.is_parting = false;
        self.wakers.extend(reply.waker.take());
        Rest::Reply(key, reply.reader)
    }

    /// Whether nobody has taken the place of this reader.
    pub(super) fn is_reader(&self, key: RequestKey, reader: u32) -> bool {
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| reply.reader == reader)
    }

    /// Closes a stream; the next newest hears what is left.
    pub(super) fn hang_up(&mut self, stream: u64, reader: u32) {
        if !self.listeners.detach(stream, reader) {
            return;
        }
        if self.resumes {
            self.trails.leave(stream, now());
        } else {
            self.trails.forget(stream);
        }
        self.wakers.extend(self.listeners.take_newest_waker());
    }

    /// Closes all streams, for good.
    pub(super) fn close_streams(&mut self) {
        self.is_mute = true;
        self.wake_all();
    }

    /// What comes next on a stream; none at its end.
    pub(super) fn poll_unasked(
        &mut self,
        stream: u64,
        reader: u32,
        cx: &Context<'_>,
        bounds: &Replay,
    ) -> Poll<Option<Said>> {
        if self.is_mute || !self.listeners.is_reader(stream, reader) {
            return Poll::Ready(None);
        }
        if self.listeners.is_newest(stream)
            && let Some(transmit) = self.unasked.pop()
        {
            let said = Said::from(transmit);
            return Poll::Ready(Some(if self.resumes {
                self.trails.say(stream, said, bounds)
            } else {
                said
            }));
        }
        self.listeners.wait(stream, cx.waker());
        Poll::Pending
    }

    /// Whether nobody waits here for anything.
    pub(super) fn is_unused(&self) -> bool {
        self.replies.is_empty() && self.listeners.is_empty()
    }

    /// Whether clients are told where to come back to before anything else.
    pub(super) fn primes(&self) -> bool {
        self.primes
    }

    /// Forgets what nobody came back to in time.
    pub(super) fn expire(&mut self, now: Instant, bounds: &Replay) {
        self.trails.expire(now, bounds);
    }

    /// Whether the reader of a lane is so slow that notices are about to be merged or dropped.
    pub(super) fn is_behind(&self, key: RequestKey, bounds: &Bounds) -> bool {
        self.replies
            .get(key)
            .is_some_and(|reply| reply.is_read && reply.outbox.is_full(&bounds.conversation))
    }

    /// Wakes everybody, to look again.
    pub(super) fn wake_all(&mut self) {
        self.wakers.extend(
            self.replies
                .values_mut()
                .filter_map(|reply| reply.waker.take()),
        );
        self.wakers.extend(self.listeners.take_wakers());
    }

    pub(super) fn take_wakers(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers)
    }
}

/// A question, or that it is taken back: nobody else can say that.
fn is_of_a_question(transmit: &Transmit) -> bool {
    matches!(transmit.kind, Kind::Call(_) | Kind::Notice(Class::Must))
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
