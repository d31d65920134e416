//! Where the messages of a session wait for their readers.

use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

use pintle_proto::{
    Incoming, Kind, Lane as Destination, Limits, Outbox, RequestKey, Ticket, Transmit,
};
use tokio::task::AbortHandle;

use crate::server::events::Said;

/// The lanes of a session.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    replies: Replies,
    /// What the server says unasked. It waits here while no stream is open.
    unasked: Outbox,
    /// The open streams by age; the newest hears everything.
    streams: BTreeMap<u64, Option<Waker>>,
    opened: u64,
    /// No stream is served any more.
    is_mute: bool,
    wakers: Vec<Waker>,
}

/// The replies by their key. Keys grow, so whichever is opened comes last.
#[derive(Debug, Default)]
struct Replies(Vec<(RequestKey, Reply)>);

/// The reply to one post.
#[derive(Debug, Default)]
struct Reply {
    start: Option<(Ticket, Incoming)>,
    outbox: Outbox,
    waker: Option<Waker>,
    is_cancelled: bool,
    /// Its post is gone; the handler goes on without a reader.
    detached: Option<AbortHandle>,
}

/// What a post finds on its lane. Closed: it starts, hears, or stops.
pub(super) enum Next {
    /// The request may run now.
    Start(Ticket, Incoming),
    /// A message for the client.
    Say(Said),
    /// The request was cancelled.
    Stop,
}

impl Lanes {
    /// Opens the lane of a request.
    pub(super) fn open(&mut self, key: RequestKey) {
        self.replies.open(key);
    }

    /// Closes the lane of a request whose reply has been read.
    pub(super) fn close(&mut self, key: RequestKey) {
        self.replies.remove(key);
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
            self.replies.remove(key);
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

    /// Notes that a handler goes on without a reader: what it says is lost. False if its answer is
    /// not wanted any more.
    pub(super) fn detach(&mut self, key: RequestKey, handler: AbortHandle) -> bool {
        let wanted = self.replies.get_mut(key);
        let Some(reply) = wanted.filter(|reply| !reply.is_cancelled) else {
            return false;
        };
        reply.outbox = Outbox::default();
        reply.detached = Some(handler);
        true
    }

    pub(super) fn push(&mut self, transmit: Transmit, limits: &Limits) {
        match transmit.lane {
            Destination::Session => {
                self.unasked.push(transmit, limits);
                self.wake_newest();
            }
            Destination::Reply(key) => self.push_reply(key, transmit, limits),
        }
    }

    fn push_reply(&mut self, key: RequestKey, transmit: Transmit, limits: &Limits) {
        let Some(reply) = self.replies.get_mut(key) else {
            return;
        };
        if reply.detached.is_none() {
            reply.outbox.push(transmit, limits);
            self.wakers.extend(reply.waker.take());
        } else if matches!(transmit.kind, Kind::Answer(_)) {
            self.replies.remove(key);
        }
    }

    /// What comes next on the lane of a request, if it is there already.
    pub(super) fn next_reply(&mut self, key: RequestKey) -> Option<Next> {
        let Some(reply) = self.replies.get_mut(key) else {
            return Some(Next::Stop);
        };
        // Whoever asks is awake.
        reply.waker = None;
        if let Some((ticket, incoming)) = reply.start.take() {
            return Some(Next::Start(ticket, incoming));
        }
        match reply.outbox.pop() {
            Some(transmit) => Some(Next::Say(transmit.into())),
            None => reply.is_cancelled.then_some(Next::Stop),
        }
    }

    /// As [`Lanes::next_reply`]; when there is nothing, `cx` is woken once there is.
    pub(super) fn poll_reply(&mut self, key: RequestKey, cx: &Context<'_>) -> Poll<Next> {
        let next = self.next_reply(key);
        if next.is_none()
            && let Some(reply) = self.replies.get_mut(key)
        {
            reply.waker = Some(cx.waker().clone());
        }
        next.map_or(Poll::Pending, Poll::Ready)
    }

    /// Opens a stream, which hears everything from now on.
    pub(super) fn open_stream(&mut self) -> u64 {
        self.opened += 1;
        self.streams.insert(self.opened, None);
        self.opened
    }

    /// Closes a stream; the next newest hears what is left.
    pub(super) fn close_stream(&mut self, number: u64) {
        self.streams.remove(&number);
        self.wake_newest();
    }

    /// Closes all streams, for good.
    pub(super) fn close_streams(&mut self) {
        self.is_mute = true;
        self.wake_all();
    }

    /// What comes next on a stream; none at its end.
    pub(super) fn poll_unasked(&mut self, number: u64, cx: &Context<'_>) -> Poll<Option<Said>> {
        if self.is_mute {
            return Poll::Ready(None);
        }
        let is_newest = self
            .streams
            .last_key_value()
            .is_some_and(|(newest, _)| *newest == number);
        if is_newest && let Some(transmit) = self.unasked.pop() {
            return Poll::Ready(Some(transmit.into()));
        }
        self.streams.insert(number, Some(cx.waker().clone()));
        Poll::Pending
    }

    /// Whether nobody waits here for anything.
    pub(super) fn is_unused(&self) -> bool {
        self.replies.0.is_empty() && self.streams.is_empty()
    }

    /// Whether the reader of a lane is so slow that notices are about to be merged or dropped.
    pub(super) fn is_behind(&self, key: RequestKey, limits: &Limits) -> bool {
        self.replies
            .get(key)
            .is_some_and(|reply| reply.outbox.is_full(limits))
    }

    /// Wakes everybody, to look again.
    pub(super) fn wake_all(&mut self) {
        self.wakers.extend(
            self.replies
                .values_mut()
                .filter_map(|reply| reply.waker.take()),
        );
        self.wakers
            .extend(self.streams.values_mut().filter_map(Option::take));
    }

    pub(super) fn take_wakers(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers)
    }

    fn wake_newest(&mut self) {
        if let Some(mut newest) = self.streams.last_entry() {
            self.wakers.extend(newest.get_mut().take());
        }
    }
}

impl Replies {
    fn open(&mut self, key: RequestKey) {
        self.0.push((key, Reply::default()));
    }

    fn get(&self, key: RequestKey) -> Option<&Reply> {
        let (_, reply) = self.0.get(self.position(key)?)?;
        Some(reply)
    }

    fn get_mut(&mut self, key: RequestKey) -> Option<&mut Reply> {
        let at = self.position(key)?;
        self.0.get_mut(at).map(|(_, reply)| reply)
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut Reply> {
        self.0.iter_mut().map(|(_, reply)| reply)
    }

    fn remove(&mut self, key: RequestKey) {
        if let Some(at) = self.position(key) {
            self.0.remove(at);
        }
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok()
    }
}
