//! A session of the handshake era: one engine, many posts, any number of streams.
//!
//! The engine is behind a lock that is held for moments. Its output moves at once to its lane: the
//! reply to one post, or the stream for messages that belong to no request. Each lane has its own
//! limits, so a slow or absent reader does not delay the others.
//!
//! # States
//!
//! ```text
//! opened ──► idle ◄──► in use
//!              │          │
//!              └─► over ◄─┘
//! ```
//!
//! A session is in use while a request or a stream is open, and idle otherwise. DELETE ends it in both
//! states, and so does the engine if the client never confirms the handshake. Only an idle session
//! expires or is evicted. A session of one stream also ends with its stream.
//!
//! # Locks
//!
//! The order is: the table of sessions, then a session, then the timers. The engine changes only before
//! `Session::settle`, except that it writes progress to a lane. That function moves the output of the engine to the lanes and sets the alarm
//! before unlock. It calls wakers after unlock, because a waker may run code that locks the session.
//! Other functions lock the session only to read it, or to serve the reader of one lane.

mod bounds;
mod elsewhere;
mod engine_access;
mod held;
mod journal;
mod lanes;
mod listeners;
mod newest;
#[cfg(feature = "sse")]
mod one;
mod post;
mod replay_buffer;
mod replies;
mod settings;
mod stream;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use pintle_model::Feature;
use pintle_model::jsonrpc::{Message, RequestId};
use pintle_proto::{Connection, Event, IncomingNotice, Input, Received, RequestKey};
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{Principal, SessionKey};

use super::events::OutgoingMessage;
use super::peers::Peer;
use super::timers::Timers;
use crate::rules::event_id::EventId;
use crate::rules::session_id::SessionId;
use lanes::{Lanes, PostEvent, Remaining};
use newest::NewestStream;
use settings::Settings;

pub(super) use bounds::Bounds;
pub(super) use lanes::StreamLayout;
pub(super) use newest::{Opened, STREAM_FACT, StreamFact, StreamNotice, publish_fact};
#[cfg(feature = "sse")]
pub(super) use one::{Asks, TextDelivery};
pub(super) use post::Post;
pub(super) use replies::ReplyFormat;
pub(super) use settings::NewPart;
pub(super) use stream::Stream;

/// An open session.
pub(super) struct Session {
    id: SessionId,
    /// The principal that opened the session. For others it does not exist.
    owner: Option<Box<str>>,
    /// The peer that opened the session; it is limited in number.
    peer: Peer,
    bounds: Arc<Bounds>,
    timers: Arc<Timers>,
    layout: StreamLayout,
    /// Present if replicas share the session.
    key: Option<SessionKey>,
    // Locked before the timers, because two changes of one alarm must arrive in their order. Code
    // under this lock must not lock the table of sessions, because the table locks sessions.
    state: Mutex<State>,
}

struct State {
    // Has no output left at unlock, because no other code would move it to its lane.
    engine: Connection,
    lanes: Lanes,
    // Empty between two posts, because the post that delivered a notice passes it to the service.
    notified: Vec<IncomingNotice>,
    // Never before the end of the last request or stream, because `change` sets it at that end.
    last_use: Instant,
    /// When the engine next handles a timeout.
    // The same as in `timers`, except while the timers deliver it: they remove it first. It may be
    // earlier than the deadline of the engine, because it is not moved for each question.
    alarm: Option<Instant>,
    // Final, because an ended session leaves the table and no request finds it again.
    is_over: bool,
    /// When this replica last read whether another one has ended the session. `None` if the session
    /// belongs to one process.
    last_check: Option<Instant>,
    /// The shared settings that this part has.
    settings: Settings,
    /// Present while a stream for messages that belong to no request is open, and replicas share the session.
    newest: Option<Box<NewestStream>>,
}

/// The beginning of a session.
pub(super) struct NewSession<'a> {
    pub(super) id: SessionId,
    pub(super) owner: Option<&'a Principal>,
    pub(super) peer: &'a Peer,
    pub(super) engine: Connection,
    pub(super) layout: StreamLayout,
    /// Present if replicas share the session.
    pub(super) part: Option<NewPart>,
}

/// The state of a session before a change.
struct Before {
    /// Whether a request or a stream was open.
    was_used: bool,
    /// Whether a shutdown waits for the answers to its questions.
    is_awaited: bool,
}

/// The result of a delivery.
pub(super) enum Delivered {
    /// The answer will follow on the lane of this key.
    Request(RequestKey),
    /// The message needs no answer. The service handles these notices.
    Accepted(Vec<IncomingNotice>),
    /// Too many requests are in flight.
    Crowded,
    /// The session has ended.
    Over,
}

impl Session {
    pub(super) fn new(
        new: NewSession<'_>,
        bounds: Arc<Bounds>,
        timers: Arc<Timers>,
        now: Instant,
    ) -> Self {
        let (id, layout, engine) = (new.id, new.layout, new.engine);
        let owner = new.owner.map(|owner| owner.id().into());
        let tag = new.part.map_or_else(|| id.tag(), |part| part.tag);
        let terms = engine.session_terms().map(|terms| &**terms);
        let mut lanes = Lanes::new(tag, layout, terms);
        if new.part.is_some() {
            lanes.share(id);
        }
        let state = State {
            engine,
            lanes,
            notified: Vec::new(),
            last_use: now,
            alarm: None,
            is_over: false,
            last_check: new.part.map(|_| now),
            settings: Settings::default(),
            newest: None,
        };
        let session = Self {
            id,
            owner,
            peer: new.peer.clone(),
            bounds,
            timers,
            layout,
            key: new.part.map(|part| part.key),
            state: Mutex::new(state),
        };
        session.change(|_| {});
        session
    }

    pub(super) fn id(&self) -> SessionId {
        self.id
    }

    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(super) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.owner.as_deref() == principal.map(Principal::id)
    }

    pub(super) fn layout(&self) -> StreamLayout {
        self.layout
    }

    /// Passes a message to the engine.
    pub(super) fn deliver(
        &self,
        now: Instant,
        message: Message<'_>,
        form: ReplyFormat,
    ) -> Delivered {
        // Without `change`, because its closure would have a copy of the message.
        let mut state = self.lock();
        let before = self.before(&state);
        let delivered = state.receive(now, message, form, &self.bounds);
        self.settle(state, before);
        delivered
    }

    /// Returns true if a call to the client has an id of this part of the session.
    pub(super) fn has_prefix_of(&self, call: &RequestId) -> bool {
        self.lock().engine.has_prefix_of(call)
    }

    /// Returns true if the revision of the session has batches.
    pub(super) fn has_batches(&self) -> bool {
        let state = self.lock();
        let terms = state.engine.session_terms();
        terms.is_some_and(|terms| terms.has(Feature::Batches))
    }

    /// Ends the session: drops its requests and ends its streams.
    pub(super) fn end(&self, now: Instant) {
        self.change(|state| {
            state.is_over = true;
            state.engine.handle_input(now, Input::Closed);
            state.lanes.wake_all();
        });
    }

    /// Ends the streams and the questions to the client, because the endpoint accepts no more answers.
    /// Open requests may finish.
    pub(super) fn end_streams(&self) {
        self.change(|state| {
            state.engine.close_input();
            state.lanes.close_streams();
        });
    }

    /// Returns true if a question to the client is open.
    pub(super) fn has_questions(&self) -> bool {
        self.lock().engine.has_open_calls()
    }

    /// Returns true if the session has ended.
    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Returns when the session was last in use, or `None` while a request or a stream is open.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        state.lanes.is_unused().then_some(state.last_use)
    }

    /// Lets the engine handle a timeout.
    pub(super) fn handle_timeout(&self, now: Instant) {
        self.change(|state| {
            state.alarm = None;
            state.engine.handle_input(now, Input::Timeout);
        });
    }

    /// Returns true if the session was idle for too long, or its handshake was never confirmed.
    pub(super) fn is_expired(&self, now: Instant, idle: Duration) -> bool {
        let mut state = self.lock();
        let deadline = state.engine.next_deadline();
        if deadline.is_some_and(|deadline| deadline <= now) {
            drop(state);
            self.change(|state| state.engine.handle_input(now, Input::Timeout));
            state = self.lock();
        }
        state.lanes.expire(now, &self.bounds.replay);
        let is_unused = state.lanes.is_unused();
        state.is_over || (is_unused && now.duration_since(state.last_use) >= idle)
    }

    /// Returns the next event on the lane of a request, if it is ready.
    #[inline]
    fn next_reply(&self, key: RequestKey, reader: u32) -> Option<PostEvent> {
        self.lock().lanes.next_reply(key, reader, &self.bounds)
    }

    #[inline]
    fn poll_reply(&self, key: RequestKey, reader: u32, cx: &Context<'_>) -> Poll<PostEvent> {
        self.lock().lanes.poll_reply(key, reader, cx, &self.bounds)
    }

    fn open_reply_stream(&self, key: RequestKey) -> Option<EventId> {
        let mut state = self.lock();
        let beginning = state.lanes.open_reply_stream(key, &self.bounds);
        // A stream with a log begins when the log exists, with the first message that is held back.
        beginning.filter(|_| !state.lanes.is_logged(key))
    }

    fn poll_unsolicited(
        &self,
        stream: u64,
        reader: u32,
        cx: &Context<'_>,
    ) -> Poll<Option<OutgoingMessage>> {
        let mut state = self.lock();
        if state.is_over {
            return Poll::Ready(None);
        }
        state
            .lanes
            .poll_unsolicited(stream, reader, cx, &self.bounds.replay)
    }

    /// Records that the reader of a stream is gone.
    fn leave(&self, rest: Remaining) {
        let closed = self.change(|state| {
            match rest {
                Remaining::Nothing | Remaining::Cancelled => {}
                Remaining::Unsolicited(stream, reader) => state.lanes.hang_up(stream, reader),
                Remaining::Reply(key, reader) => state.lanes.leave(key, reader, &self.bounds),
            }
            state.close_newest()
        });
        self.publish(closed);
    }

    /// Changes the state, moves the output of the engine to the lanes, and wakes readers.
    fn change<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let before = self.before(&state);
        let given = act(&mut state);
        self.settle(state, before);
        given
    }

    fn before(&self, state: &State) -> Before {
        Before {
            was_used: !state.lanes.is_unused(),
            is_awaited: self.bounds.answered.is_followed() && state.engine.has_open_calls(),
        }
    }

    /// Ends a change: moves the output of the engine to the lanes, and wakes readers.
    fn settle(&self, mut state: MutexGuard<'_, State>, before: Before) {
        state.collect_output(&self.bounds);
        if before.is_awaited && !state.engine.has_open_calls() {
            self.bounds.answered.notify();
        }
        if before.was_used && state.lanes.is_unused() {
            // The idle time counts from the end of the last request or stream.
            state.last_use = tokio::time::Instant::now().into_std();
        }
        let wakers = state.lanes.take_wakers();
        let before = state.alarm;
        let is_changed = state.set_alarm();
        let after = state.alarm;
        if is_changed {
            // Under the lock of the session, so that two changes arrive in their order.
            self.timers.change(self.id, before, after);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Passes a message to the engine.
    fn receive(
        &mut self,
        now: Instant,
        message: Message<'_>,
        form: ReplyFormat,
        bounds: &Bounds,
    ) -> Delivered {
        self.last_use = now;
        if self.is_over {
            return Delivered::Over;
        }
        let mut request = None;
        if let Message::Request(asked) = &message {
            if self.engine.is_at_request_limit() {
                return Delivered::Crowded;
            }
            if self.last_check.is_some() {
                request = elsewhere::log_name(&asked.id);
            }
        }
        match self.engine.receive(now, message) {
            Received::Request(key) => {
                self.lanes.open(key, form, request);
                Delivered::Request(key)
            }
            _ => {
                self.collect_output(bounds);
                Delivered::Accepted(std::mem::take(&mut self.notified))
            }
        }
    }

    /// Moves all output of the engine to the lanes.
    fn collect_output(&mut self, bounds: &Bounds) {
        loop {
            if let Some(event) = self.engine.poll_event() {
                self.handle(event);
            } else if let Some(transmit) = self.engine.poll_transmit() {
                self.lanes.push(transmit, bounds);
            } else {
                return;
            }
        }
    }

    /// Sets the alarm; returns false if it does not change. The alarm may be earlier than the deadline
    /// of the engine, so that short questions do not move it.
    fn set_alarm(&mut self) -> bool {
        let deadline = self.engine.next_deadline().filter(|_| !self.is_over);
        match (self.alarm, deadline) {
            (None, None) => false,
            (Some(alarm), Some(deadline)) if alarm <= deadline => false,
            _ => {
                self.alarm = deadline;
                true
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Request(ticket, incoming) => self.lanes.start(ticket, incoming),
            Event::Cancelled(key) => self.lanes.cancel(key),
            Event::Notification(notified) => self.notified.push(*notified),
            Event::Abandoned => self.is_over = true,
            _ => {}
        }
    }
}
