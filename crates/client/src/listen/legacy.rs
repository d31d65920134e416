//! The subscriptions of a session, up to 2025-11-25: one request for each resource.

use std::sync::Arc;

use pintle_model::SubscribeParams;
use pintle_model::method::{Method, MethodName, Subscribe, Unsubscribe};
use pintle_proto::{NewCall, PeerCallError};

use crate::conversation::Conversation;
use crate::error::CallError;
use crate::turns::Turn;

/// Subscribes to a resource in its turn. If the caller drops the future, the turn lasts until the
/// server has answered. Otherwise the unsubscription could overtake the subscription over HTTP.
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
            // The runtime shuts down.
            Err(_) => Err(CallError::of(
                &Subscribe::NAME.into(),
                PeerCallError::Closed,
            )),
        },
    }
}

/// Sends a subscription or unsubscription, and waits for the answer.
async fn speak(session: &Conversation, method: &str, uri: String) -> Result<(), CallError> {
    let method = MethodName::from(method);
    let params = serde_json::to_vec(&SubscribeParams::new(uri));
    let params = params.map_err(|error| CallError::InvalidParams {
        method: method.clone(),
        reason: error.to_string(),
    })?;
    let mut call = NewCall::new(method.clone(), bytes::Bytes::from(params));
    call.timeouts = Some(session.timeouts);
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

/// Unsubscribes from a resource in its turn, unless another listener subscribes to it by then.
pub(super) async fn leave(session: Arc<Conversation>, uri: String) {
    let _turn = session.turns.leave(&uri).await;
    if session.dispatcher.wants_resource(&uri) {
        return;
    }
    // The server may keep reporting changes of the resource, which the client drops.
    if let Err(error) = speak(&session, Unsubscribe::NAME, uri).await {
        tracing::debug!(%error, "a server was not told that nobody listens");
    }
}
