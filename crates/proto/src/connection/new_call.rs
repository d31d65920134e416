//! A call before it is made: its method, its parameters and its options.

use std::sync::Arc;

use bytes::Bytes;

use pintle_model::method::MethodName;
use pintle_model::{ClientCapabilities, JsonObject, Meta};

use crate::io::Lane;
use crate::outbound::{Routing, Timeouts};

/// A call about to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewCall {
    /// The method to call.
    pub method: MethodName,
    /// The parameters of the method; the engine adds the envelope where the revision has one.
    pub params: CallParams,
    /// The caller's members of `_meta`. The engine overwrites the members that it sets itself.
    pub meta: Meta,
    /// The lane on which the call leaves.
    pub lane: Lane,
    /// The timeouts of the call; `None` for those of the limits.
    pub timeouts: Option<Timeouts>,
    /// Whether the peer is asked to send progress.
    pub wants_progress: bool,
    /// The values that a binding repeats outside of the message.
    pub routing: Option<Arc<Routing>>,
    /// The capabilities that the request states, in revisions where each request states them; `None` for those of
    /// the client. For a proxy, whose requests have different senders.
    pub capabilities: Option<Arc<ClientCapabilities>>,
}

/// The parameters of a request that this side sends: a value, or rendered bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum CallParams {
    /// As a value.
    Object(JsonObject),
    /// As the bytes of a JSON object without `_meta` and without line breaks.
    Rendered(Bytes),
}

impl From<JsonObject> for CallParams {
    fn from(params: JsonObject) -> Self {
        Self::Object(params)
    }
}

impl From<Bytes> for CallParams {
    fn from(params: Bytes) -> Self {
        debug_assert!(params.starts_with(b"{") && params.ends_with(b"}"));
        Self::Rendered(params)
    }
}

impl NewCall {
    /// A call of `method` on the session's lane.
    pub fn new(method: impl Into<MethodName>, params: impl Into<CallParams>) -> Self {
        Self {
            method: method.into(),
            params: params.into(),
            meta: Meta::new(),
            lane: Lane::Session,
            timeouts: None,
            wants_progress: false,
            routing: None,
            capabilities: None,
        }
    }
}
