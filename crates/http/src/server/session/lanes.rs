//! The queues in which messages of a session wait for their readers.
//!
//! # From lane to stream
//!
//! ```text
//! lane of the engine    outbox here        reader
//!
//! Reply(key) ─────────► replies[key] ────► the response to the POST, or the GET that resumes it
//!    │                                            │
//!    │ only questions, if no client               ├──► replay: an event id, and a stored copy
//!    │ reads notices there                        │    where clients can resume
//!    ▼                                            │
//! Session ────────────► unsolicited ─────────► the newest GET stream, if there is one
//! ```
//!
//! A session of one stream sends both lanes to `unsolicited`, and its stream is the only reader. A message
//! gets its event id when it leaves its outbox, so that merged and dropped messages leave no gap.

mod readers;
mod shared;
mod unsolicited;

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_model::Feature;
use pintle_proto::{
    DropPolicy, IncomingRequest, Lane as Destination, Outbox, RequestKey, Terms, Ticket, Transmit,
    TransmitKind,
};

pub(in crate::server) use shared::HandedOver;
pub(super) use shared::Resumed;

use super::bounds::{Bounds, Replay};
use super::journal::Waiting;
use super::listeners::Listeners;
use super::replay_buffer::ReplayBuffer;
use super::replies::{Replies, Reply, ReplyFormat, SharedReply};
use crate::rules::session_id::SessionId;
use crate::server::events::{OutgoingMessage, WORTH_WAITING};

/// The lanes of a session.
#[derive(Debug)]
pub(super) struct Lanes {
    // An entry here or in `listeners` means that the session is in use. Entries come and go only
    // before `Session::settle`, because `last_use` is set there.
    replies: Replies,
    /// Messages that belong to no request. They wait here while no stream is open.
    unsolicited: Outbox,
    // Only the newest reads `unsolicited`, because an older one may belong to a broken connection.
    listeners: Listeners,
    // A message enters when it leaves its outbox, because it may be merged or dropped before.
    replay: ReplayBuffer,
    /// Whether the session has one stream, which carries the replies, too.
    // Such a session has replies without messages: they show that requests are open.
    is_one: bool,
    /// Requests of such a session that may run now.
    // Empty in other sessions, because there each post starts its own request.
    starts: Vec<(Ticket, Box<IncomingRequest>)>,
    /// Whether clients may resume a stream.
    // False in a session of one stream, because that opens before a revision is agreed on.
    resumes: bool,
    /// Whether a stream begins with an event id, and may be closed before its end.
    primes: bool,
    /// Present if other replicas can resume the streams.
    shared: Option<Box<SessionId>>,
    /// The size of the messages that wait for the logs of their streams.
    waiting: Option<Waiting>,
    /// Whether the session has stopped serving streams.
    // Final. It ends the readers of `unsolicited` only, because open requests may still finish.
    is_mute: bool,
    // Filled only before `Session::settle`, because that wakes them after unlock.
    wakers: Vec<Waker>,
}

/// The number of streams of a session. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum StreamLayout {
    /// One stream for each reply, and others for messages that belong to no request.
    ManyStreams,
    /// One stream for all messages. The stream and the session end together.
    OneStream,
}

/// The next event on the lane of a post. Closed by design.
pub(super) enum PostEvent {
    /// The request may run now.
    Start(Ticket, Box<IncomingRequest>),
    /// A message for the client.
    Send(OutgoingMessage),
    /// The request was cancelled.
    Stop,
    /// The request continues without this reader.
    Detach,
}

/// The messages that follow on a resumed stream. Closed by design.
#[derive(Debug, Clone, Copy)]
pub(super) enum Remaining {
    /// The reply to a request that still runs.
    Reply(RequestKey, u32),
    /// The messages that belong to no request.
    Unsolicited(u64, u32),
    /// Nothing: all messages have left.
    Nothing,
    /// Nothing: the request was cancelled.
    Cancelled,
}

impl Lanes {
    /// Creates the lanes of a session that has these terms.
    pub(super) fn new(tag: u32, layout: StreamLayout, terms: Option<&Terms>) -> Self {
        let has = |feature| terms.is_some_and(|terms| terms.has(feature));
        Self {
            replies: Replies::default(),
            unsolicited: Outbox::default(),
            listeners: Listeners::default(),
            replay: ReplayBuffer::new(tag),
            is_one: layout == StreamLayout::OneStream,
            starts: Vec::new(),
            resumes: has(Feature::Resumption),
            primes: has(Feature::PrimingEvent),
            shared: None,
            waiting: None,
            is_mute: false,
            wakers: Vec::new(),
        }
    }

    /// Lets other replicas resume the streams of this session.
    pub(super) fn share(&mut self, session: SessionId) {
        self.shared = self.resumes.then(|| Box::new(session));
    }

    /// Opens the lane of a request. `request` is its id as JSON, if other replicas can resume the reply.
    pub(super) fn open(&mut self, key: RequestKey, form: ReplyFormat, request: Option<Box<str>>) {
        let reply = self.replies.open(key, form);
        if let Some(request) = request {
            let held = None;
            reply.shared = Some(Box::new(SharedReply { request, held }));
        }
    }

    pub(super) fn start(&mut self, ticket: Ticket, incoming: Box<IncomingRequest>) {
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
        // In a session of one stream, no reader of a reply closes it.
        if !reply.is_read || self.is_one {
            self.close(key);
        }
    }

    /// Removes and returns a request that has not started.
    #[inline]
    pub(super) fn take_start(&mut self, key: RequestKey) -> Option<(Ticket, Box<IncomingRequest>)> {
        self.replies.get_mut(key)?.start.take()
    }

    /// Returns true if a request is open and not cancelled.
    #[inline]
    pub(super) fn is_wanted(&self, key: RequestKey) -> bool {
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| !reply.is_cancelled)
    }

    pub(super) fn push(&mut self, transmit: Transmit, bounds: &Bounds) {
        match transmit.lane {
            Destination::Reply(key) if self.is_one => {
                if matches!(transmit.kind, TransmitKind::Answer(_)) {
                    self.replies.discard(key);
                }
                self.push_unsolicited(transmit, bounds);
            }
            Destination::Session => self.push_unsolicited(transmit, bounds),
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
        if reply.is_unreachable() {
            self.replies.discard(key);
            return;
        }
        let is_shared = reply.shared.is_some();
        reply.has_answer |= is_answer;
        reply.outbox.push(transmit, &bounds.conversation_limits);
        self.wakers.extend(reply.waker.take());
        if is_answer && !reply.is_read {
            self.keep_rest(key, &bounds.replay);
        } else if is_shared {
            self.log_unread(key, bounds);
        }
    }

    /// Moves a message without a reader to the other streams if it belongs to a question.
    fn redirect(&mut self, transmit: Transmit, bounds: &Bounds) {
        if is_of_a_question(&transmit) {
            self.push_unsolicited(transmit, bounds);
        }
    }

    /// Returns the next event on the lane of a request, if it is ready.
    pub(super) fn next_reply(
        &mut self,
        key: RequestKey,
        reader: u32,
        bounds: &Bounds,
    ) -> Option<PostEvent> {
        self.next_event(key, reader, None, bounds)
    }

    fn next_event(
        &mut self,
        key: RequestKey,
        reader: u32,
        cx: Option<&Context<'_>>,
        bounds: &Bounds,
    ) -> Option<PostEvent> {
        match self.replies.get_mut(key) {
            Some(reply) if reply.reader == reader => {
                // The caller is awake.
                reply.waker = None;
                if let Some((ticket, incoming)) = reply.start.take() {
                    return Some(PostEvent::Start(ticket, incoming));
                }
            }
            Some(_) => return Some(PostEvent::Detach),
            None => return Some(PostEvent::Stop),
        }
        self.next_message(key, cx, bounds)
    }

    fn next_message(
        &mut self,
        key: RequestKey,
        cx: Option<&Context<'_>>,
        bounds: &Bounds,
    ) -> Option<PostEvent> {
        let reply = self.replies.get_mut(key)?;
        let is_shared = reply.shared.is_some();
        let has_notice = !is_shared && reply.outbox.has_notice(WORTH_WAITING);
        if is_shared && let Some(next) = self.next_logged(key, cx, bounds) {
            return next;
        }
        if has_notice && let Some(notices) = self.next_notices(key, bounds) {
            return Some(PostEvent::Send(notices));
        }
        let reply = self.replies.get_mut(key)?;
        if let Some(transmit) = reply.outbox.pop() {
            let is_answer = matches!(transmit.kind, TransmitKind::Answer(_));
            if !is_answer && reply.stream.is_none() {
                self.open_reply_stream(key, bounds);
            } else if is_answer {
                reply.is_answered = true;
            }
            let message = self.record(key, transmit.into(), &bounds.replay);
            return match is_shared {
                true => self.send_logged(key, message, cx, bounds),
                false => Some(PostEvent::Send(message)),
            };
        }
        if reply.is_cancelled {
            return Some(PostEvent::Stop);
        }
        std::mem::take(&mut reply.is_detaching).then_some(PostEvent::Detach)
    }

    /// Returns the notices that wait on a reply, as events. The first message is a small notice, because events are
    /// copied. `None` if the reply has no stream, or its stream is not stored any more: its messages have no event id.
    fn next_notices(&mut self, key: RequestKey, bounds: &Bounds) -> Option<OutgoingMessage> {
        if self.replies.get(key)?.stream.is_none() {
            self.open_reply_stream(key, bounds);
        }
        let reply = self.replies.get_mut(key)?;
        self.replay
            .record_events(reply.stream?, &mut reply.outbox, &bounds.replay)
    }

    fn record(
        &mut self,
        key: RequestKey,
        message: OutgoingMessage,
        bounds: &Replay,
    ) -> OutgoingMessage {
        match self.replies.get(key).and_then(|reply| reply.stream) {
            Some(stream) => self.replay.record(stream, message, bounds),
            None => message,
        }
    }

    /// As [`Lanes::next_reply`], but wakes `cx` once an event is ready.
    pub(super) fn poll_reply(
        &mut self,
        key: RequestKey,
        reader: u32,
        cx: &Context<'_>,
        bounds: &Bounds,
    ) -> Poll<PostEvent> {
        let next = self.next_event(key, reader, Some(cx), bounds);
        if next.is_none()
            && let Some(reply) = self.replies.get_mut(key)
        {
            reply.waker = Some(cx.waker().clone());
        }
        next.map_or(Poll::Pending, Poll::Ready)
    }

    /// Returns true if no request and no stream is open.
    pub(super) fn is_unused(&self) -> bool {
        self.replies.is_empty() && self.listeners.is_empty()
    }

    /// Returns true if a stream for messages that belong to no request is open.
    pub(super) fn has_listeners(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// Returns true if each stream begins with an event id.
    #[inline]
    pub(super) fn primes(&self) -> bool {
        self.primes
    }

    /// Drops the streams that no client resumed in time.
    pub(super) fn expire(&mut self, now: Instant, bounds: &Replay) {
        self.replay.expire(now, bounds);
    }

    /// Removes and returns the requests of a session of one stream that may run now.
    #[cfg(feature = "sse")]
    pub(super) fn take_starts(&mut self) -> Vec<(Ticket, Box<IncomingRequest>)> {
        std::mem::take(&mut self.starts)
    }

    /// Returns true if the session can accept another message. It cannot while too much waits for the
    /// reader of its one stream, because answers are never dropped.
    #[cfg(feature = "sse")]
    pub(super) fn has_room(&self, bounds: &Bounds) -> bool {
        let limits = &bounds.conversation_limits;
        let messages = limits.max_running_requests + limits.max_queued_notices;
        self.unsolicited.len() < messages && self.unsolicited.bytes() < limits.max_outgoing_bytes
    }

    /// Returns true if the reader of a lane is so slow that notices will be merged or dropped.
    pub(super) fn is_behind(&self, key: RequestKey, bounds: &Bounds) -> bool {
        if self.is_one {
            return self.unsolicited.is_full(&bounds.conversation_limits);
        }
        let reply = self.replies.get(key);
        reply.is_some_and(|reply| reply.is_behind(bounds))
    }

    /// Returns a reply whose notices wait in its outbox for its own reader, and for no log.
    pub(super) fn plain_reply(&mut self, key: RequestKey) -> Option<&mut Reply> {
        if self.is_one {
            return None;
        }
        let reply = self.replies.get_mut(key)?;
        (reply.shared.is_none() && !reply.is_mute()).then_some(reply)
    }

    /// Wakes all readers.
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

/// Returns true for a question and its cancellation. No other message replaces them.
fn is_of_a_question(transmit: &Transmit) -> bool {
    matches!(
        transmit.kind,
        TransmitKind::Call(_) | TransmitKind::Notice(DropPolicy::Never)
    )
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
