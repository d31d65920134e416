//! Watches cached results: the conversation listens for the changes that would make them stale.
//!
//! Up to 2025-11-25 servers report changes of lists without a request, and the client caches
//! nothing. Since 2026-07-28 the client sends its own `subscriptions/listen` for every list that
//! the server can report, and for the cached resources. When the server acknowledges, the client
//! removes the results that it cached before, because a change may have been missed. It does the
//! same after a gap. Only the cache receives these changes. They are separate from the
//! subscriptions of the caller.
//!
//! Decision 24 has the reasons and the costs.

use std::sync::Arc;
use std::time::Duration;

use pintle_model::{Feature, ServerCapabilities, SubscriptionFilter};
use pintle_proto::Change;
use tokio::time::{Instant, sleep};

use crate::cache::Cache;
use crate::change_queue::ChangeQueue;
use crate::conversation::Conversation;
use crate::dispatch::Audience;
use crate::error::CallError;
use crate::listen::{Subscription, listen_modern, offered};
use crate::options::ClientOptions;
use crate::state::ClientState;

/// How long the client collects resources before it subscribes to them, so that one message
/// suffices.
const GATHERING: Duration = Duration::from_secs(1);

/// Starts to watch, unless a watcher runs or the server reports no changes that matter.
pub(crate) fn watch(state: &ClientState, session: &Arc<Conversation>) {
    let options = &state.options;
    if !options.watch_cache
        || !session.info.revision.has(Feature::Listen)
        || !tells_of_anything(&session.info.capabilities)
        || !session.begin_watch()
    {
        return;
    }
    let watcher = Watcher {
        session: Arc::clone(session),
        cache: Arc::clone(&state.cache),
        options: options.clone(),
    };
    let mut end = session.end.clone();
    tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = end.wait_for(Option::is_some) => {}
            () = watcher.run() => tracing::debug!("the server does not tell of changes"),
        }
    });
}

/// The watcher of one conversation.
struct Watcher {
    session: Arc<Conversation>,
    cache: Arc<Cache>,
    options: ClientOptions,
}

/// The subscription of the watcher.
struct Watched {
    subscription: Subscription,
    requested: SubscriptionFilter,
    since: Instant,
}

impl Watcher {
    /// Listens until the server refuses.
    async fn run(self) {
        let mut watched: Option<Watched> = None;
        let mut failures = 0;
        loop {
            if self.must_ask(watched.as_ref()) {
                match self.listen(watched.as_ref()).await {
                    Ok(Some(anew)) => watched = Some(anew),
                    Ok(None) | Err(CallError::Answered { .. } | CallError::Misbehaved { .. }) => {
                        return;
                    }
                    Err(error) => {
                        tracing::debug!(%error, "changes cannot be listened to");
                        failures += 1;
                        sleep(self.options.reconnect_delay_after(failures)).await;
                        continue;
                    }
                }
            }
            let Some(open) = &mut watched else {
                self.cache.grown().await;
                continue;
            };
            tokio::select! {
                biased;
                change = open.subscription.next() => if change.is_none() {
                    let was_good = open.since.elapsed() > self.options.max_reconnect_delay;
                    failures = if was_good { 1 } else { failures + 1 };
                    watched = None;
                    sleep(self.options.reconnect_delay_after(failures)).await;
                },
                () = self.cache.grown() => sleep(GATHERING).await,
            }
        }
    }

    /// Returns true if the client should subscribe to something that it does not listen for.
    fn must_ask(&self, watched: Option<&Watched>) -> bool {
        let filter = self.filter(watched);
        let Some(watched) = watched else {
            return !is_nothing(&filter);
        };
        let mut uris = filter.resource_subscriptions.iter().flatten();
        uris.any(|uri| !watched.requested.wants_resource(uri))
    }

    /// Returns every list that the server can report, and resources up to the limit. Cached and
    /// subscribed resources come first, then cached ones, then formerly cached ones.
    fn filter(&self, watched: Option<&Watched>) -> SubscriptionFilter {
        let offers = &self.session.info.capabilities;
        let mut filter = listed(offers);
        if tells_of_resources(offers) {
            let requested =
                watched.and_then(|watched| watched.requested.resource_subscriptions.as_ref());
            let kept = self.cache.uris();
            let was_asked =
                |uri: &String| requested.is_some_and(|requested| requested.contains(uri));
            let gone = requested.into_iter().flatten();
            let gone: Vec<_> = gone.filter(|uri| !kept.contains(uri)).cloned().collect();
            let (mut uris, new): (Vec<_>, Vec<_>) = kept.into_iter().partition(was_asked);
            uris.extend(new);
            uris.extend(gone);
            uris.truncate(self.options.max_watched_resources);
            filter.resource_subscriptions = (!uris.is_empty()).then_some(uris);
        }
        filter
    }

    /// Subscribes again; none if the server grants nothing. Removes the results that were not
    /// watched until now.
    async fn listen(&self, before: Option<&Watched>) -> Result<Option<Watched>, CallError> {
        let requested = self.filter(before);
        let change_queue = Arc::new(ChangeQueue::new(self.options.max_queued_changes));
        let timeout = self.options.limits.call_idle_timeout;
        let session = Arc::clone(&self.session);
        let subscription = listen_modern(
            session,
            requested.clone(),
            change_queue,
            timeout,
            Audience::Cache,
        )
        .await?;
        if is_nothing(subscription.granted()) {
            return Ok(None);
        }
        for change in covered(subscription.granted()) {
            let was_covered =
                before.is_some_and(|watched| is_covered(&change, &watched.subscription));
            if !was_covered {
                self.cache.changed(&change);
            }
        }
        Ok(Some(Watched {
            subscription,
            requested,
            since: Instant::now(),
        }))
    }
}

/// Returns every list that a server can report.
fn listed(offers: &ServerCapabilities) -> SubscriptionFilter {
    let mut all = SubscriptionFilter::new();
    all.tools_list_changed = Some(true);
    all.prompts_list_changed = Some(true);
    all.resources_list_changed = Some(true);
    offered(&all, offers)
}

fn tells_of_anything(offers: &ServerCapabilities) -> bool {
    tells_of_resources(offers) || !is_nothing(&listed(offers))
}

fn tells_of_resources(offers: &ServerCapabilities) -> bool {
    let resources = offers.resources.as_ref();
    resources.is_some_and(|resources| resources.subscribe == Some(true))
}

fn is_nothing(filter: &SubscriptionFilter) -> bool {
    !filter.wants_tools()
        && !filter.wants_prompts()
        && !filter.wants_resources()
        && filter
            .resource_subscriptions
            .iter()
            .flatten()
            .next()
            .is_none()
}

/// Returns the changes that a filter passes.
fn covered(filter: &SubscriptionFilter) -> Vec<Change> {
    let lists = [
        (filter.wants_tools(), Change::Tools),
        (filter.wants_prompts(), Change::Prompts),
        (filter.wants_resources(), Change::Resources),
    ];
    let lists = lists.into_iter().filter(|(is_wanted, _)| *is_wanted);
    let uris = filter.resource_subscriptions.iter().flatten();
    let resources = uris.map(|uri| Change::Resource(uri.clone()));
    lists.map(|(_, change)| change).chain(resources).collect()
}

fn is_covered(change: &Change, subscription: &Subscription) -> bool {
    covered(subscription.granted()).contains(change)
}
