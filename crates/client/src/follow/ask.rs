//! One request about a task.

use std::sync::Arc;

use bytes::Bytes;
use pintle_model::method::Method;
use pintle_proto::Routing;
use pintle_proto::lifecycle::Binding;
use pintle_runtime::{BoxFuture, Connect};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::conversation::Conversation;
use crate::error::{CallError, Misbehavior};
use crate::recovery::persist;
use crate::request::{CallTimeouts, Request};
use crate::result::RawOutcome;
use crate::state::ClientState;
use crate::tool_lookup::ToolLookup;

/// An answer, and the conversation in which it arrived.
pub(crate) type Made = (Box<RawValue>, Arc<Conversation>);

/// Creates a request about a task. It may be sent twice without a further effect.
pub(crate) fn request<M: Method>(
    state: &ClientState,
    id: &str,
    params: &impl Serialize,
    timeouts: CallTimeouts,
) -> Request {
    let mut request = Request::new(M::NAME);
    request.params = serde_json::to_vec(params)
        .map(Bytes::from)
        .map_err(|error| error.to_string());
    if state.connect.binding() == Binding::Http {
        request.routing = Some(Arc::new(Routing::new(id)));
    }
    request.timeouts = timeouts;
    request.is_repeatable = true;
    request
}

/// Sends the request.
///
/// # Errors
///
/// [`CallError`], with the method that was asked.
// Boxed here, so that other crates do not compile it again.
pub(crate) fn ask<'a>(
    state: &'a ClientState,
    lookup: &'a dyn ToolLookup,
    mut request: Request,
) -> BoxFuture<'a, Result<Made, CallError>> {
    Box::pin(async move {
        match persist(state, lookup, &mut request, None).await? {
            (RawOutcome::Result(raw), session) => Ok((raw, session)),
            (RawOutcome::Task(_), _) => Err(CallError::Misbehaved {
                method: request.method,
                source: Misbehavior::UnexpectedTask,
            }),
        }
    })
}
