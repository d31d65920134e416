//! Listening to changes on one conversation, in either era.

mod legacy;
mod stream;

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::method::{Listen, Method, MethodName};
use pintle_model::{ListenParams, ServerCapabilities, SubscriptionFilter};
use pintle_proto::{CallId, Lane, NewCall, Timeouts};

use crate::change_queue::{ChangeQueue, Ended};
use crate::conversation::Conversation;
use crate::dispatch::{Audience, Listener};
use crate::error::{CallError, Misbehavior};

use legacy::begin;
pub use stream::Subscription;

/// Subscribes with a listen call, and waits up to `wait` for the acknowledgement.
pub(crate) async fn listen_modern(
    session: Arc<Conversation>,
    filter: SubscriptionFilter,
    change_queue: Arc<ChangeQueue>,
    wait: Duration,
    audience: Audience,
) -> Result<Subscription, CallError> {
    let method = MethodName::from(Listen::NAME);
    let params = serde_json::to_vec(&ListenParams::new(filter.clone()));
    let params = params.map_err(|error| CallError::InvalidParams {
        method: method.clone(),
        reason: error.to_string(),
    })?;
    let key = session.dispatcher.add(|| {
        let listen = make(&session, Listen::NAME, params)?;
        Ok(Listener {
            filter,
            listen: Some(listen),
            change_queue: Arc::clone(&change_queue),
            audience,
        })
    });
    let key = key.map_err(|source| CallError::NotSent {
        method: method.clone(),
        source,
    })?;
    // From here on, dropping the future ends the listening at the server.
    let subscription = Subscription::new(session, key, Arc::clone(&change_queue));
    let granted = poll_fn(|task| change_queue.poll_granted(task));
    match tokio::time::timeout(wait, granted).await {
        Ok(Ok((granted, false))) => Ok(subscription.with_granted(granted)),
        Ok(Ok((_, true))) => Err(CallError::Misbehaved {
            method,
            source: Misbehavior::ExcessiveAcknowledgement,
        }),
        Ok(Err(Ended::Failed(failure))) => Err(CallError::of(&method, failure)),
        // A server that can report nothing may end the subscription at once.
        Ok(Err(Ended::ByServer)) => Ok(subscription),
        Err(_) => Err(CallError::TimedOut {
            method,
            timeout: wait,
        }),
    }
}

/// Subscribes to each resource with a request, up to 2025-11-25.
pub(crate) async fn listen_legacy(
    session: Arc<Conversation>,
    filter: SubscriptionFilter,
    change_queue: Arc<ChangeQueue>,
) -> Result<Subscription, CallError> {
    let granted = offered(&filter, &session.info.capabilities);
    let listener = Listener {
        filter: granted.clone(),
        listen: None,
        change_queue: Arc::clone(&change_queue),
        audience: Audience::Caller,
    };
    let uris = granted.resource_subscriptions.clone().unwrap_or_default();
    let added: Result<u64, std::convert::Infallible> = session.dispatcher.add(|| Ok(listener));
    let Ok(key) = added;
    let subscription =
        Subscription::new(Arc::clone(&session), key, change_queue).with_granted(granted);
    for uri in uris {
        let turn = session.turns.take(&uri).await;
        begin(Arc::clone(&session), uri, turn).await?;
    }
    Ok(subscription)
}

/// Returns a listen call without a timeout.
fn make(
    session: &Conversation,
    method: &str,
    params: Vec<u8>,
) -> Result<CallId, pintle_proto::SendError> {
    let mut call = NewCall::new(method, bytes::Bytes::from(params));
    call.timeouts = Some(Timeouts::new(Duration::MAX, Duration::MAX));
    call.lane = Lane::Session;
    let now = tokio::time::Instant::now().into_std();
    session
        .peer
        .with_engine_mut(|engine| engine.call(now, call))
}

/// Reduces a filter to the changes that the server can report.
pub(crate) fn offered(
    filter: &SubscriptionFilter,
    offered: &ServerCapabilities,
) -> SubscriptionFilter {
    let mut granted = SubscriptionFilter::new();
    let tells = |asked: bool, tells: Option<bool>| (asked && tells == Some(true)).then_some(true);
    let tools = offered.tools.as_ref().and_then(|tools| tools.list_changed);
    let prompts = offered
        .prompts
        .as_ref()
        .and_then(|prompts| prompts.list_changed);
    let resources = offered.resources.as_ref();
    let lists = resources.and_then(|resources| resources.list_changed);
    granted.tools_list_changed = tells(filter.wants_tools(), tools);
    granted.prompts_list_changed = tells(filter.wants_prompts(), prompts);
    granted.resources_list_changed = tells(filter.wants_resources(), lists);
    if resources.is_some_and(|resources| resources.subscribe == Some(true)) {
        granted
            .resource_subscriptions
            .clone_from(&filter.resource_subscriptions);
    }
    granted
}
