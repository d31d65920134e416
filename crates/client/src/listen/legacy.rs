//! Subscriptions of a session, up to 2025-11-25: each resource by itself, lists unasked.

use std::sync::Arc;

use pintle_model::method::{Method, MethodName, Subscribe, Unsubscribe};
use pintle_model::{SubscribeParams, SubscriptionFilter};
use pintle_proto::{CallFailure, NewCall};
use tokio::runtime::Handle;

use super::{Audience, Subscription, offered};
use crate::change_queue::Feed;
use crate::conversation::Session;
use crate::dispatch::Listener;
use crate::error::CallError;
use crate::turns::Turn;

/// Subscribes to each resource, where listening is no call.
pub(super) async fn listen_legacy(
    session: Arc<Session>,
    filter: SubscriptionFilter,
    feed: Arc<Feed>,
) -> Result<Subscription, CallError> {
    let granted = offered(&filter, &session.info.capabilities);
    let listener = Listener {
        filter: granted.clone(),
        listen: None,
        feed: Arc::clone(&feed),
        audience: Audience::Caller,
    };
    let uris = granted.resource_subscriptions.clone().unwrap_or_default();
    let added: Result<u64, std::convert::Infallible> = session.hub.add(|| Ok(listener));
    let Ok(key) = added;
    let subscription = Subscription {
        session,
        key,
        feed,
        granted,
        ended: None,
        runtime: Handle::current(),
    };
    let session = &subscription.session;
    for uri in uris {
        let turn = session.turns.take(&uri).await;
        begin(Arc::clone(session), uri, turn).await?;
    }
    Ok(subscription)
}

/// Subscribes to a resource in its turn. If the caller gives up, the turn still lasts until the server
/// has answered: over HTTP the end of a subscription would overtake its beginning.
async fn begin(session: Arc<Session>, uri: String, turn: Turn) -> Result<(), CallError> {
    let beginning = tokio::spawn(async move {
        let _turn = turn;
        speak(&session, Subscribe::NAME, uri).await
    });
    match beginning.await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends.
            Err(_) => Err(CallError::of(&Subscribe::NAME.into(), CallFailure::Closed)),
        },
    }
}

/// Says that a resource is of interest, or is not any more, and waits for the answer.
async fn speak(session: &Session, method: &str, uri: String) -> Result<(), CallError> {
    let method = MethodName::from(method);
    let params = serde_json::to_vec(&SubscribeParams::new(uri));
    let params = params.map_err(|error| CallError::Invalid {
        method: method.clone(),
        reason: error.to_string(),
    })?;
    let mut call = NewCall::new(method.clone(), bytes::Bytes::from(params));
    call.patience = Some(session.patience);
    let call = session
        .peer
        .call(call)
        .map_err(|source| CallError::Refused {
            method: method.clone(),
            source,
        })?;
    let outcome = call.outcome().await;
    outcome
        .map(drop)
        .map_err(|failure| CallError::of(&method, failure))
}

/// Says in its turn that a resource is of no interest any more, unless it is by then.
pub(super) async fn leave(session: Arc<Session>, uri: String) {
    let _turn = session.turns.leave(&uri).await;
    if session.hub.wants_resource(&uri) {
        return;
    }
    // A server that is gone, or has too much to do, keeps telling what nobody hears.
    if let Err(error) = speak(&session, Unsubscribe::NAME, uri).await {
        tracing::debug!(%error, "a server was not told that nobody listens");
    }
}
