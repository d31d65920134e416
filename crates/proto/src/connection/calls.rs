//! What either side asks of the other.

use std::sync::Arc;
use std::time::Instant;

use serde_json::value::RawValue;

use pintle_model::jsonrpc::{Notification, Request, ResponseBody, write_request};
use pintle_model::method::{Cancelled, Initialize, Initialized, Method, MethodName, Notice, Ping};
use pintle_model::{
    CancelledParams, Error, Feature, Fit, InitializeParams, InitializeResult, JsonObject, Meta,
    NoParams, ProgressParams, RequestEnvelope, Revision,
};

use super::{Connection, Side};
use crate::error::{CallFailure, Refusal};
use crate::io::{
    CallId, Class, Event, Frame, Incoming, Kind, Lane, Notified, Params, RequestKey, Ticket,
};
use crate::outbound::Patience;
use crate::terms::Terms;

/// A call about to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewCall {
    /// What is asked.
    pub method: MethodName,
    /// With which parameters; the engine adds the envelope where the revision has one.
    pub params: JsonObject,
    /// On which lane it leaves.
    pub lane: Lane,
    /// How long we wait; the limits' if none.
    pub patience: Option<Patience>,
    /// Whether we want to hear of progress.
    pub wants_progress: bool,
}

impl NewCall {
    /// A call of `method` on the session's lane.
    pub fn new(method: &str, params: JsonObject) -> Self {
        Self {
            method: method.into(),
            params,
            lane: Lane::Session,
            patience: None,
            wants_progress: false,
        }
    }
}

impl Connection {
    /// Opens a handshake as a client. It settles like a call; the result has been looked at.
    ///
    /// # Errors
    ///
    /// [`Refusal::Closed`], or [`Refusal::TooManyCalls`].
    pub fn initialize(&mut self, now: Instant, revision: Revision) -> Result<CallId, Refusal> {
        let Side::Client(client) = &self.side else {
            return Err(Refusal::NotOpen);
        };
        let mut params = InitializeParams::new(
            revision,
            client.capabilities.clone(),
            client.identity.clone(),
        );
        let fits = params.fit(revision).is_ok();
        debug_assert!(fits, "a handshake can be said in every revision");
        let call = self.open_call(now, None)?;
        self.outbound.mark_handshake(call);
        self.transmit_call(call, Lane::Session, Initialize::NAME, &params);
        Ok(call)
    }

    /// Speaks a revision that needs no handshake from now on.
    pub fn speak(&mut self, revision: Revision) {
        if let Side::Client(client) = &mut self.side {
            let mut terms = Terms::new(revision);
            terms.capabilities = client.capabilities.clone();
            client.terms = Some(Arc::new(terms));
        }
    }

    /// Makes a call.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotOpen`] before the handshake, [`Refusal::Closed`] after the end,
    /// [`Refusal::TooManyCalls`] at the limit; for a server also [`Refusal::NoServerRequests`]
    /// where the terms of the lane allow no calls, and [`Refusal::Settled`] when its request is.
    pub fn call(&mut self, now: Instant, call: NewCall) -> Result<CallId, Refusal> {
        let terms = self.terms_of_call(&call)?;
        let id = self.open_call(now, call.patience)?;
        let mut params = call.params;
        let meta = self.call_meta(&terms, id, call.wants_progress, params.remove("_meta"));
        if !meta.is_empty() {
            params.insert("_meta".into(), meta.into_object().into());
        }
        self.transmit_call(id, call.lane, call.method.as_str(), &params);
        Ok(id)
    }

    pub(super) fn terms_of_call(&self, call: &NewCall) -> Result<Arc<Terms>, Refusal> {
        let terms = match (&self.side, call.lane) {
            _ if self.is_closed => return Err(Refusal::Closed),
            (Side::Server(_), Lane::Reply(key)) => {
                self.inbound.terms(key).ok_or(Refusal::Settled)?
            }
            (Side::Server(server), Lane::Session) if !server.may_ask(&call.method) => {
                return Err(Refusal::NotOpen);
            }
            _ => self.session_terms().ok_or(Refusal::NotOpen)?,
        };
        if matches!(self.side, Side::Server(_)) && !terms.has(Feature::ServerRequests) {
            return Err(Refusal::NoServerRequests {
                revision: terms.revision,
            });
        }
        Ok(Arc::clone(terms))
    }

    /// Sends a notification to the peer on the session's lane.
    ///
    /// # Errors
    ///
    /// [`Refusal::Closed`] after the end.
    pub fn notify(&mut self, method: &str, params: Option<&JsonObject>) -> Result<(), Refusal> {
        if self.is_closed {
            return Err(Refusal::Closed);
        }
        self.transmit_notice(Lane::Session, Class::Must, method, params);
        Ok(())
    }

    /// Gives up a call: it settles at once, and the peer is told.
    pub fn cancel_call(&mut self, call: CallId, reason: Option<String>) {
        self.abandon(call, reason, CallFailure::Cancelled);
    }

    pub(super) fn expire(&mut self, call: CallId) {
        self.abandon(
            call,
            Some("timed out".into()),
            CallFailure::TimedOut(self.limits.call_quiet),
        );
    }

    fn abandon(&mut self, call: CallId, reason: Option<String>, failure: CallFailure) {
        let Some(row) = self.outbound.close(call) else {
            return;
        };
        let failure = match failure {
            CallFailure::TimedOut(_) => CallFailure::TimedOut(row.patience.quiet),
            other => other,
        };
        // Settle first, tell the peer second: a stuck peer must not hold our caller.
        let (is_handshake, parent) = (row.is_handshake, row.parent());
        self.settle(call, row, Err(failure));
        // A call that has not left yet never will, and then there is nothing to tell.
        let is_unsent = self
            .outbox
            .discard(|transmit| transmit.kind == Kind::Call(call));
        if !is_handshake && !is_unsent {
            let lane = self.lane_of(parent);
            let mut params = CancelledParams::default();
            params.request_id = Some(call.to_request_id());
            params.reason = reason;
            self.transmit_notice(lane, Class::Must, Cancelled::NAME, Some(&params));
        }
    }

    pub(super) fn settle_answered(&mut self, call: CallId, body: ResponseBody<'_>) {
        let Some(row) = self.outbound.close(call) else {
            return;
        };
        let mut outcome = match body {
            ResponseBody::Result(result) => Ok(result.to_owned()),
            ResponseBody::Error(error) => Err(CallFailure::Answered(error)),
            ResponseBody::Contradiction => Err(CallFailure::Contradiction),
        };
        if row.is_handshake {
            outcome = outcome.and_then(|result| self.accept_welcome(result));
        }
        self.settle(call, row, outcome);
    }

    fn accept_welcome(&mut self, result: Box<RawValue>) -> Result<Box<RawValue>, CallFailure> {
        let welcome: InitializeResult =
            serde_json::from_str(result.get()).map_err(|_| CallFailure::Contradiction)?;
        let spoken = welcome
            .protocol_version
            .parse()
            .ok()
            .filter(|revision: &Revision| revision.has(Feature::Handshake));
        let Some(revision) = spoken else {
            return Err(CallFailure::Incompatible(welcome.protocol_version));
        };
        self.speak(revision);
        self.transmit_notice::<NoParams>(Lane::Session, Class::Must, Initialized::NAME, None);
        if let Some(terms) = self.session_terms().cloned() {
            self.events.push_back(Event::Opened(terms));
        }
        Ok(result)
    }

    pub(super) fn settle_all_closed(&mut self) {
        for call in self.outbound.ids() {
            if let Some(row) = self.outbound.close(call) {
                self.settle(call, row, Err(CallFailure::Closed));
            }
        }
    }

    pub(super) fn receive_progress(&mut self, now: Instant, notification: Notification<'_>) {
        let params: Params = notification.params.into();
        let Ok(progress) = params.decode::<ProgressParams>() else {
            return;
        };
        let call = self.outbound.named(&progress.progress_token.0);
        if call.is_some_and(|call| self.outbound.extend(now, call)) {
            let terms = self.session_terms().cloned();
            let notified = Notified {
                method: (&*notification.method).into(),
                params,
                terms,
            };
            self.events.push_back(Event::Notification(notified));
        }
    }

    /// A request of the server to a client.
    pub(super) fn serve_server(
        &mut self,
        key: RequestKey,
        request: Request<'_>,
    ) -> Result<(), Error> {
        let terms = self.session_terms().cloned();
        if terms
            .as_ref()
            .is_some_and(|terms| !terms.has(Feature::ServerRequests))
        {
            // Where servers ask nothing, clients answer nothing.
            tracing::debug!(
                method = &*request.method,
                "a request of a server was dropped"
            );
            return Ok(());
        }
        if request.method == Ping::NAME {
            let terms = terms.unwrap_or_else(|| Arc::new(Terms::new(Revision::LATEST_LEGACY)));
            return self.answer_empty(key, &request.id, &terms);
        }
        let terms = terms.ok_or_else(|| Error::method_not_found(&request.method))?;
        let envelope = RequestEnvelope::of_params(request.params)?;
        let incoming = Incoming {
            key,
            method: (&*request.method).into(),
            params: request.params.into(),
            terms,
            progress_token: envelope.progress_token()?,
        };
        if let Some(incoming) = self.inbound.admit(request.id, incoming, &self.limits) {
            self.events
                .push_back(Event::Request(Ticket { key: incoming.key }, incoming));
        }
        Ok(())
    }

    fn open_call(&mut self, now: Instant, patience: Option<Patience>) -> Result<CallId, Refusal> {
        if self.is_closed {
            return Err(Refusal::Closed);
        }
        let usual = Patience::new(self.limits.call_quiet, self.limits.call_ceiling);
        self.outbound
            .open(now, patience.unwrap_or(usual), &self.limits)
    }

    fn call_meta(
        &self,
        terms: &Terms,
        call: CallId,
        wants_progress: bool,
        own: Option<serde_json::Value>,
    ) -> Meta {
        let mut meta = match own {
            Some(serde_json::Value::Object(own)) => Meta::from(own),
            _ => Meta::new(),
        };
        if wants_progress {
            meta.set_progress_token(&call.to_request_id().into());
        }
        if let Side::Client(client) = &self.side
            && terms.has(Feature::Envelope)
        {
            meta.set_protocol_version(terms.revision.as_str());
            meta.set_client_info(&client.identity);
            meta.set_client_capabilities(&client.capabilities);
        }
        meta
    }

    fn transmit_call<P: serde::Serialize>(
        &mut self,
        call: CallId,
        lane: Lane,
        method: &str,
        params: &P,
    ) {
        let mut head = Vec::with_capacity(256);
        write_request(&mut head, &call.to_request_id(), method, Some(params));
        self.transmit(lane, Kind::Call(call), Frame::whole(head));
    }
}
