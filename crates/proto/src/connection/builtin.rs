//! Methods that the engine of a server answers: the handshake, discovery, log levels and
//! subscriptions.

use std::sync::Arc;

use pintle_model::jsonrpc::Request;
use pintle_model::method::{Acknowledged, Notice};
use pintle_model::{
    AcknowledgedParams, ClientCapabilities, Error, ErrorCode, Feature, JsonObject, ListenParams,
    ListenResult, LoggingLevel, Meta, RequestId, SetLevelParams, SubscribeParams, TASKS_EXTENSION,
};
use serde_json::json;

use super::{Connection, Negotiation, Side};
use crate::io::{DropPolicy, Event, IncomingNotice, IncomingRequest, Lane, RequestKey};
use crate::reply::{Rendered, Reply};
use crate::subscriptions::honoured;
use crate::terms::Terms;

impl Connection {
    /// Answers `initialize`. A second one begins a new session in place of the first.
    pub(super) fn shake_hands(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
    ) -> Result<(), Error> {
        let Side::Server(server) = &self.side else {
            return Err(Error::method_not_found(&request.method));
        };
        let terms = server.profile.agree(request.params)?;
        let welcome = server.profile.welcome(terms.revision, &server.peer)?;
        self.end_session();
        if let Side::Server(server) = &mut self.side {
            server.negotiation = Negotiation::Session {
                terms: Arc::clone(&terms),
                is_ready: false,
            };
        }
        self.transmit_reply(key, &request.id, &terms, welcome);
        Ok(())
    }

    pub(super) fn answer_discover(
        &mut self,
        key: RequestKey,
        id: &RequestId,
        terms: &Terms,
    ) -> Result<(), Error> {
        let Side::Server(server) = &self.side else {
            return Err(Error::internal());
        };
        let reply = Reply::complete(server.profile.discovery(terms.revision), terms.revision)?;
        self.transmit_reply(key, id, terms, reply);
        Ok(())
    }

    pub(super) fn set_level(&mut self, incoming: &IncomingRequest) -> Result<(), Error> {
        let params: SetLevelParams = incoming.params.read()?;
        if let LoggingLevel::Unknown(level) = &params.level {
            return Err(Error::invalid_params(format!("unknown log level: {level}")));
        }
        if let Side::Server(server) = &mut self.side
            && let Negotiation::Session { terms, .. } = &mut server.negotiation
        {
            Arc::make_mut(terms).log_level = Some(params.level);
        }
        Ok(())
    }

    pub(super) fn subscribe(&mut self, incoming: &IncomingRequest) -> Result<(), Error> {
        let params: SubscribeParams = incoming.params.read()?;
        if !self.subscriptions.subscribe(params.uri, &self.limits) {
            return Err(Error::invalid_params(
                "too many subscriptions, or too long a URI",
            ));
        }
        Ok(())
    }

    pub(super) fn unsubscribe(&mut self, incoming: &IncomingRequest) -> Result<(), Error> {
        let params: SubscribeParams = incoming.params.read()?;
        self.subscriptions.unsubscribe(&params.uri);
        Ok(())
    }

    /// Opens a listener: the acknowledgement comes first, the result when the listening ends.
    pub(super) fn listen(
        &mut self,
        id: RequestId,
        incoming: &IncomingRequest,
    ) -> Result<(), Error> {
        let params: ListenParams = incoming.params.read()?;
        if !self.subscriptions.has_room(&self.limits) {
            return Err(Error::internal());
        }
        let Side::Server(server) = &self.side else {
            return Err(Error::internal());
        };
        let server_passes_settings = server.profile.passes_settings();
        let asks_for_tasks = params.notifications.task_ids.is_some();
        if asks_for_tasks
            && incoming
                .terms
                .capabilities
                .extension(TASKS_EXTENSION)
                .is_none()
        {
            return Err(needs_tasks());
        }
        let filter = honoured(
            params.notifications,
            &server.profile,
            &incoming.terms,
            &self.limits,
        );
        let mut acknowledged = AcknowledgedParams::new(filter.clone());
        acknowledged.meta = Some(tagged(&id));
        self.inbound.hold(id.clone(), incoming);
        self.subscriptions.listen(incoming.key, id, filter);
        if server_passes_settings {
            let notified = IncomingNotice {
                method: incoming.method.clone(),
                params: incoming.params.clone(),
                terms: Some(Arc::clone(&incoming.terms)),
            };
            self.events
                .push_back(Event::Notification(Box::new(notified)));
        }
        self.transmit_notice(
            Lane::Reply(incoming.key),
            DropPolicy::Never,
            Acknowledged::NAME,
            Some(&acknowledged),
        );
        Ok(())
    }

    /// Ends every listener gracefully: each gets its result.
    ///
    /// Spec: 2026-07-28, Subscriptions, ending a subscription.
    pub fn end_listens(&mut self) {
        let listens: Vec<_> = self
            .subscriptions
            .listens()
            .iter()
            .map(|listen| (listen.key, listen.id.clone()))
            .collect();
        for (key, id) in listens {
            self.end_listen(key, &id);
        }
    }

    fn end_listen(&mut self, key: RequestKey, id: &RequestId) {
        self.subscriptions.close(key);
        let Some(row) = self.inbound.remove(key) else {
            return;
        };
        let meta = ListenResult::new(id).meta;
        let reply = Reply::Complete(Rendered::from_object(
            crate::profile::EMPTY_OBJECT,
            Some(meta),
        ));
        self.transmit_reply(key, id, &row.terms, reply);
    }

    /// Returns the terms of the session if changes are sent to it without a listener.
    pub(super) fn pushes_changes(&self) -> Option<&Terms> {
        let Side::Server(server) = &self.side else {
            return None;
        };
        match &server.negotiation {
            Negotiation::Session { terms, is_ready } => {
                (*is_ready && terms.has(Feature::SessionSubscriptions)).then_some(&**terms)
            }
            _ => None,
        }
    }
}

/// -32021: only clients that know tasks may follow them.
fn needs_tasks() -> Error {
    let needed = ClientCapabilities::default().with_extension(TASKS_EXTENSION, JsonObject::new());
    let message = "the client does not declare the tasks extension";
    Error::new(ErrorCode::MISSING_CLIENT_CAPABILITY, message)
        .with_data(json!({ "requiredCapabilities": needed }))
}

/// The metadata of everything that belongs to a listener.
pub(super) fn tagged(id: &RequestId) -> Meta {
    let mut meta = Meta::new();
    meta.set_subscription_id(id);
    meta
}
