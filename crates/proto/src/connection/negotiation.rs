//! The server's side: what the negotiation with its client has settled.
//!
//! ```text
//!           initialize                    notifications/initialized
//!  Open ─────────────────► Session, not ready ────────────────────► Session, ready
//!                             ▲    │ initialize                          │ initialize
//!                             └────┴─────────────────────────────────────┘
//!  Fixed: no transition, because the terms were settled outside.
//! ```
//!
//! In `Open` and `Session` a request that states its own terms is served on these terms. It changes
//! no state but `spoke_modern`, because one request must not change how another one is read. A second
//! `initialize` first ends the old session, because the client behind it may be another one.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::method::{Method, MethodName, Ping};

use crate::io::PeerIdentity;
use crate::lifecycle::TermsCache;
use crate::profile::ServerProfile;
use crate::terms::Terms;

#[derive(Debug)]
pub(super) struct ServerSide {
    pub(super) profile: Arc<ServerProfile>,
    pub(super) negotiation: Negotiation,
    // None after the opening or its timeout, because `Event::Abandoned` is raised at most once.
    pub(super) handshake_deadline: Option<Instant>,
    // Equal text has equal terms, so terms of one request are reused for the next one.
    pub(super) memo: TermsCache,
    // Clients that share an identity cannot list tasks, because they would see each other's.
    pub(super) peer: PeerIdentity,
}

/// State of the negotiation before a request is read.
#[derive(Debug)]
pub(super) enum Negotiation {
    /// Nothing; whether the peer has stated terms of its own before.
    // True after a request with its own terms other than `server/discover`. From then on a request
    // without terms is answered with an error that asks for them, because its client is modern.
    Open { spoke_modern: bool },
    /// The terms of the handshake, and whether the client confirmed it.
    // `is_ready` stays true until the next handshake, because a client confirms only once. Until
    // then the only calls on the lane of the session are pings.
    Session { terms: Arc<Terms>, is_ready: bool },
    /// Every request is served on these terms: they were settled outside.
    Fixed(Arc<Terms>),
}

impl ServerSide {
    /// Whether the session may be asked: anything once the client is ready, a ping before.
    pub(super) fn may_ask(&self, method: &MethodName) -> bool {
        match &self.negotiation {
            Negotiation::Open { .. } => false,
            Negotiation::Session { is_ready, .. } => *is_ready || method.as_str() == Ping::NAME,
            Negotiation::Fixed(_) => true,
        }
    }
}
