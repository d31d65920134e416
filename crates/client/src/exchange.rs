//! One request, sent on a conversation, and its answer.

use std::future::poll_fn;

use bytes::Bytes;
use pintle_model::Feature;
use pintle_proto::NewCall;
use pintle_runtime::Step;
use serde_json::value::RawValue;

use crate::conversation::Conversation;
use crate::error::CallError;
use crate::pending_task::PendingTask;
use crate::request::Request;
use crate::state::ClientState;

/// One request and its answer.
pub(crate) async fn exchange(
    state: &ClientState,
    session: &Conversation,
    request: &mut Request,
    body: Bytes,
) -> Result<Box<RawValue>, CallError> {
    let mut call = send(state, session, request, body)?;
    loop {
        match poll_fn(|task| call.poll_step(task)).await {
            Step::Progress(progress) => {
                if let Some(observer) = &mut request.on_progress {
                    observer(progress);
                }
            }
            Step::Done(outcome) => {
                return outcome.map_err(|failure| CallError::of(&request.method, failure));
            }
        }
    }
}

/// Sends a request.
///
/// # Errors
///
/// [`CallError::NotSent`].
fn send(
    state: &ClientState,
    session: &Conversation,
    request: &Request,
    body: Bytes,
) -> Result<PendingTask, CallError> {
    let mut call = NewCall::new(request.method.clone(), body);
    call.timeouts = Some(request.timeouts.or_default(session.timeouts));
    call.wants_progress = request.on_progress.is_some();
    call.routing.clone_from(&request.routing);
    call.meta.clone_from(&request.meta);
    if session.info.revision.has(Feature::RequestLogLevel)
        && let Some(level) = state.log_level()
    {
        call.meta.set_log_level(&level);
    }
    let made = session.peer.call(call);
    let made = made.map_err(|source| CallError::NotSent {
        method: request.method.clone(),
        source,
    })?;
    Ok(PendingTask::new(&session.peer, made, request.is_augmented))
}
