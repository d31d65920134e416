//! A call before it is made: its method, its parameters and its options.

use bytes::Bytes;

use pintle_model::method::MethodName;
use pintle_model::{JsonObject, Meta};

use crate::io::Lane;
use crate::outbound::{Routing, Timeouts};

/// A call about to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NewCall {
    /// What is asked.
    pub method: MethodName,
    /// With which parameters; the engine adds the envelope where the revision has one.
    pub params: CallParams,
    /// What the caller says in `_meta`. Members that the engine sets itself are the engine's.
    pub meta: Meta,
    /// On which lane it leaves.
    pub lane: Lane,
    /// How long we wait; the limits' if none.
    pub patience: Option<Timeouts>,
    /// Whether we want to hear of progress.
    pub wants_progress: bool,
    /// What a binding repeats of it outside of the message.
    pub routing: Option<Box<Routing>>,
}

/// The parameters of a call. Closed: as a value, or as bytes.
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
            patience: None,
            wants_progress: false,
            routing: None,
        }
    }
}
