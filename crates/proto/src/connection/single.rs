//! One request on settled terms, with its answer: without an engine until one is needed.
//!
//! Most handlers only return a result. Such a request needs no tables of calls, notices and
//! listeners, so none are made for it.
//!
//! ```text
//!           answer                  poll_transmit
//!  running ────────► answered ─────────────────────► sent
//!     └─────────────────┴──────── close ──────────────┴────────► closed
//!
//!  any ── engine: a notice, a question, a method of the engine ──► kept by a `Connection`
//! ```
//!
//! The engine continues in the state of the request, so no caller sees when it was made.

use std::sync::Arc;

use pintle_model::jsonrpc::Request;
use pintle_model::{Error, RequestEnvelope, RequestId};

use super::Connection;
use super::answers::{error_answer, reply_answer};
use super::serve::{EngineMethod, check_method, incoming_request};
use crate::frame::Framing;
use crate::framed::FramedMessages;
use crate::inbound::{Inbound, OpenRequest};
use crate::io::{Event, IncomingRequest, Lane, PeerIdentity, RequestKey, Ticket, Transmit};
use crate::limits::Limits;
use crate::profile::ServerProfile;
use crate::reply::Reply;
use crate::terms::Terms;

/// The server's side of one request whose terms were settled outside, such as one HTTP exchange.
#[derive(Debug)]
pub struct SingleRequest {
    setting: Setting,
    state: State,
    // Boxed, because most requests have none.
    engine: Option<Box<Connection>>,
}

/// The settings with which the request is served.
#[derive(Debug)]
struct Setting {
    profile: Arc<ServerProfile>,
    limits: Arc<Limits>,
    terms: Arc<Terms>,
    peer: PeerIdentity,
}

/// State of the request while it has no engine.
#[derive(Debug)]
enum State {
    /// The handler runs.
    Running(OpenRequest),
    /// The answer is ready to be sent.
    Answered(Transmit),
    /// The answer was sent, or the engine has the state.
    Sent,
    /// The client has left.
    Closed,
}

impl SingleRequest {
    /// Accepts a request. Its handler is owed to the ticket; a request without a ticket was
    /// answered, or is answered by the engine later.
    #[inline]
    pub fn receive(
        profile: Arc<ServerProfile>,
        limits: Arc<Limits>,
        terms: Arc<Terms>,
        peer: PeerIdentity,
        request: Request<'_>,
    ) -> (Self, Option<(Ticket, Box<IncomingRequest>)>) {
        let setting = Setting {
            profile,
            limits,
            terms,
            peer,
        };
        let Some(incoming) = setting.admit(&request) else {
            let engine = setting.connection();
            return Self::of(setting, engine, request);
        };
        let open = OpenRequest {
            id: request.id,
            progress_token: incoming.progress_token.clone(),
            params: incoming.params.text().len(),
        };
        let single = Self {
            setting,
            state: State::Running(open),
            engine: None,
        };
        let key = incoming.key;
        (single, Some((Ticket { key }, incoming)))
    }

    /// As [`SingleRequest::receive`], for an `initialize` that opens no session.
    pub fn receive_initialize(
        profile: Arc<ServerProfile>,
        limits: Arc<Limits>,
        terms: Arc<Terms>,
        peer: PeerIdentity,
        request: Request<'_>,
    ) -> (Self, Option<(Ticket, Box<IncomingRequest>)>) {
        let engine = Connection::server(Arc::clone(&profile), Arc::clone(&limits));
        let engine = engine.with_peer(peer.clone());
        let setting = Setting {
            profile,
            limits,
            terms,
            peer,
        };
        Self::of(setting, engine, request)
    }

    fn of(
        setting: Setting,
        mut engine: Connection,
        request: Request<'_>,
    ) -> (Self, Option<(Ticket, Box<IncomingRequest>)>) {
        engine.receive_request(request);
        let handled = match engine.poll_event() {
            Some(Event::Request(ticket, incoming)) => Some((ticket, incoming)),
            _ => None,
        };
        let single = Self {
            setting,
            state: State::Sent,
            engine: Some(Box::new(engine)),
        };
        (single, handled)
    }

    /// Returns the engine of the request. The first call makes it.
    pub fn engine(&mut self) -> &mut Connection {
        let Self {
            setting,
            state,
            engine,
        } = self;
        engine.get_or_insert_with(|| {
            let state = std::mem::replace(state, State::Sent);
            Box::new(setting.connection_in(state))
        })
    }

    /// Whether the request has an engine.
    #[inline]
    pub fn has_engine(&self) -> bool {
        self.engine.is_some()
    }

    /// Answers the request, as [`Connection::answer`] does.
    #[inline]
    pub fn answer(&mut self, ticket: Ticket, reply: Result<Reply, Error>) {
        if let Some(engine) = &mut self.engine {
            return engine.answer(ticket, reply);
        }
        if let State::Running(open) = &self.state {
            self.state = State::Answered(self.setting.answer(&open.id, reply));
        }
    }

    /// Whether the request is neither answered nor cancelled.
    pub fn is_open(&self, key: RequestKey) -> bool {
        match &self.engine {
            Some(engine) => engine.is_open(key),
            None => key == RequestKey::FIRST && matches!(self.state, State::Running(_)),
        }
    }

    /// Returns the id of the request if it is neither answered nor cancelled.
    pub fn request_id(&self, key: RequestKey) -> Option<&RequestId> {
        match (&self.engine, &self.state) {
            (Some(engine), _) => engine.request_id(key),
            (None, State::Running(open)) if key == RequestKey::FIRST => Some(&open.id),
            (None, _) => None,
        }
    }

    /// Whether the peer reads so slowly that notices are about to be merged or dropped.
    pub fn is_peer_slow(&self) -> bool {
        self.engine
            .as_ref()
            .is_some_and(|engine| engine.is_peer_slow())
    }

    /// Whether anything waits to be polled.
    #[inline]
    pub fn has_output(&self) -> bool {
        match &self.engine {
            Some(engine) => engine.has_output(),
            None => matches!(self.state, State::Answered(_)),
        }
    }

    /// Returns the next event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.engine.as_mut()?.poll_event()
    }

    /// Returns the next message to send.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        if let Some(engine) = &mut self.engine {
            return engine.poll_transmit();
        }
        if !matches!(self.state, State::Answered(_)) {
            return None;
        }
        match std::mem::replace(&mut self.state, State::Sent) {
            State::Answered(transmit) => Some(transmit),
            _ => None,
        }
    }

    /// Returns the next notices in the frames of events, as [`Connection::poll_framed`] does.
    #[inline]
    pub fn poll_framed(&mut self, max_bytes: usize) -> Option<FramedMessages> {
        self.engine.as_mut()?.poll_framed(max_bytes)
    }

    /// Ends the request: its client has left.
    #[inline]
    pub fn close(&mut self) {
        match &mut self.engine {
            Some(engine) => engine.close(),
            None => self.state = State::Closed,
        }
    }
}

impl Setting {
    /// The request for its handler. `None` for a request that an engine answers or refuses.
    fn admit(&self, request: &Request<'_>) -> Option<Box<IncomingRequest>> {
        if EngineMethod::named(&request.method).is_some() || !Inbound::admits_one(&self.limits) {
            return None;
        }
        let envelope = RequestEnvelope::of_params(request.params.as_ref()).ok()?;
        let terms = Arc::clone(&self.terms);
        let incoming = incoming_request(RequestKey::FIRST, request, &envelope, terms).ok()?;
        let revision = self.terms.revision;
        check_method(&incoming.method, revision, &self.profile, &self.peer).ok()?;
        Some(incoming)
    }

    fn answer(&self, id: &RequestId, reply: Result<Reply, Error>) -> Transmit {
        let (kind, frame) = match reply {
            Ok(reply) => {
                let frame = self.profile.stamp(self.terms.revision, id, reply);
                reply_answer(id, frame, &self.limits)
            }
            Err(error) => error_answer(id, &error, &self.limits),
        };
        Transmit {
            lane: Lane::Reply(RequestKey::FIRST),
            kind,
            frame,
        }
    }

    fn connection(&self) -> Connection {
        let (profile, limits) = (Arc::clone(&self.profile), Arc::clone(&self.limits));
        Connection::exchange(profile, limits, Arc::clone(&self.terms))
            .with_peer(self.peer.clone())
            .with_framing(Framing::Event)
    }

    /// An engine that continues in `state`.
    fn connection_in(&self, state: State) -> Connection {
        let mut engine = self.connection();
        engine.inbound.next_key();
        match state {
            State::Running(open) => engine.inbound = Inbound::running(open, &self.terms),
            State::Answered(answer) => engine.outbox.push(answer, &self.limits),
            State::Sent => {}
            State::Closed => engine.close(),
        }
        engine
    }
}
