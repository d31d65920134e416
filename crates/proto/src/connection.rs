//! One conversation: messages and time in, messages and events out.
//!
//! Only dispatch lives here. The other modules are:
//!
//! - `answers` ends requests, and `builtin` answers the methods of the engine;
//! - `notices` sends progress, logs and changes, and `calls` sends requests;
//! - `single` serves one request without an engine until one is needed;
//! - `status` answers queries about the conversation;
//! - `negotiation` has the states of a server's negotiation, and `client` those of a client's;
//! - `restored` creates the engine of a session whose handshake another engine performed.
//!
//! ```text
//!        close_input                  Input::Closed, fail_transport, shut_down
//!  open ─────────────► input closed ───────────────────────────────────────────► closed
//!    └─────────── Input::Closed, fail_transport, shut_down ─────────────────────────▲
//! ```
//!
//! Input closed: open calls end, because no answer can arrive; answers that are owed still leave.
//! Closed: no request or call is left; only `shut_down` leaves messages in the queue.

mod answers;
mod batch;
mod builtin;
mod calls;
mod client;
mod followed;
mod gathered;
mod negotiation;
mod new_call;
mod notices;
mod polled_calls;
mod renew;
mod reported_visits;
mod restored;
mod serve;
mod single;
mod status;
mod tasks;
mod write;

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use pintle_model::jsonrpc::{
    InvalidMessage, Message, Notification, Request, Response, ResponseBody, write_error,
    write_notification,
};
use pintle_model::method::{Cancelled, Notice, Progress, TaskStatusChanged};
use pintle_model::{CancelledParams, ClientCapabilities, Error, Implementation};

use crate::frame::Framing;
use crate::framed::FramedMessages;
use crate::inbound::Inbound;
use crate::inline_queue::InlineQueue;
use crate::io::{
    DropPolicy, Event, Frame, IncomingNotice, Input, Lane, Output, PeerIdentity, Received,
    RequestKey, Transmit, TransmitKind,
};
use crate::lifecycle::TermsCache;
use crate::limits::Limits;
use crate::outbound::Outbound;
use crate::outbox::Outbox;
use crate::profile::ServerProfile;
use crate::subscriptions::Subscriptions;
use crate::terms::Terms;

use client::ClientSide;
use followed::FollowedTasks;
use gathered::Gathered;
use negotiation::{Negotiation, ServerSide};
use reported_visits::ReportedVisits;

pub use batch::Batch;
pub use client::CallHead;
pub use new_call::{CallParams, NewCall};
pub use single::SingleRequest;

/// One conversation, on either side.
///
/// The contract is: change it (receive, answer, notify, call), then drain it until it waits, then
/// wait for input or for the instant it names. It performs no I/O and reads no clock.
#[derive(Debug)]
pub struct Connection {
    // The role never changes, because each side opens a conversation in its own way.
    side: Side,
    limits: Arc<Limits>,
    // One row per unsettled request. It is settled once, because settling it removes the row.
    inbound: Inbound,
    // One row per open call. It settles once, because closing it removes the row.
    outbound: Outbound,
    // Each listener has a row in `inbound`, because both are added and removed together.
    subscriptions: Subscriptions,
    // Visits of an old session are dropped, because its client may be another one.
    visits: ReportedVisits,
    // At most `Limits::max_calls` tasks, because one more is refused.
    followed: FollowedTasks,
    // Empty unless a batch has an open request, because complete answers leave at once.
    gathered: Gathered,
    // No request in it was cancelled, because a handler must not start for such a request.
    events: InlineQueue<Event>,
    // The lane of a cancelled request holds at most the cancellations of its calls, because the
    // rest is discarded before these are queued.
    outbox: Outbox,
    /// Whether another process sends the changes of this session.
    changes_elsewhere: bool,
    // Never becomes false again, because the input has ended.
    input_closed: bool,
    // Never becomes false again, because no message is received or queued after it.
    is_closed: bool,
}

#[derive(Debug)]
enum Side {
    Server(ServerSide),
    Client(Box<ClientSide>),
}

impl Connection {
    /// The server's side of a pipe: every revision, by handshake or request by request.
    pub fn server(profile: Arc<ServerProfile>, limits: Arc<Limits>) -> Self {
        Self::new(
            Side::server(
                profile,
                Negotiation::Open {
                    spoke_modern: false,
                },
            ),
            limits,
        )
    }

    /// The server's side of a session that opens with a handshake, soon.
    pub fn session(profile: Arc<ServerProfile>, limits: Arc<Limits>, now: Instant) -> Self {
        let mut connection = Self::server(profile, limits);
        connection.expect_opening(now.checked_add(connection.limits.handshake_timeout));
        connection
    }

    /// Requires the peer to open the conversation before this instant, by a handshake or by a
    /// request that states its terms. If the peer does not, [`Event::Abandoned`] follows.
    pub fn expect_opening(&mut self, deadline: Option<Instant>) {
        if let Side::Server(server) = &mut self.side {
            server.handshake_deadline = deadline;
        }
    }

    /// The server's side of requests whose terms were settled outside, such as one HTTP exchange.
    #[inline]
    pub fn exchange(profile: Arc<ServerProfile>, limits: Arc<Limits>, terms: Arc<Terms>) -> Self {
        Self::new(Side::server(profile, Negotiation::Fixed(terms)), limits)
    }

    /// The same side of a conversation with `peer`; the default is [`PeerIdentity::Only`].
    #[must_use]
    pub fn with_peer(mut self, peer: PeerIdentity) -> Self {
        if let Side::Server(server) = &mut self.side {
            server.peer = peer;
        }
        self
    }

    /// The same conversation before its first message, on a transport with this framing. Then
    /// [`Connection::poll_framed`] returns messages.
    #[must_use]
    pub fn with_framing(mut self, framing: Framing) -> Self {
        self.outbox = Outbox::framed(framing);
        self
    }

    /// The client's side.
    pub fn client(
        identity: Implementation,
        capabilities: ClientCapabilities,
        limits: Arc<Limits>,
    ) -> Self {
        let client = ClientSide::new(identity, capabilities);
        Self::new(Side::Client(Box::new(client)), limits)
    }

    fn new(side: Side, limits: Arc<Limits>) -> Self {
        Self {
            side,
            limits,
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            subscriptions: Subscriptions::default(),
            visits: ReportedVisits::default(),
            followed: FollowedTasks::default(),
            gathered: Gathered::default(),
            events: InlineQueue::default(),
            outbox: Outbox::default(),
            changes_elsewhere: false,
            input_closed: false,
            is_closed: false,
        }
    }

    /// Handles one input.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) -> Received {
        match input {
            Input::Message(message) => return self.receive(now, message),
            Input::Malformed(malformed) => return self.refuse(malformed),
            Input::Timeout => self.handle_timeout(now),
            Input::Closed => self.close(),
        }
        Received::Accepted
    }

    /// Accepts a message. The answer to a request leaves on the lane of the returned key.
    pub fn receive(&mut self, now: Instant, message: Message<'_>) -> Received {
        match message {
            _ if self.is_closed => {}
            Message::Request(request) => return self.receive_request(request),
            Message::Notification(notification) => self.receive_notification(now, notification),
            Message::Response(response) => self.receive_response(response),
        }
        Received::Accepted
    }

    /// Accepts a request, as [`Connection::receive`] does.
    pub fn receive_request(&mut self, request: Request<'_>) -> Received {
        if self.is_closed {
            return Received::Accepted;
        }
        let key = self.inbound.next_key();
        if let Err(error) = self.dispatch(key, &request) {
            self.reject(key, &request.id, &error);
        }
        Received::Request(key)
    }

    // By reference, because a request is large to move.
    fn dispatch(&mut self, key: RequestKey, request: &Request<'_>) -> Result<(), Error> {
        if self.inbound.has_id(&request.id) && !self.is_renewed_by(request) {
            return Err(Error::invalid_request(
                "a request with this id is in flight",
            ));
        }
        match self.side {
            Side::Server(_) => self.serve(key, request),
            Side::Client(_) => self.serve_server(key, request),
        }
    }

    fn receive_notification(&mut self, now: Instant, notification: Notification<'_>) {
        match &*notification.method {
            Cancelled::NAME => self.receive_cancelled(&notification),
            Progress::NAME => self.receive_progress(now, notification),
            _ => self.receive_notice(&notification),
        }
    }

    fn receive_cancelled(&mut self, notification: &Notification<'_>) {
        let Some(cancelled) = cancelled(notification) else {
            return;
        };
        let Some(id) = cancelled.request_id else {
            return;
        };
        if let Some(key) = self.inbound.key_of(&id) {
            // As `Debug` writes it: a peer must not break lines of logs.
            tracing::debug!(reason = ?cancelled.reason, "the peer cancelled a request");
            self.cancel_request(key);
        }
        self.end_listening(&id);
    }

    fn receive_notice(&mut self, notification: &Notification<'_>) {
        if self.note_ready(&notification.method) || self.drops_notice() {
            return;
        }
        let params = notification.params.into();
        if notification.method == TaskStatusChanged::NAME && self.note_task(&params) {
            return;
        }
        let terms = self.session_terms().cloned();
        let notified = IncomingNotice {
            method: (&*notification.method).into(),
            params,
            terms,
        };
        self.events
            .push_back(Event::Notification(Box::new(notified)));
    }

    fn receive_response(&mut self, response: Response<'_>) {
        if let Some(call) = self.outbound.answered(response.id.as_ref()) {
            self.settle_answered(call, response.body);
        }
    }

    fn refuse(&mut self, malformed: InvalidMessage) -> Received {
        let InvalidMessage {
            id,
            answered,
            error,
        } = malformed;
        let call = answered.and_then(|id| self.outbound.named(&id));
        if let Some(call) = call.filter(|_| !self.is_closed) {
            self.settle_answered(call, ResponseBody::Contradiction);
            return Received::Accepted;
        }
        // A client answers requests, and those only where servers make some.
        if matches!(self.side, Side::Client(_)) && (id.is_none() || self.drops_requests()) {
            self.note_noise();
            return Received::Refused(id);
        }
        let mut head = Vec::new();
        write_error(&mut head, id.as_ref(), &error);
        if self.gathered.is_reading() {
            self.gather(
                RequestKey::NONE,
                TransmitKind::Notice(DropPolicy::DropOldest),
                Frame::whole(head),
            );
            return Received::Refused(id);
        }
        // An error without an id may be dropped, because a peer that sends only garbage must not
        // make the queue grow without bound. An error with an id answers a call of the peer, and is
        // not dropped.
        let policy = if id.is_some() {
            DropPolicy::Never
        } else {
            DropPolicy::DropOldest
        };
        self.transmit(
            Lane::Session,
            TransmitKind::Notice(policy),
            Frame::whole(head),
        );
        Received::Refused(id)
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some(call) = self.outbound.expired(now) {
            self.expire(call);
        }
        if let Side::Server(server) = &mut self.side
            && server
                .handshake_deadline
                .is_some_and(|deadline| deadline <= now)
        {
            server.handshake_deadline = None;
            self.events.push_back(Event::Abandoned);
        }
    }

    fn close(&mut self) {
        self.is_closed = true;
        for key in self.inbound.keys() {
            self.cancel_request(key);
        }
        self.settle_all_closed();
        self.outbox = Outbox::default();
        self.gathered = Gathered::default();
    }

    /// Returns the next event or message, or the instant to wait for.
    #[inline]
    pub fn poll_output(&mut self) -> Output {
        if let Some(event) = self.events.pop_front() {
            return Output::Event(event);
        }
        match self.outbox.pop() {
            Some(transmit) => Output::Transmit(transmit),
            None => Output::Wait(self.next_deadline()),
        }
    }

    /// Returns the next event without taking messages, because the peer may not read.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the next message to send.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop()
    }

    /// Returns the notices at the head of the queue in their frames, if they share a buffer: at most
    /// `max_bytes`, or one notice. `None` means that [`Connection::poll_transmit`] returns the next message.
    #[inline]
    pub fn poll_framed(&mut self, max_bytes: usize) -> Option<FramedMessages> {
        self.outbox.pop_framed(max_bytes)
    }

    fn transmit_notice<P: Serialize>(
        &mut self,
        lane: Lane,
        policy: DropPolicy,
        method: &str,
        params: Option<&P>,
    ) {
        let mut head = Vec::with_capacity(224);
        write_notification(&mut head, method, params);
        self.transmit(lane, TransmitKind::Notice(policy), Frame::whole(head));
    }

    fn transmit(&mut self, lane: Lane, kind: TransmitKind, frame: Frame) {
        if let (Lane::Reply(key), TransmitKind::Answer(_)) = (lane, kind)
            && !self.gathered.is_empty()
        {
            return self.gather(key, kind, frame);
        }
        self.enqueue(lane, kind, frame);
    }

    fn enqueue(&mut self, lane: Lane, kind: TransmitKind, frame: Frame) {
        if self.is_closed {
            return;
        }
        self.outbox
            .push(Transmit { lane, kind, frame }, &self.limits);
    }
}

/// Decodes the parameters of a cancellation.
fn cancelled(notification: &Notification<'_>) -> Option<CancelledParams> {
    let params = notification.params.map_or("{}", |params| params.get());
    serde_json::from_str(params).ok()
}

impl Side {
    fn server(profile: Arc<ServerProfile>, negotiation: Negotiation) -> Self {
        Self::Server(ServerSide {
            profile,
            negotiation,
            handshake_deadline: None,
            memo: TermsCache::default(),
            peer: PeerIdentity::default(),
        })
    }
}
