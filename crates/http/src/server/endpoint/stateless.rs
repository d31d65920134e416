//! Requests that are served without a session, each on its own.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use pintle_model::method::{Initialize, Listen, Method};
use pintle_model::{Revision, jsonrpc};
use pintle_proto::{ServerProfile, SingleRequest, Terms};
use pintle_runtime::Service;

use super::refuse::{call_cause, stream_cause};
use super::{Caller, Endpoint, Post, PostResult, extras, peer_identity};
use crate::rules::cause;
use crate::rules::classify::{HttpRejection, Route};
use crate::rules::media::AcceptedTypes;
use crate::server::exchange::Exchange;
use crate::server::peers::{Excess, Resource, Sender};
use crate::server::reply::{self, Era};
use crate::server::token_expiry::authorized_until;

impl<S: Service> Endpoint<S> {
    /// Accepts a request that belongs to no session.
    pub(super) fn accept_single(
        &self,
        post: Post<'_>,
        route: Route,
        terms: Option<Arc<Terms>>,
        request: jsonrpc::Request<'_>,
    ) -> PostResult<S> {
        let (parts, sender) = (Arc::clone(post.parts), post.sender);
        match route {
            Route::Exchange
                if post.forms == AcceptedTypes::Json && request.method == Listen::NAME =>
            {
                self.reject(HttpRejection::because(&cause::STREAM_NOT_ACCEPTED))
                    .into()
            }
            Route::Exchange => {
                let terms = terms.expect("a request that stands alone has stated its terms");
                self.exchange(terms, parts, sender, request)
            }
            Route::Sessionless(revision) => self.sessionless(revision, parts, sender, request),
            _ => reply::bare(StatusCode::ACCEPTED).into(),
        }
    }

    fn exchange(
        &self,
        terms: Arc<Terms>,
        parts: Arc<Parts>,
        sender: &Sender,
        request: jsonrpc::Request<'_>,
    ) -> PostResult<S> {
        let id = request.id.clone();
        let listens = request.method == Listen::NAME;
        let limits = Arc::clone(&self.options.conversation_limits);
        let resource = match listens {
            true => Resource::Stream,
            false => Resource::Call,
        };
        let permit = match self.permit(&sender.peer, resource) {
            Ok(permit) => permit,
            Err(excess) if listens => return self.crowded(Some(&id), stream_cause(excess)).into(),
            Err(excess) => return self.crowded(Some(&id), call_cause(excess)).into(),
        };
        let until = authorized_until(&parts);
        let (profile, peer) = (self.service.profile(), peer_identity(&parts));
        let request = SingleRequest::receive(profile, limits, terms, peer, request);
        let extras = extras(parts, sender);
        let mut exchange = Exchange::begin(&self.service, request, extras, permit);
        if listens {
            self.begin_mail();
            exchange = exchange.listen(&self.service, self.closed.clone(), until);
        }
        PostResult::Waiting {
            source: Caller::Exchange(exchange),
            id,
            era: Era::Modern,
        }
    }

    fn sessionless(
        &self,
        revision: Revision,
        parts: Arc<Parts>,
        sender: &Sender,
        request: jsonrpc::Request<'_>,
    ) -> PostResult<S> {
        let id = request.id.clone();
        match self.sessionless_caller(revision, parts, sender, request) {
            Ok(source) => PostResult::Waiting {
                source,
                id,
                era: Era::Legacy,
            },
            Err(excess) => self.crowded(Some(&id), call_cause(excess)).into(),
        }
    }

    /// Serves a request of the handshake era on its own.
    ///
    /// # Errors
    ///
    /// [`Excess`] if too many requests of the peer run.
    pub(in crate::server) fn sessionless_caller(
        &self,
        revision: Revision,
        parts: Arc<Parts>,
        sender: &Sender,
        request: jsonrpc::Request<'_>,
    ) -> Result<Caller<S>, Excess> {
        let permit = self.permit(&sender.peer, Resource::Call)?;
        let profile = self.sessionless_profile();
        let limits = Arc::clone(&self.options.conversation_limits);
        let (terms, peer) = (Arc::new(Terms::new(revision)), peer_identity(&parts));
        let request = if request.method == Initialize::NAME {
            SingleRequest::receive_initialize(profile, limits, terms, peer, request)
        } else {
            SingleRequest::receive(profile, limits, terms, peer, request)
        };
        let exchange = Exchange::begin(&self.service, request, extras(parts, sender), permit);
        Ok(Caller::Exchange(exchange))
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
