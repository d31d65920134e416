//! Listening to changes, in either era.

mod legacy;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use pintle_model::method::{Listen, Method, MethodName};
use pintle_model::{Feature, ListenParams, ServerCapabilities, SubscriptionFilter};
use pintle_proto::{CallFailure, CallId, Change, Lane, NewCall, Patience};
use tokio::runtime::Handle;

use crate::call::Request;
use crate::change_queue::{Ended, Feed};
use crate::client::Client;
use crate::conversation::Session;
use crate::dispatch::Listener;
use crate::error::{CallError, Misbehavior};
use crate::recovery::Mends;

use legacy::{leave, listen_legacy};

/// A subscription: a stream of changes. Dropping it ends the listening; the server is told.
///
/// It ends with its conversation: listen again then, and look at what may have changed meanwhile.
#[must_use = "a subscription that is dropped ends"]
pub struct Subscription {
    session: Arc<Session>,
    key: u64,
    feed: Arc<Feed>,
    granted: SubscriptionFilter,
    ended: Option<Ended>,
    /// Where the farewell is said.
    runtime: Handle,
}

/// Listens, and once more where the conversation was lost meanwhile: what was begun on it is over.
pub(crate) async fn listen(
    client: &Client,
    filter: SubscriptionFilter,
) -> Result<Subscription, CallError> {
    let mut request = Request::new(Listen::NAME);
    request.is_repeatable = true;
    let mut mends = Mends::default();
    loop {
        let error = match listen_once(client, filter.clone()).await {
            Ok(subscription) => return Ok(subscription),
            Err(error) => error,
        };
        if !mends.mend(client, &mut request, &error).await {
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
    let feed = Arc::new(Feed::new(client.0.options.queued_changes));
    if session.info.revision.has(Feature::Listen) {
        let wait = client.0.options.limits.call_quiet;
        return listen_modern(session, filter, feed, wait, Audience::Caller).await;
    }
    listen_legacy(session, filter, feed).await
}

/// Who hears what a subscription is told. Closed: there is nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Whoever subscribed, and whoever hears of changes altogether.
    Caller,
    /// Nobody but the cache, which hears everything.
    Cache,
}

/// Listens where listening is a call, and waits up to `wait` for what is granted.
pub(crate) async fn listen_modern(
    session: Arc<Session>,
    filter: SubscriptionFilter,
    feed: Arc<Feed>,
    wait: Duration,
    audience: Audience,
) -> Result<Subscription, CallError> {
    let method = MethodName::from(Listen::NAME);
    let params = serde_json::to_vec(&ListenParams::new(filter.clone()));
    let params = params.map_err(|error| CallError::Invalid {
        method: method.clone(),
        reason: error.to_string(),
    })?;
    let key = session.hub.add(|| {
        let listen = make(&session, Listen::NAME, params)?;
        Ok(Listener {
            filter,
            listen: Some(listen),
            feed: Arc::clone(&feed),
            audience,
        })
    });
    let key = key.map_err(|source| CallError::Refused {
        method: method.clone(),
        source,
    })?;
    let mut subscription = Subscription {
        session,
        key,
        feed,
        granted: SubscriptionFilter::new(),
        ended: None,
        runtime: Handle::current(),
    };
    let granted = poll_fn(|task| subscription.feed.poll_granted(task));
    match tokio::time::timeout(wait, granted).await {
        Ok(Ok((granted, false))) => {
            subscription.granted = granted;
            Ok(subscription)
        }
        Ok(Ok((_, true))) => Err(CallError::Misbehaved {
            method,
            source: Misbehavior::ExcessiveAcknowledgement,
        }),
        Ok(Err(Ended::Failed(failure))) => Err(CallError::of(&method, failure)),
        // A server that has nothing to tell may say so at once.
        Ok(Err(Ended::ByServer)) => Ok(subscription),
        Err(_) => Err(CallError::TimedOut {
            method,
            patience: wait,
        }),
    }
}

/// A call that lasts for as long as it takes.
fn make(session: &Session, method: &str, params: Vec<u8>) -> Result<CallId, pintle_proto::Refusal> {
    let mut call = NewCall::new(method, bytes::Bytes::from(params));
    call.patience = Some(Patience::new(Duration::MAX, Duration::MAX));
    call.lane = Lane::Session;
    let now = tokio::time::Instant::now().into_std();
    session.peer.act(|engine| engine.call(now, call))
}

/// What a session is told without and with subscribing.
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

impl Subscription {
    /// What the server tells of: what was asked for, or less.
    pub fn granted(&self) -> &SubscriptionFilter {
        &self.granted
    }

    /// Waits for the next change; none when the listening has ended.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|task| self.poll_change(task)).await
    }

    /// How many changes were not kept since this was asked last, because nobody took them.
    pub fn missed(&self) -> u64 {
        self.feed.take_missed()
    }

    /// Why the listening has ended; none while it goes on, or when the server ended it in good
    /// order.
    pub fn failure(&self) -> Option<&CallFailure> {
        match &self.ended {
            Some(Ended::Failed(failure)) => Some(failure),
            _ => None,
        }
    }

    fn poll_change(&mut self, task: &Context<'_>) -> Poll<Option<Change>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        self.feed.poll_next(task).map(|next| match next {
            Ok(change) => Some(change),
            Err(ended) => {
                self.ended = Some(ended);
                None
            }
        })
    }
}

impl Stream for Subscription {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Change>> {
        self.poll_change(task)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(listener) = self.session.hub.remove(self.key) else {
            return;
        };
        if let Some(listen) = listener.listen {
            let reason = Some("nobody listens any more".to_owned());
            return self
                .session
                .peer
                .act(|engine| engine.cancel_call(listen, reason));
        }
        let uris = listener.filter.resource_subscriptions.unwrap_or_default();
        for uri in uris {
            let session = &self.session;
            if !session.hub.wants_resource(&uri) && session.turns.begin_leaving(&uri) {
                self.runtime.spawn(leave(Arc::clone(session), uri));
            }
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("granted", &self.granted)
            .finish_non_exhaustive()
    }
}
