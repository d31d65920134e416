//! The subscriptions of a session, up to 2025-11-25: one request for each resource.

use std::sync::Arc;

use pintle_model::SubscribeParams;
use pintle_model::method::{Method, MethodName, Subscribe, Unsubscribe};
use pintle_proto::{NewCall, PeerCallError};

use crate::conversation::Conversation;
use crate::error::CallError;
use crate::turns::Turn;

/// Subscribes to a resource in its turn. If the caller gives up, the turn still lasts until the server
/// has answered: over HTTP the end of a subscription would overtake its beginning.
pub(super) async fn begin(
    session: Arc<Conversation>,
    uri: String,
    turn: Turn,
) -> Result<(), CallError> {
    let beginning = tokio::spawn(async move {
        let _turn = turn;
        speak(&session, Subscribe::NAME, uri).await
    });
    match beginning.await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends.
            Err(_) => Err(CallError::of(
                &Subscribe::NAME.into(),
                PeerCallError::Closed,
            )),
        },
    }
}

/// Says that a resource is of interest, or is not any more, and waits for the answer.
async fn speak(session: &Conversation, method: &str, uri: String) -> Result<(), CallError> {
    let method = MethodName::from(method);
    let params = serde_json::to_vec(&SubscribeParams::new(uri));
    let params = params.map_err(|error| CallError::InvalidParams {
        method: method.clone(),
        reason: error.to_string(),
    })?;
    let mut call = NewCall::new(method.clone(), bytes::Bytes::from(params));
    call.timeouts = Some(session.patience);
    let call = session
        .peer
        .call(call)
        .map_err(|source| CallError::NotSent {
            method: method.clone(),
            source,
        })?;
    let outcome = call.outcome().await;
    outcome
        .map(drop)
        .map_err(|failure| CallError::of(&method, failure))
}

/// Says in its turn that a resource is of no interest any more, unless it is by then.
pub(super) async fn leave(session: Arc<Conversation>, uri: String) {
    let _turn = session.turns.leave(&uri).await;
    if session.hub.wants_resource(&uri) {
        return;
    }
    // A server that is gone, or has too much to do, keeps telling what nobody hears.
    if let Err(error) = speak(&session, Unsubscribe::NAME, uri).await {
        tracing::debug!(%error, "a server was not told that nobody listens");
    }
}
