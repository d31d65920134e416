//! The client's side: the opening, requests of the server, and events of the transport.
//!
//! ```text
//!            discover                   initialize                     result of initialize
//!  silent ─────────────► probing ─────────────────────► shaking hands ───────────────────────┐
//!    │  │                   │                                 ▲                              ▼
//!    │  └───────────────────┼────────── initialize ───────────┘                   speaking (terms)
//!    └──────────────────────┴──────────────────────── speak ─────────────────────────────────▲
//! ```
//!
//! While it is probing, the client drops requests and notifications, because it does not know yet
//! whether a server of this era sends any.

use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;

use pintle_model::jsonrpc::{Message, Request, Response, write_request};
use pintle_model::method::{
    Discover, Initialize, Initialized, Listen, Method, MethodName, Notice, Ping,
};
use pintle_model::{
    ClientCapabilities, Error, ErrorCode, Feature, Fit, Implementation, InitializeParams,
    InitializeResult, Meta, NoParams, ProgressParams, ReadJson, RequestEnvelope, RequestId,
    Revision, ServerCapabilities,
};

use super::write::{envelope_of, write_call};
use super::{CallParams, Connection, Side};
use crate::error::{PeerCallError, SendError};
use crate::io::{
    CallId, DropPolicy, Event, Frame, IncomingRequest, Input, Lane, Received, RequestKey, Ticket,
    TransmitKind,
};
use crate::method_check;
use crate::outbound::{CallSpec, Routing, Stage, Timeouts};
use crate::terms::Terms;
use crate::transport_error::TransportError;

/// The identities and capabilities of the client and of its server.
#[derive(Debug)]
pub(super) struct ClientSide {
    pub(super) identity: Implementation,
    pub(super) capabilities: ClientCapabilities,
    // Calls are refused while it is `None`, because no revision is spoken yet.
    pub(super) terms: Option<Arc<Terms>>,
    /// The capabilities of the server; `None` until they are known.
    offered: Option<Arc<ServerCapabilities>>,
    /// The members with which requests state their terms; empty where they do not.
    envelope: Box<[u8]>,
    /// Whether only a probe has been sent: requests of the server are dropped until it has ended.
    is_probing: bool,
    /// Accepts the response to `initialize`. A pointer, because only programs with a client contain its code.
    pub(super) welcome: fn(&mut Connection, Box<RawValue>) -> Result<Box<RawValue>, PeerCallError>,
    ignored_messages: u64,
}

/// Properties of a call, for a transport that writes more than the message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallHead {
    /// The method that is called.
    pub method: MethodName,
    /// The revision the call is written in; none for a handshake.
    pub revision: Option<Revision>,
    /// The values that are repeated outside of the message.
    pub routing: Option<Arc<Routing>>,
}

impl ClientSide {
    pub(super) fn new(identity: Implementation, capabilities: ClientCapabilities) -> Self {
        Self {
            identity,
            capabilities,
            terms: None,
            offered: None,
            envelope: Box::default(),
            is_probing: false,
            welcome: Connection::accept_welcome,
            ignored_messages: 0,
        }
    }

    pub(super) fn envelope(&self) -> &[u8] {
        &self.envelope
    }
}

impl Connection {
    /// Asks a server for its identity, before anything else, in a revision that needs no handshake.
    /// The call settles like any other. Other messages of the server are dropped until the
    /// handshake or [`Connection::use_revision`].
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`], or [`SendError::TooManyCalls`].
    pub fn discover(
        &mut self,
        now: Instant,
        revision: Revision,
        timeouts: Timeouts,
    ) -> Result<CallId, SendError> {
        let about = opening(Discover::NAME, Stage::Probe, Some(revision));
        let call = self.open_call(now, Some(timeouts), about)?;
        let Side::Client(client) = &mut self.side else {
            self.outbound.close(call);
            return Err(SendError::HandshakePending);
        };
        client.is_probing = client.terms.is_none();
        let envelope = envelope_of(revision, &client.identity, &client.capabilities);
        let mut head = Vec::with_capacity(512);
        let about = self.outbound.about(call).expect("the call was opened");
        let params = CallParams::Object(pintle_model::JsonObject::new());
        let id = self.outbound.wire_id(Stage::Probe, call);
        write_call(&mut head, &id, about, params, Meta::new(), &envelope);
        self.transmit(Lane::Session, TransmitKind::Call(call), Frame::whole(head));
        Ok(call)
    }

    /// Opens a handshake as a client. It settles like a call; the result has been looked at.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`], or [`SendError::TooManyCalls`].
    pub fn initialize(&mut self, now: Instant, revision: Revision) -> Result<CallId, SendError> {
        let Side::Client(client) = &mut self.side else {
            return Err(SendError::HandshakePending);
        };
        client.is_probing = false;
        let mut params = InitializeParams::new(
            revision,
            client.capabilities.clone(),
            client.identity.clone(),
        );
        let fits = params.fit(revision).is_ok();
        debug_assert!(fits, "a handshake fits every revision");
        let timeouts = Timeouts::new(self.limits.handshake_timeout, self.limits.handshake_timeout);
        let about = opening(Initialize::NAME, Stage::Handshake, None);
        let call = self.open_call(now, Some(timeouts), about)?;
        let mut head = Vec::with_capacity(256);
        write_request(
            &mut head,
            &call.to_request_id(),
            Initialize::NAME,
            Some(&params),
        );
        self.transmit(Lane::Session, TransmitKind::Call(call), Frame::whole(head));
        Ok(call)
    }

    /// Speaks a revision that needs no handshake from now on.
    pub fn use_revision(&mut self, revision: Revision) {
        let Side::Client(client) = &mut self.side else {
            return;
        };
        client.is_probing = false;
        let mut terms = Terms::new(revision);
        terms.capabilities = client.capabilities.clone();
        if terms.has(Feature::Envelope) {
            client.envelope = envelope_of(revision, &client.identity, &client.capabilities);
        }
        client.terms = Some(Arc::new(terms));
    }

    /// Learns what the server offers: calls of anything else are refused from now on.
    pub fn set_server_capabilities(&mut self, offered: Arc<ServerCapabilities>) {
        if let Side::Client(client) = &mut self.side {
            client.offered = Some(offered);
        }
    }

    pub(super) fn check_call(
        &self,
        method: &MethodName,
        revision: Revision,
    ) -> Result<(), SendError> {
        let Side::Client(client) = &self.side else {
            return Ok(());
        };
        method_check::check(method, revision, client.offered.as_deref())
    }

    fn accept_welcome(&mut self, result: Box<RawValue>) -> Result<Box<RawValue>, PeerCallError> {
        let welcome: InitializeResult =
            InitializeResult::read_json(result.get()).map_err(|_| PeerCallError::Contradiction)?;
        let spoken = welcome
            .protocol_version
            .parse()
            .ok()
            .filter(|revision: &Revision| revision.has(Feature::Handshake));
        let Some(revision) = spoken else {
            return Err(PeerCallError::Incompatible(welcome.protocol_version));
        };
        self.use_revision(revision);
        self.transmit_notice::<NoParams>(Lane::Session, DropPolicy::Never, Initialized::NAME, None);
        if let Some(terms) = self.session_terms().cloned() {
            self.events.push_back(Event::Opened(terms));
        }
        Ok(result)
    }

    /// A request of the server to a client.
    pub(super) fn serve_server(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
    ) -> Result<(), Error> {
        if self.drops_requests() {
            // The revision has no requests of servers, so there is no response.
            tracing::debug!(
                method = &*request.method,
                "a request of a server was dropped"
            );
            return Ok(());
        }
        let terms = self.session_terms().cloned();
        if request.method == Ping::NAME {
            let terms = terms.unwrap_or_else(|| Arc::new(Terms::new(Revision::LATEST_LEGACY)));
            return self.answer_empty(key, &request.id, &terms);
        }
        let terms = terms.ok_or_else(|| Error::method_not_found(&request.method))?;
        if self.inbound.is_overrun(&self.limits) {
            let message = "too many requests wait; try again later";
            return Err(Error::new(ErrorCode::INTERNAL_ERROR, message));
        }
        let envelope = RequestEnvelope::of_params(request.params.as_ref())?;
        let incoming = Box::new(IncomingRequest {
            key,
            method: (&*request.method).into(),
            params: request.params.into(),
            terms,
            progress_token: envelope.progress_token()?,
        });
        let id = request.id.clone();
        if let Some(incoming) = self.inbound.admit(id, incoming, &self.limits) {
            self.events
                .push_back(Event::Request(Ticket { key: incoming.key }, incoming));
        }
        Ok(())
    }

    pub(super) fn drops_requests(&self) -> bool {
        let Side::Client(client) = &self.side else {
            return false;
        };
        match &client.terms {
            Some(terms) => !terms.has(Feature::ServerRequests),
            None => client.is_probing,
        }
    }

    /// A server may end a listener with this cancellation, instead of a result or before it. Either
    /// way the listener has ended without an error.
    ///
    /// Spec: [2026-07-28, Cancellation][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
    pub(super) fn end_listening(&mut self, id: &RequestId) {
        let call = self.outbound.named(id).filter(|call| {
            let about = self.outbound.about(*call);
            about.is_some_and(|about| about.method.as_str() == Listen::NAME)
        });
        if let Some((call, row)) = call.and_then(|call| Some((call, self.outbound.close(call)?))) {
            let nothing = RawValue::from_string("{}".into()).expect("an object");
            self.settle_call(call, row, Ok(nothing));
        }
    }

    /// Whether a notification of the server is dropped: during a probe, and at the limit of queued
    /// events.
    pub(super) fn drops_notice(&mut self) -> bool {
        let is_full = self.events.len() >= self.limits.max_queued_notices;
        let is_dropped = match &self.side {
            Side::Client(client) => is_full || (client.is_probing && client.terms.is_none()),
            Side::Server(_) => false,
        };
        if is_dropped {
            self.note_noise();
        }
        is_dropped
    }

    /// Handles the only message on the exchange of a call. An error without an id answers this
    /// call.
    pub fn handle_reply(&mut self, now: Instant, call: CallId, text: &[u8]) -> Received {
        match Message::parse_within(text, self.most_values()) {
            Ok(Message::Response(Response { id: None, body })) if !self.is_closed => {
                self.settle_answered(call, body);
                Received::Accepted
            }
            Ok(message) => self.handle_input(now, Input::Message(message)),
            // The transport ends this call, because its exchange has ended. The message must not
            // end another call.
            Err(mut malformed) => {
                malformed.answered = None;
                self.handle_input(now, Input::Malformed(malformed))
            }
        }
    }

    /// Settles one call that the transport lost. The server is not notified.
    pub fn fail_call(&mut self, call: CallId, error: TransportError) {
        if let Some(row) = self.outbound.close(call) {
            self.settle_call(call, row, Err(PeerCallError::Lost(error)));
        }
    }

    /// The transport lost everything: all calls settle, and the conversation is closed.
    pub fn fail_transport(&mut self, now: Instant, error: &TransportError) {
        for call in self.outbound.ids() {
            self.fail_call(call, error.clone());
        }
        self.handle_input(now, Input::Closed);
    }

    /// Ends the conversation from this side: cancels the open calls, settles them with
    /// [`PeerCallError::Closed`], and drops the requests of the peer. Messages that are queued,
    /// cancellations among them, can still be taken with [`Connection::poll_transmit`].
    pub fn shut_down(&mut self) {
        for key in self.inbound.keys() {
            self.cancel_request(key);
        }
        for call in self.outbound.ids() {
            self.abandon(
                call,
                Some("the client is closing".into()),
                PeerCallError::Closed,
            );
        }
        self.is_closed = true;
    }

    /// Stores the outcome of a call for [`Connection::poll_call`] instead of an event.
    pub fn make_pollable(&mut self, call: CallId) {
        self.outbound.keep(call, None);
    }

    /// Returns the oldest unread progress of a pollable call. Successive values only grow. Beyond
    /// 64 unread values, the latest replaces the one before.
    pub fn take_progress(&mut self, call: CallId) -> Option<ProgressParams> {
        self.outbound.take_progress(call)
    }

    /// Returns the properties of an open call, for a transport that writes more than the message.
    pub fn head_of(&self, call: CallId) -> Option<CallHead> {
        let about = self.outbound.about(call)?;
        Some(CallHead {
            method: about.method.clone(),
            revision: about.revision,
            routing: about.routing.clone(),
        })
    }

    /// Whether a call has neither been answered nor cancelled.
    #[inline]
    pub fn is_waiting(&self, call: CallId) -> bool {
        self.outbound.about(call).is_some()
    }

    /// Counts a message of the server that is invalid, or that was dropped.
    pub(super) fn note_noise(&mut self) {
        if let Side::Client(client) = &mut self.side {
            client.ignored_messages += 1;
        }
    }

    /// Returns how many messages of the server were invalid or dropped.
    pub fn ignored_messages(&self) -> u64 {
        match &self.side {
            Side::Client(client) => client.ignored_messages,
            Side::Server(_) => 0,
        }
    }
}

fn opening(method: &str, stage: Stage, revision: Option<Revision>) -> CallSpec {
    CallSpec {
        lane: Lane::Session,
        method: method.into(),
        stage,
        revision,
        routing: None,
        wants_progress: false,
    }
}
