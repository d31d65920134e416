//! One request, sent on a conversation, and its answer.

use std::future::poll_fn;

use bytes::Bytes;
use pintle_model::Feature;
use pintle_proto::{NewCall, PeerCallError};
use pintle_runtime::{
    Connect as _, ObservedConversation, ObservedRequest, RequestEnd, RequestObserver, Step,
};
use serde_json::value::RawValue;

use crate::conversation::Conversation;
use crate::error::CallError;
use crate::pending_task::PendingTask;
use crate::request::Request;
use crate::state::ClientState;

/// The observer of a request; `None` if the client has none.
type Observed = Option<Box<dyn RequestObserver>>;

/// One request and its answer.
pub(crate) async fn exchange(
    state: &ClientState,
    session: &Conversation,
    request: &mut Request,
    body: Bytes,
) -> Result<Box<RawValue>, CallError> {
    let (mut call, observed) = send(state, session, request, body)?;
    loop {
        match poll_fn(|task| call.poll_step(task)).await {
            Step::Progress(progress) => {
                if let Some(observer) = &mut request.on_progress {
                    observer(progress);
                }
            }
            Step::Done(outcome) => {
                if let Some(observed) = observed {
                    observed.end(end_of(&outcome));
                }
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
) -> Result<(PendingTask, Observed), CallError> {
    let params = state.observer.is_some().then(|| body.clone());
    let mut call = NewCall::new(request.method.clone(), body);
    call.timeouts = Some(request.timeouts.or_default(session.timeouts));
    call.wants_progress = request.on_progress.is_some();
    call.routing.clone_from(&request.routing);
    call.meta.clone_from(&request.meta);
    call.capabilities.clone_from(&request.capabilities);
    if session.info.revision.has(Feature::RequestLogLevel)
        && let Some(level) = state.log_level()
    {
        call.meta.set_log_level(&level);
    }
    let mut observed = params.and_then(|params| observe(state, session, &mut call, &params));
    match session.peer.call(call) {
        Ok(made) => {
            if let Some(observed) = &mut observed {
                observed.sent(&made.id().to_request_id());
            }
            let pending = PendingTask::new(&session.peer, made, request.is_augmented);
            Ok((pending, observed))
        }
        Err(source) => {
            if let Some(observed) = observed {
                observed.end(RequestEnd::NotSent);
            }
            let method = request.method.clone();
            Err(CallError::NotSent { method, source })
        }
    }
}

/// Begins the observation of a request, if the client has an observer.
fn observe(
    state: &ClientState,
    session: &Conversation,
    call: &mut NewCall,
    params: &[u8],
) -> Observed {
    let observer = state.observer.as_ref()?;
    let conversation = observed_conversation(state, session);
    let observed = ObservedRequest::new(call.method.as_str(), params, conversation);
    Some(observer.begin(&observed, &mut call.meta))
}

/// Describes a conversation to an observer.
pub(crate) fn observed_conversation(
    state: &ClientState,
    session: &Conversation,
) -> ObservedConversation {
    let conversation = ObservedConversation::new(session.info.revision, state.connect.binding());
    conversation.server(state.connect.server_address())
}

fn end_of(outcome: &Result<Box<RawValue>, PeerCallError>) -> RequestEnd<'_> {
    match outcome {
        Ok(result) => RequestEnd::Result(result),
        Err(failure) => RequestEnd::Failed(failure),
    }
}
