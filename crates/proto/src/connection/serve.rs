//! A request of a client: admitted on its terms, or refused.

use std::sync::Arc;

use pintle_model::jsonrpc::Request;
use pintle_model::method::{
    Discover, Initialize, Initialized, ListTasks, Listen, Method, MethodName, MethodSupport,
    Notice, Ping, SetLevel, Subscribe, Unsubscribe, support_of,
};
use pintle_model::{EmptyResult, Error, ErrorCode, RequestEnvelope, Revision};

use super::{Connection, Negotiation, ServerSide, Side};
use crate::io::{Event, IncomingRequest, PeerIdentity, RequestKey, Ticket};
use crate::lifecycle::{claimed_revision, missing_envelope, refuse_envelope};
use crate::method_check::is_offered;
use crate::profile::ServerProfile;
use crate::reply::Reply;
use crate::terms::Terms;

impl Connection {
    pub(super) fn serve(&mut self, key: RequestKey, request: &Request<'_>) -> Result<(), Error> {
        if request.method == Initialize::NAME && !self.is_fixed() {
            return self.shake_hands(key, request);
        }
        let envelope =
            RequestEnvelope::of_params(request.params.as_ref()).map_err(refuse_envelope)?;
        let terms = self.terms_for(&request.method, &envelope)?;
        let incoming = incoming_request(key, request, &envelope, terms)?;
        if let Side::Server(server) = &self.side {
            let revision = incoming.terms.revision;
            check_method(&incoming.method, revision, &server.profile, &server.peer)?;
        }
        self.route(request, incoming)
    }

    fn route(
        &mut self,
        request: &Request<'_>,
        incoming: Box<IncomingRequest>,
    ) -> Result<(), Error> {
        let Some(method) = EngineMethod::named(&request.method) else {
            return self.admit(request, incoming);
        };
        match method {
            EngineMethod::Ping => self.answer_empty(incoming.key, &request.id, &incoming.terms),
            EngineMethod::Discover => {
                self.answer_discover(incoming.key, &request.id, &incoming.terms)
            }
            EngineMethod::Listen => self.listen(request.id.clone(), &incoming),
            EngineMethod::SetLevel => {
                self.set_level(&incoming)?;
                self.end_setting(request, incoming)
            }
            EngineMethod::Subscribe => {
                self.subscribe(&incoming)?;
                self.end_setting(request, incoming)
            }
            EngineMethod::Unsubscribe => {
                self.unsubscribe(&incoming)?;
                self.end_setting(request, incoming)
            }
        }
    }

    /// Answers a request that has changed a setting, or lets the service answer it.
    fn end_setting(
        &mut self,
        request: &Request<'_>,
        incoming: Box<IncomingRequest>,
    ) -> Result<(), Error> {
        match &self.side {
            Side::Server(server) if server.profile.passes_settings() => {
                self.admit(request, incoming)
            }
            _ => self.answer_empty(incoming.key, &request.id, &incoming.terms),
        }
    }

    fn admit(
        &mut self,
        request: &Request<'_>,
        incoming: Box<IncomingRequest>,
    ) -> Result<(), Error> {
        if self.inbound.is_overrun(&self.limits) {
            let message = "too many requests wait; try again later";
            return Err(Error::new(ErrorCode::INTERNAL_ERROR, message));
        }
        // A client that works is there, confirmed or not.
        if let Side::Server(server) = &mut self.side {
            server.handshake_deadline = None;
        }
        let id = request.id.clone();
        if let Some(incoming) = self.inbound.admit(id, incoming, &self.limits) {
            self.events
                .push_back(Event::Request(Ticket { key: incoming.key }, incoming));
        }
        Ok(())
    }

    pub(super) fn answer_empty(
        &mut self,
        key: RequestKey,
        id: &pintle_model::RequestId,
        terms: &Terms,
    ) -> Result<(), Error> {
        let reply = Reply::complete(EmptyResult::default(), terms.revision)?;
        self.transmit_reply(key, id, terms, reply);
        Ok(())
    }

    pub(super) fn is_fixed(&self) -> bool {
        matches!(
            &self.side,
            Side::Server(ServerSide {
                negotiation: Negotiation::Fixed(_),
                ..
            })
        )
    }

    /// Each request is judged on its own envelope, or on what the handshake agreed; nothing else
    /// that a peer sends changes how later requests are read.
    fn terms_for(
        &mut self,
        method: &str,
        envelope: &RequestEnvelope<'_>,
    ) -> Result<Arc<Terms>, Error> {
        let Side::Server(server) = &mut self.side else {
            return Err(Error::internal());
        };
        match &mut server.negotiation {
            Negotiation::Fixed(terms) => Ok(Arc::clone(terms)),
            negotiation if envelope.is_claimed() => {
                let terms = server.memo.terms(envelope, claimed_revision(envelope)?)?;
                server.handshake_deadline = None;
                if let Negotiation::Open { spoke_modern } = negotiation {
                    *spoke_modern |= method != Discover::NAME;
                }
                Ok(terms)
            }
            Negotiation::Session { terms, .. } => Ok(Arc::clone(terms)),
            Negotiation::Open { .. } if method == Ping::NAME => {
                Ok(Arc::new(Terms::new(Revision::LATEST_LEGACY)))
            }
            Negotiation::Open { spoke_modern } if *spoke_modern || method == Discover::NAME => {
                Err(missing_envelope())
            }
            Negotiation::Open { .. } => Err(Error::invalid_request(
                "not initialized: send initialize first, or state the terms in _meta",
            )),
        }
    }

    /// Notes that the client has confirmed the handshake.
    pub(super) fn note_ready(&mut self, method: &str) -> bool {
        if method != Initialized::NAME {
            return false;
        }
        if let Side::Server(server) = &mut self.side
            && let Negotiation::Session { terms, is_ready } = &mut server.negotiation
            && !std::mem::replace(is_ready, true)
        {
            let terms = Arc::clone(terms);
            server.handshake_deadline = None;
            self.events.push_back(Event::Opened(terms));
        }
        true
    }
}

/// A method that the engine answers itself.
#[derive(Debug, Clone, Copy)]
pub(super) enum EngineMethod {
    Ping,
    Discover,
    SetLevel,
    Subscribe,
    Unsubscribe,
    Listen,
}

impl EngineMethod {
    #[inline]
    pub(super) fn named(method: &str) -> Option<Self> {
        match method {
            Ping::NAME => Some(Self::Ping),
            Discover::NAME => Some(Self::Discover),
            SetLevel::NAME => Some(Self::SetLevel),
            Subscribe::NAME => Some(Self::Subscribe),
            Unsubscribe::NAME => Some(Self::Unsubscribe),
            Listen::NAME => Some(Self::Listen),
            _ => None,
        }
    }
}

/// Reads the parts of a request that its handler receives.
#[inline]
pub(super) fn incoming_request(
    key: RequestKey,
    request: &Request<'_>,
    envelope: &RequestEnvelope<'_>,
    terms: Arc<Terms>,
) -> Result<Box<IncomingRequest>, Error> {
    let progress_token = envelope.progress_token().map_err(refuse_envelope)?;
    Ok(Box::new(IncomingRequest {
        key,
        method: MethodName::from(&*request.method),
        params: request.params.into(),
        terms,
        progress_token,
    }))
}

/// Checks that a method exists in the revision, and that the server offers its capability.
pub(super) fn check_method(
    method: &MethodName,
    revision: Revision,
    profile: &ServerProfile,
    peer: &PeerIdentity,
) -> Result<(), Error> {
    let name = method.as_str();
    let exists = support_of(name).is_none_or(|need: MethodSupport| need.met_by(revision));
    // A list would show one client the tasks of another, because anonymous clients share one
    // identity.
    let is_private = name == ListTasks::NAME && *peer == PeerIdentity::Anonymous;
    if exists && !is_private && is_offered(name, revision, profile.capabilities()) {
        return Ok(());
    }
    Err(Error::method_not_found(name))
}
