//! What each peer uses of an endpoint, with a limit in total and a limit for each peer.
//!
//! A peer is a principal, or the address of an anonymous client. So one peer cannot use up what all share.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use pintle_runtime::Principal;
use pintle_runtime::sync::{Mutex, MutexGuard};

use super::options::{HttpLimits, HttpOptions};
use crate::body::{Account, BodyError};
use crate::rules::trusted_proxies::block_of;

/// The table keeps the memory for this many peers.
const FEW_PEERS: usize = 1_024;

/// The address of the client of a request: an extension of the request, beside its head.
///
/// [`HttpServer`](super::HttpServer) knows the address of each connection. Under a web framework a layer
/// inserts it, because limits for each address apply only to requests with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// The peer of a request, and its share of the bodies in memory.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) peer: Peer,
    /// Released when the body and the parameters of its requests are dropped.
    pub(super) body: Option<Arc<Permit>>,
}

/// The client of a request. Closed by design.
#[derive(Debug, Clone)]
pub(super) enum Peer {
    Principal(Principal),
    /// An anonymous client at an IPv4 address, or in a block of 64 bits of IPv6.
    Address(IpAddr),
    /// An anonymous client without a known address. Only limits in total apply to it.
    Unknown,
}

impl Peer {
    /// The peer of a connection. The connections of a trusted proxy are not limited, because many clients share
    /// them.
    pub(super) fn of_connection(address: Option<IpAddr>, options: &HttpOptions) -> Self {
        let address = address.filter(|address| !options.trusted_proxies.trusts(*address));
        address.map_or(Self::Unknown, |address| Self::Address(block_of(address)))
    }

    /// Finds the peer of a request. `address` is the other end of its connection.
    pub(super) fn of(parts: &Parts, address: Option<IpAddr>, options: &HttpOptions) -> Self {
        if let Some(principal) = parts.extensions.get::<Principal>() {
            return Self::Principal(principal.clone());
        }
        let inserted = || parts.extensions.get::<ClientAddress>();
        let address = address.or_else(|| inserted().map(|ClientAddress(address)| *address));
        match address {
            Some(address) => {
                let client = options.trusted_proxies.client(address, &parts.headers);
                Self::Address(block_of(client))
            }
            None => Self::Unknown,
        }
    }
}

impl PartialEq for Peer {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Principal(own), Self::Principal(other)) => own.id() == other.id(),
            (Self::Address(own), Self::Address(other)) => own == other,
            (Self::Unknown, Self::Unknown) => true,
            _ => false,
        }
    }
}

impl Eq for Peer {}

impl Hash for Peer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Principal(principal) => principal.id().hash(state),
            Self::Address(IpAddr::V4(address)) => state.write_u32(address.to_bits()),
            Self::Address(IpAddr::V6(address)) => state.write_u128(address.to_bits()),
            Self::Unknown => {}
        }
    }
}

/// A resource with a limit. Closed by design.
#[derive(Debug, Clone, Copy)]
pub(super) enum Resource {
    /// Bytes of request bodies that are in memory.
    BodyBytes,
    /// Requests that are served without a session and are not answered.
    Call,
    /// Streams that are not replies.
    Stream,
    /// Connections of a listener.
    Connection,
}

/// The limit that a request exceeds. Closed: there are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// The limit of its peer.
    OfPeer,
    /// The limit of all peers.
    InTotal,
}

/// The limits of one resource.
#[derive(Debug, Clone, Copy)]
struct Limit {
    total: usize,
    principal: usize,
    address: usize,
}

impl Limit {
    fn of(&self, peer: &Peer) -> usize {
        match peer {
            Peer::Principal(_) => self.principal,
            Peer::Address(_) => self.address,
            Peer::Unknown => usize::MAX,
        }
    }
}

/// The peers of one endpoint.
#[derive(Debug)]
pub(super) struct Peers {
    state: Mutex<State>,
    bodies: Limit,
    calls: Limit,
    streams: Limit,
    connections: Limit,
}

#[derive(Debug, Default)]
struct State {
    total: Used,
    by_peer: HashMap<Peer, Used>,
}

/// The amount of each resource in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Used {
    body_bytes: usize,
    calls: usize,
    streams: usize,
    connections: usize,
}

impl Used {
    fn of(&mut self, resource: Resource) -> &mut usize {
        match resource {
            Resource::BodyBytes => &mut self.body_bytes,
            Resource::Call => &mut self.calls,
            Resource::Stream => &mut self.streams,
            Resource::Connection => &mut self.connections,
        }
    }
}

impl Peers {
    pub(super) fn new(limits: &HttpLimits) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            bodies: Limit {
                total: limits.max_pending_body_bytes,
                principal: limits.max_pending_body_bytes_per_peer,
                address: limits.max_pending_body_bytes_per_peer,
            },
            // The connections limit these in total.
            calls: Limit {
                total: usize::MAX,
                principal: limits.max_calls_per_peer,
                address: limits.max_calls_per_peer,
            },
            streams: Limit {
                total: limits.max_streams,
                principal: limits.max_streams_per_principal,
                address: limits.max_streams_per_address,
            },
            // The listener limits these in total, and a connection has no principal.
            connections: Limit {
                total: usize::MAX,
                principal: usize::MAX,
                address: limits.max_connections_per_address,
            },
        })
    }

    /// Counts `amount` of a resource until the permit is dropped.
    ///
    /// # Errors
    ///
    /// [`Excess`]; nothing is counted then.
    pub(super) fn admit(
        self: &Arc<Self>,
        peer: &Peer,
        resource: Resource,
        amount: usize,
    ) -> Result<Permit, Excess> {
        self.count(peer, resource, amount)?;
        Ok(Permit {
            peers: Arc::clone(self),
            peer: peer.clone(),
            resource,
            amount,
        })
    }

    fn count(&self, peer: &Peer, resource: Resource, amount: usize) -> Result<(), Excess> {
        let (limit, of_peer) = (self.limit(resource), self.limit(resource).of(peer));
        let mut state = self.lock();
        let State { total, by_peer } = &mut *state;
        let total = total.of(resource);
        let mut known = by_peer.get_mut(peer);
        let own = known.as_mut().map_or(0, |own| *own.of(resource));
        if amount > of_peer.saturating_sub(own) {
            return Err(Excess::OfPeer);
        }
        if amount > limit.total.saturating_sub(*total) {
            return Err(Excess::InTotal);
        }
        *total += amount;
        match (known, peer) {
            (Some(own), _) => *own.of(resource) += amount,
            // Only the limits in total hold for these.
            (None, Peer::Unknown) => {}
            (None, _) => {
                let mut own = Used::default();
                *own.of(resource) = amount;
                by_peer.insert(peer.clone(), own);
            }
        }
        Ok(())
    }

    fn release(&self, peer: &Peer, resource: Resource, amount: usize) {
        let mut state = self.lock();
        *state.total.of(resource) -= amount;
        let Some(own) = state.by_peer.get_mut(peer) else {
            return;
        };
        *own.of(resource) -= amount;
        if *own == Used::default() {
            state.forget(peer);
        }
    }

    fn limit(&self, resource: Resource) -> Limit {
        match resource {
            Resource::BodyBytes => self.bodies,
            Resource::Call => self.calls,
            Resource::Stream => self.streams,
            Resource::Connection => self.connections,
        }
    }

    // Counting does not panic, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Removes a peer, and releases memory after many have left.
    fn forget(&mut self, peer: &Peer) {
        self.by_peer.remove(peer);
        let used = self.by_peer.len();
        if self.by_peer.capacity() > (4 * used).max(FEW_PEERS) {
            self.by_peer.shrink_to(2 * used);
        }
    }
}

/// The permit to use an amount of a resource, released on drop.
#[derive(Debug)]
pub(super) struct Permit {
    peers: Arc<Peers>,
    peer: Peer,
    resource: Resource,
    amount: usize,
}

impl Permit {
    /// Counts `amount` more.
    ///
    /// # Errors
    ///
    /// [`Excess`]; nothing more is counted then.
    fn grow(&mut self, amount: usize) -> Result<(), Excess> {
        self.peers.count(&self.peer, self.resource, amount)?;
        self.amount += amount;
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.peers.release(&self.peer, self.resource, self.amount);
    }
}

/// Counts the body of one request for its peer.
pub(super) struct BodyAccount<'a> {
    pub(super) peers: &'a Arc<Peers>,
    pub(super) sender: &'a mut Sender,
}

/// Why the body of a request is not read. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyRejection {
    Body(BodyError),
    Excess(Excess),
}

impl From<BodyError> for BodyRejection {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

impl Account for BodyAccount<'_> {
    type Error = BodyRejection;

    fn reserve(&mut self, bytes: usize) -> Result<(), BodyRejection> {
        let Sender { peer, body } = &mut *self.sender;
        let counted = match body.as_mut().and_then(Arc::get_mut) {
            Some(held) => held.grow(bytes),
            None => {
                let admitted = self.peers.admit(peer, Resource::BodyBytes, bytes);
                admitted.map(|permit| *body = Some(Arc::new(permit)))
            }
        };
        counted.map_err(BodyRejection::Excess)
    }
}

#[cfg(test)]
mod tests;
