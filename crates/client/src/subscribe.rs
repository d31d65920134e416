//! Listening to changes for a caller, who may lose the conversation meanwhile.

use std::sync::Arc;

use pintle_model::method::{Listen, Method};
use pintle_model::{Feature, SubscriptionFilter};
use pintle_runtime::BoxFuture;

use crate::change_queue::ChangeQueue;
use crate::client::Client;
use crate::dispatch::Audience;
use crate::error::CallError;
use crate::listen::{Subscription, listen_legacy, listen_modern};
use crate::recovery::Recovery;
use crate::request::Request;

/// Listens, and once more where the conversation was lost meanwhile: what was begun on it is over.
// Boxed here, so that other crates do not compile it again.
pub(crate) fn listen(
    client: &Client,
    filter: SubscriptionFilter,
) -> BoxFuture<'_, Result<Subscription, CallError>> {
    Box::pin(persist(client, filter))
}

async fn persist(client: &Client, filter: SubscriptionFilter) -> Result<Subscription, CallError> {
    let mut request = Request::new(Listen::NAME);
    request.is_repeatable = true;
    let mut recovery = Recovery::default();
    loop {
        let error = match listen_once(client, filter.clone()).await {
            Ok(subscription) => return Ok(subscription),
            Err(error) => error,
        };
        if !recovery
            .recover(&client.0, client, &mut request, &error)
            .await
        {
            return Err(error);
        }
        tracing::debug!(%error, "listening begins again");
    }
}

async fn listen_once(
    client: &Client,
    filter: SubscriptionFilter,
) -> Result<Subscription, CallError> {
    let session = client.0.session(&Listen::NAME.into()).await?;
    let change_queue = Arc::new(ChangeQueue::new(client.0.options.max_queued_changes));
    if session.info.revision.has(Feature::Listen) {
        let wait = client.0.options.limits.call_idle_timeout;
        return listen_modern(session, filter, change_queue, wait, Audience::Caller).await;
    }
    listen_legacy(session, filter, change_queue).await
}
