//! Where the messages of a session wait for their readers.
//!
//! # From lane to stream
//!
//! ```text
//! lane of the engine    outbox here        reader
//!
//! Reply(key) ─────────► replies[key] ────► the response to the POST, or the GET that resumes it
//!    │                                            │
//!    │ only questions, if no client               ├──► trails: an event id, and a copy for replay
//!    │ reads notices there                        │    where clients can resume
//!    ▼                                            │
//! Session ────────────► unasked ─────────► the newest GET stream, if there is one
//! ```
//!
//! A session of one stream sends both lanes to `unasked`, and its stream is the only reader. A message
//! gets its event id when it leaves its outbox, so that merged and dropped messages leave no gap.

mod readers;
mod unsolicited;

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_model::Feature;
use pintle_proto::{
    DropPolicy, IncomingRequest, Lane as Destination, Outbox, RequestKey, Terms, Ticket, Transmit,
    TransmitKind,
};

use super::bounds::{Bounds, Replay};
use super::listeners::Listeners;
use super::replay_buffer::ReplayBuffer;
use super::replies::{Replies, ReplyFormat};
use crate::server::events::OutgoingMessage;

/// The lanes of a session.
#[derive(Debug)]
pub(super) struct Lanes {
    // An entry here or in `listeners` means that the session is in use. Entries come and go only
    // inside `Session::change`, because `last_use` is set there.
    replies: Replies,
    /// What the server says unasked. It waits here while no stream is open.
    unasked: Outbox,
    // Only the newest reads `unasked`, because an older one may belong to a broken connection.
    listeners: Listeners,
    // A message enters when it leaves its outbox, because it may be merged or dropped before.
    trails: ReplayBuffer,
    /// Whether everything is said on the one stream of the session, replies as well.
    // Such a session has replies without messages: they show that requests are open.
    is_one: bool,
    /// Requests of such a session that may run now.
    // Empty in other sessions, because there each post starts its own request.
    starts: Vec<(Ticket, IncomingRequest)>,
    /// Whether clients may come back to a stream.
    // False in a session of one stream, because that opens before a revision is agreed on.
    resumes: bool,
    /// Whether a stream begins with something to come back to, and may be closed early.
    primes: bool,
    /// No stream is served any more.
    // Final. It ends the readers of `unasked` only, because open requests may still finish.
    is_mute: bool,
    // Filled only inside `Session::change`, because that wakes them after unlock.
    wakers: Vec<Waker>,
}

/// How many streams a session speaks on. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum StreamLayout {
    /// One for every reply, and others for what the server says unasked.
    ManyStreams,
    /// One for everything, which is the session: both end together.
    OneStream,
}

/// What a post finds on its lane. Closed: it starts, hears, or goes.
pub(super) enum PostEvent {
    /// The request may run now.
    Start(Ticket, IncomingRequest),
    /// A message for the client.
    Say(OutgoingMessage),
    /// The request was cancelled.
    Stop,
    /// The request goes on, but not here.
    Part,
}

/// What a client that comes back goes on hearing. Closed by design.
#[derive(Debug, Clone, Copy)]
pub(super) enum Remaining {
    /// The reply to a request that still runs.
    Reply(RequestKey, u32),
    /// What the server says unasked.
    Unasked(u64, u32),
    /// Nothing: all was said.
    Nothing,
    /// Nothing: it was cancelled.
    Silence,
}

impl Lanes {
    /// The lanes of a session on these terms.
    pub(super) fn new(tag: u32, shape: StreamLayout, terms: Option<&Terms>) -> Self {
        let has = |feature| terms.is_some_and(|terms| terms.has(feature));
        Self {
            replies: Replies::default(),
            unasked: Outbox::default(),
            listeners: Listeners::default(),
            trails: ReplayBuffer::new(tag),
            is_one: shape == StreamLayout::OneStream,
            starts: Vec::new(),
            resumes: has(Feature::Resumption),
            primes: has(Feature::PrimingEvent),
            is_mute: false,
            wakers: Vec::new(),
        }
    }

    /// Opens the lane of a request.
    pub(super) fn open(&mut self, key: RequestKey, form: ReplyFormat) {
        self.replies.open(key, form);
    }

    pub(super) fn start(&mut self, ticket: Ticket, incoming: IncomingRequest) {
        if self.is_one {
            self.replies.open(incoming.key, ReplyFormat::Own);
            return self.starts.push((ticket, incoming));
        }
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
    #[inline]
    pub(super) fn take_start(&mut self, key: RequestKey) -> Option<(Ticket, IncomingRequest)> {
        self.replies.get_mut(key)?.start.take()
    }

    /// Whether the answer to a request is still wanted.
    #[inline]
    pub(super) fn is_wanted(&self, key: RequestKey) -> bool {
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| !reply.is_cancelled)
    }

    pub(super) fn push(&mut self, transmit: Transmit, bounds: &Bounds) {
        match transmit.lane {
            Destination::Reply(key) if self.is_one => {
                if matches!(transmit.kind, TransmitKind::Answer(_)) {
                    self.replies.remove(key);
                }
                self.push_unasked(transmit, bounds);
            }
            Destination::Session => self.push_unasked(transmit, bounds),
            Destination::Reply(key) => self.push_reply(key, transmit, bounds),
        }
    }

    fn push_reply(&mut self, key: RequestKey, transmit: Transmit, bounds: &Bounds) {
        let is_answer = matches!(transmit.kind, TransmitKind::Answer(_));
        let Some(reply) = self.replies.get_mut(key) else {
            return;
        };
        if reply.is_mute() && !is_answer {
            return self.redirect(transmit, bounds);
        }
        if reply.is_unheard() {
            self.replies.remove(key);
            return;
        }
        reply.has_answer |= is_answer;
        reply.outbox.push(transmit, &bounds.conversation);
        self.wakers.extend(reply.waker.take());
        if is_answer && !reply.is_read {
            self.keep_rest(key, &bounds.replay);
        }
    }

    /// Says elsewhere what is not heard where it belongs, if it must be heard.
    fn redirect(&mut self, transmit: Transmit, bounds: &Bounds) {
        if is_of_a_question(&transmit) {
            self.push_unasked(transmit, bounds);
        }
    }

    /// What comes next on the lane of a request, if it is there already.
    pub(super) fn next_reply(
        &mut self,
        key: RequestKey,
        reader: u32,
        bounds: &Bounds,
    ) -> Option<PostEvent> {
        match self.replies.get_mut(key) {
            Some(reply) if reply.reader == reader => {
                // Whoever asks is awake.
                reply.waker = None;
                if let Some((ticket, incoming)) = reply.start.take() {
                    return Some(PostEvent::Start(ticket, incoming));
                }
            }
            Some(_) => return Some(PostEvent::Part),
            None => return Some(PostEvent::Stop),
        }
        self.next_said(key, &bounds.replay)
    }

    fn next_said(&mut self, key: RequestKey, bounds: &Replay) -> Option<PostEvent> {
        let reply = self.replies.get_mut(key)?;
        if let Some(transmit) = reply.outbox.pop() {
            let is_answer = matches!(transmit.kind, TransmitKind::Answer(_));
            if !is_answer && reply.stream.is_none() {
                self.open_reply_stream(key, bounds);
            } else if is_answer {
                reply.is_answered = true;
            }
            return Some(PostEvent::Say(self.say(key, transmit.into(), bounds)));
        }
        if reply.is_cancelled {
            return Some(PostEvent::Stop);
        }
        std::mem::take(&mut reply.is_detaching).then_some(PostEvent::Part)
    }

    fn say(&mut self, key: RequestKey, said: OutgoingMessage, bounds: &Replay) -> OutgoingMessage {
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
    ) -> Poll<PostEvent> {
        let next = self.next_reply(key, reader, bounds);
        if next.is_none()
            && let Some(reply) = self.replies.get_mut(key)
        {
            reply.waker = Some(cx.waker().clone());
        }
        next.map_or(Poll::Pending, Poll::Ready)
    }

    /// Whether nobody waits here for anything.
    pub(super) fn is_unused(&self) -> bool {
        self.replies.is_empty() && self.listeners.is_empty()
    }

    /// Whether clients are told where to come back to before anything else.
    #[inline]
    pub(super) fn primes(&self) -> bool {
        self.primes
    }

    /// Forgets what nobody came back to in time.
    pub(super) fn expire(&mut self, now: Instant, bounds: &Replay) {
        self.trails.expire(now, bounds);
    }

    /// Takes the requests that may run now, on the one stream there is.
    #[cfg(feature = "sse")]
    pub(super) fn take_starts(&mut self) -> Vec<(Ticket, IncomingRequest)> {
        std::mem::take(&mut self.starts)
    }

    /// Whether another message should be taken in: not while too much waits for the one stream to
    /// be read, because answers are never dropped.
    #[cfg(feature = "sse")]
    pub(super) fn has_room(&self, bounds: &Bounds) -> bool {
        let limits = &bounds.conversation;
        let messages = limits.max_running_requests + limits.max_queued_notices;
        self.unasked.len() < messages && self.unasked.bytes() < limits.max_outgoing_bytes
    }

    /// Whether the reader of a lane is so slow that notices are about to be merged or dropped.
    pub(super) fn is_behind(&self, key: RequestKey, bounds: &Bounds) -> bool {
        if self.is_one {
            return self.unasked.is_full(&bounds.conversation);
        }
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
    matches!(
        transmit.kind,
        TransmitKind::Call(_) | TransmitKind::Notice(DropPolicy::Never)
    )
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
