//! Requests that are served without a session, each on its own.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use pintle_model::method::{Initialize, Listen, Method};
use pintle_model::{RequestId, Revision, jsonrpc};
use pintle_proto::{ServerProfile, SingleRequest, Terms};
use pintle_runtime::Service;

use super::{Caller, Endpoint, PostResult, extras, peer_identity};
use crate::server::exchange::Exchange;
use crate::server::reply::{self, Era};
use crate::server::token_expiry::authorized_until;

impl<S: Service> Endpoint<S> {
    pub(super) fn exchange(
        &self,
        terms: Arc<Terms>,
        parts: Arc<Parts>,
        request: jsonrpc::Request<'_>,
    ) -> PostResult<S> {
        let id = request.id.clone();
        let listens = request.method == Listen::NAME;
        let limits = Arc::clone(&self.options.conversation_limits);
        let permit = if listens {
            self.stream_permit(&parts)
        } else {
            None
        };
        if listens && permit.is_none() {
            return reply::crowded(Some(&id), StatusCode::SERVICE_UNAVAILABLE).into();
        }
        let until = authorized_until(&parts);
        let (profile, peer) = (self.service.profile(), peer_identity(&parts));
        let request = SingleRequest::receive(profile, limits, terms, peer, request);
        let mut exchange = Exchange::begin(&self.service, request, extras(parts));
        if let Some(permit) = permit {
            exchange = exchange.listen(&self.service, self.closed.clone(), permit, until);
        }
        PostResult::Waiting {
            source: Caller::Exchange(exchange),
            id,
            era: Era::Modern,
        }
    }

    pub(super) fn sessionless(
        &self,
        revision: Revision,
        parts: Arc<Parts>,
        request: jsonrpc::Request<'_>,
    ) -> PostResult<S> {
        let (id, source) = self.sessionless_caller(revision, parts, request);
        PostResult::Waiting {
            source,
            id,
            era: Era::Legacy,
        }
    }

    /// Serves a request of the handshake era on its own.
    pub(in crate::server) fn sessionless_caller(
        &self,
        revision: Revision,
        parts: Arc<Parts>,
        request: jsonrpc::Request<'_>,
    ) -> (RequestId, Caller<S>) {
        let id = request.id.clone();
        let profile = self.sessionless_profile();
        let limits = Arc::clone(&self.options.conversation_limits);
        let (terms, peer) = (Arc::new(Terms::new(revision)), peer_identity(&parts));
        let request = if request.method == Initialize::NAME {
            SingleRequest::receive_initialize(profile, limits, terms, peer, request)
        } else {
            SingleRequest::receive(profile, limits, terms, peer, request)
        };
        let exchange = Exchange::begin(&self.service, request, extras(parts));
        (id, Caller::Exchange(exchange))
    }

    /// Returns the profile without the features that need state between two requests.
    fn sessionless_profile(&self) -> Arc<ServerProfile> {
        let whole = self.service.profile();
        let mut kept = self.sessionless_profile.lock();
        if let Some([known, without]) = &*kept
            && Arc::ptr_eq(known, &whole)
        {
            return Arc::clone(without);
        }
        let without = Arc::new(whole.stateless());
        *kept = Some([whole, Arc::clone(&without)]);
        without
    }
}
