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
use crate::reply::Reply;
use crate::terms::Terms;

impl Connection {
    pub(super) fn serve(&mut self, key: RequestKey, request: Request<'_>) -> Result<(), Error> {
        if request.method == Initialize::NAME && !self.is_fixed() {
            return self.shake_hands(key, &request);
        }
        let envelope = RequestEnvelope::of_params(request.params).map_err(refuse_envelope)?;
        let terms = self.terms_for(&request.method, &envelope)?;
        let progress_token = envelope.progress_token().map_err(refuse_envelope)?;
        let method = MethodName::from(&*request.method);
        self.check_method(&method, terms.revision)?;
        let incoming = IncomingRequest {
            key,
            method,
            params: request.params.into(),
            terms,
            progress_token,
        };
        self.route(request, incoming)
    }

    fn route(&mut self, request: Request<'_>, incoming: IncomingRequest) -> Result<(), Error> {
        match &*request.method {
            Ping::NAME => self.answer_empty(incoming.key, &request.id, &incoming.terms),
            Discover::NAME => self.answer_discover(incoming.key, &request.id, &incoming.terms),
            SetLevel::NAME => self.set_level(&request.id, &incoming),
            Subscribe::NAME => self.subscribe(&request.id, &incoming),
            Unsubscribe::NAME => self.unsubscribe(&request.id, &incoming),
            Listen::NAME => self.listen(request.id, &incoming),
            _ => self.admit(request, incoming),
        }
    }

    fn admit(&mut self, request: Request<'_>, incoming: IncomingRequest) -> Result<(), Error> {
        if self.inbound.is_overrun(&self.limits) {
            let message = "too many requests wait; try again later";
            return Err(Error::new(ErrorCode::INTERNAL_ERROR, message));
        }
        // A client that works is there, confirmed or not.
        if let Side::Server(server) = &mut self.side {
            server.handshake_deadline = None;
        }
        if let Some(incoming) = self.inbound.admit(request.id, incoming, &self.limits) {
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

    /// A method must exist in the revision, and its capability must have been offered.
    fn check_method(&self, method: &MethodName, revision: Revision) -> Result<(), Error> {
        let Side::Server(server) = &self.side else {
            return Ok(());
        };
        let exists =
            support_of(method.as_str()).is_none_or(|need: MethodSupport| need.met_by(revision));
        // A list would show one client the tasks of another, because anonymous clients share one
        // identity.
        let is_private =
            method.as_str() == ListTasks::NAME && server.peer == PeerIdentity::Anonymous;
        let capabilities = server.profile.capabilities();
        if exists && !is_private && is_offered(method.as_str(), revision, capabilities) {
            return Ok(());
        }
        Err(Error::method_not_found(method.as_str()))
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
