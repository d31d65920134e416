//! The parts of a request beside its message.

use std::sync::Arc;

use http::HeaderMap;
use http::request::Parts;
use pintle_proto::PeerIdentity;
use pintle_runtime::{Extensions, Principal};

use crate::server::exchange::RequestExtras;
use crate::server::peers::Sender;

/// Maximum capacity of headers whose memory is used again.
const MAX_SPARE_HEADERS: usize = 32;

/// Collects the parts of the request that a handler can read: the principal and the head. A counted body
/// stays counted until the handler ends, because the handler has a copy of the parameters.
pub(in crate::server) fn extras(parts: Arc<Parts>, sender: &Sender) -> RequestExtras {
    let principal = parts.extensions.get::<Principal>().cloned();
    let mut extensions = Extensions::new();
    extensions.insert_shared(parts);
    if let Some(body) = &sender.body {
        extensions.insert_shared(Arc::clone(body));
    }
    RequestExtras {
        principal,
        extensions,
    }
}

/// Empties the headers of a request. hyper keeps the headers of a response for the next request, so a
/// connection needs memory for headers once.
pub(super) fn spare_headers(mut parts: Arc<Parts>) -> HeaderMap {
    let Some(parts) = Arc::get_mut(&mut parts) else {
        return HeaderMap::new();
    };
    let mut headers = std::mem::take(&mut parts.headers);
    // A connection that is idle stores them.
    if headers.capacity() > MAX_SPARE_HEADERS {
        return HeaderMap::new();
    }
    headers.clear();
    headers
}

/// Returns the principal of a request, if an authorizing layer has set one.
#[inline]
pub(in crate::server) fn peer_identity(parts: &Parts) -> PeerIdentity {
    let principal = parts.extensions.get::<Principal>();
    PeerIdentity::authorized(principal.map(Principal::id))
}
