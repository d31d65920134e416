//! The server's side: what it knows of its client.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::method::{Method, MethodName, Ping};

use crate::io::PeerIdentity;
use crate::lifecycle::TermsMemo;
use crate::profile::ServerProfile;
use crate::terms::Terms;

#[derive(Debug)]
pub(super) struct ServerSide {
    pub(super) profile: Arc<ServerProfile>,
    pub(super) ground: Ground,
    pub(super) handshake_deadline: Option<Instant>,
    pub(super) memo: TermsMemo,
    pub(super) peer: PeerIdentity,
}

/// What a server knows of its peer before a request is read.
#[derive(Debug)]
pub(super) enum Ground {
    /// Nothing; whether the peer has stated terms of its own before.
    Open { spoke_modern: bool },
    /// What the handshake agreed on; whether the client confirmed it.
    Session { terms: Arc<Terms>, is_ready: bool },
    /// Every request is served on these terms: they were settled outside.
    Fixed(Arc<Terms>),
}

impl ServerSide {
    /// Whether the session may be asked: anything once the client is ready, a ping before.
    pub(super) fn may_ask(&self, method: &MethodName) -> bool {
        match &self.ground {
            Ground::Open { .. } => false,
            Ground::Session { is_ready, .. } => *is_ready || method.as_str() == Ping::NAME,
            Ground::Fixed(_) => true,
        }
    }
}
