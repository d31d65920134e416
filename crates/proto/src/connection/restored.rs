//! The engine of a session whose handshake another engine performed.

use std::sync::Arc;

use pintle_model::LoggingLevel;
use pintle_model::jsonrpc::RequestId;

use super::{Connection, Negotiation, Side};
use crate::lifecycle::SESSION_LOG_LEVEL;
use crate::limits::Limits;
use crate::profile::ServerProfile;
use crate::terms::Terms;

impl Connection {
    /// The server's side of a session whose handshake another engine performed, such as one in
    /// another process. `is_ready` states whether the client has confirmed the handshake.
    ///
    /// A ready engine raises no [`Event::Opened`](crate::Event::Opened). One that is not ready has
    /// no deadline until [`Connection::expect_opening`]. It has no subscriptions of the session. Without a minimum level
    /// of log messages in the terms, it is `info`, as after a handshake.
    ///
    /// Several engines of one session need [prefixes](Connection::with_call_prefix), because an id of
    /// a call must not repeat in a session.
    pub fn restored(
        profile: Arc<ServerProfile>,
        limits: Arc<Limits>,
        mut terms: Arc<Terms>,
        is_ready: bool,
    ) -> Self {
        Arc::make_mut(&mut terms)
            .log_level
            .get_or_insert(SESSION_LOG_LEVEL);
        let negotiation = Negotiation::Session { terms, is_ready };
        Self::new(Side::server(profile, negotiation), limits)
    }

    /// Replaces the settings of a session: the minimum level of log messages, and the URIs of the subscribed
    /// resources. Without a level it is `info`, as after a handshake. Another engine of the session received them. URIs beyond the limits are omitted.
    pub fn set_session_settings<'a>(
        &mut self,
        level: Option<LoggingLevel>,
        subscribed: impl IntoIterator<Item = &'a str>,
    ) {
        if let Side::Server(server) = &mut self.side
            && let Negotiation::Session { terms, .. } = &mut server.negotiation
        {
            Arc::make_mut(terms).log_level = level.or(Some(SESSION_LOG_LEVEL));
        }
        self.subscriptions.unsubscribe_all();
        for uri in subscribed {
            self.subscriptions.subscribe(uri.to_owned(), &self.limits);
        }
    }

    /// Returns true if an id has the prefix of this engine, so that no other engine of the session knows the call.
    pub fn has_prefix_of(&self, call: &RequestId) -> bool {
        self.outbound.has_prefix_of(call)
    }

    /// The same conversation before its first call, whose calls have ids of this prefix, a dot and a
    /// number. Without a prefix an id is a number. Answers to other ids are late.
    #[must_use]
    pub fn with_call_prefix(mut self, prefix: &str) -> Self {
        self.outbound.set_prefix(prefix);
        self
    }
}
