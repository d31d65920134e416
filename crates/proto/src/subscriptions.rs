//! Who hears of changes: one table for both eras.
//!
//! A legacy session hears of every list change, and of the resources it subscribed to. A modern
//! listener hears of exactly what it asked for, on the lane of its own request.

use std::collections::BTreeSet;

use pintle_model::{RequestId, ServerCapabilities, SubscriptionFilter, TASKS_EXTENSION};

use crate::io::RequestKey;
use crate::limits::Limits;

/// The longest id of a task that is followed, in bytes.
const MAX_TASK_ID: usize = 256;

/// Something that changed. Closed: the protocol has these.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// The set of tools.
    Tools,
    /// The set of prompts.
    Prompts,
    /// The set of resources or of templates.
    Resources,
    /// The content of one resource.
    Resource(String),
}

/// The listeners and subscriptions of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    listens: Vec<Listen>,
    uris: BTreeSet<String>,
    uri_bytes: usize,
}

/// One open `subscriptions/listen`.
#[derive(Debug)]
pub(crate) struct Listen {
    pub(crate) key: RequestKey,
    pub(crate) id: RequestId,
    filter: SubscriptionFilter,
}

impl Subscriptions {
    /// Opens a listener with the filter that was acknowledged.
    pub(crate) fn listen(&mut self, key: RequestKey, id: RequestId, filter: SubscriptionFilter) {
        self.listens.push(Listen { key, id, filter });
    }

    /// Whether another listener may be opened.
    pub(crate) fn has_room(&self, limits: &Limits) -> bool {
        self.listens.len() < limits.listens
    }

    /// Ends a listener; false if there is none of this key.
    pub(crate) fn close(&mut self, key: RequestKey) -> bool {
        let before = self.listens.len();
        self.listens.retain(|listen| listen.key != key);
        self.listens.len() < before
    }

    /// The open listeners.
    pub(crate) fn listens(&self) -> &[Listen] {
        &self.listens
    }

    /// Subscribes the session to a resource; false at the limit.
    pub(crate) fn subscribe(&mut self, uri: String, limits: &Limits) -> bool {
        if self.uris.contains(&uri) {
            return true;
        }
        let bytes = self.uri_bytes + uri.len();
        let fits = uri.len() <= limits.uri_bytes
            && bytes <= limits.subscribed_bytes
            && self.uris.len() < limits.subscribed_uris;
        if fits {
            self.uri_bytes = bytes;
            self.uris.insert(uri);
        }
        fits
    }

    /// Ends the session's subscription to a resource.
    pub(crate) fn unsubscribe(&mut self, uri: &str) {
        if self.uris.remove(uri) {
            self.uri_bytes -= uri.len();
        }
    }

    /// Whether the session subscribed to a resource.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }
}

impl Listen {
    /// Whether this listener follows a task.
    pub(crate) fn follows(&self, task_id: &str) -> bool {
        self.filter.wants_task(task_id)
    }

    /// Whether this listener asked for `change`.
    pub(crate) fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.filter.tools_list_changed == Some(true),
            Change::Prompts => self.filter.prompts_list_changed == Some(true),
            Change::Resources => self.filter.resources_list_changed == Some(true),
            Change::Resource(uri) => self
                .filter
                .resource_subscriptions
                .as_ref()
                .is_some_and(|uris| uris.contains(uri)),
        }
    }
}

/// Whether a server with these capabilities ever tells of `change`.
pub(crate) fn is_offered(change: &Change, capabilities: &ServerCapabilities) -> bool {
    let listed = |flag: Option<bool>| flag == Some(true);
    match change {
        Change::Tools => capabilities
            .tools
            .as_ref()
            .is_some_and(|tools| listed(tools.list_changed)),
        Change::Prompts => capabilities
            .prompts
            .as_ref()
            .is_some_and(|prompts| listed(prompts.list_changed)),
        Change::Resources => capabilities
            .resources
            .as_ref()
            .is_some_and(|resources| listed(resources.list_changed)),
        Change::Resource(_) => capabilities
            .resources
            .as_ref()
            .is_some_and(|resources| listed(resources.subscribe)),
    }
}

/// The part of a filter that a server with these capabilities honours.
pub(crate) fn honoured(
    asked: SubscriptionFilter,
    capabilities: &ServerCapabilities,
    limits: &Limits,
) -> SubscriptionFilter {
    let offers = |change: &Change| is_offered(change, capabilities);
    let keep =
        |asked: Option<bool>, change: Change| asked.filter(|asked| *asked && offers(&change));
    let uris = asked
        .resource_subscriptions
        .filter(|_| offers(&Change::Resource(String::new())));
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = keep(asked.tools_list_changed, Change::Tools);
    filter.prompts_list_changed = keep(asked.prompts_list_changed, Change::Prompts);
    filter.resources_list_changed = keep(asked.resources_list_changed, Change::Resources);
    filter.resource_subscriptions = uris.map(|uris| bounded(uris, limits));
    let tasks = asked.task_ids.filter(|_| offers_tasks(capabilities));
    filter.task_ids = tasks.map(|ids| followed(ids, limits));
    filter
}

/// Whether a server with these capabilities has tasks that can be followed.
fn offers_tasks(capabilities: &ServerCapabilities) -> bool {
    capabilities.extension(TASKS_EXTENSION).is_some()
}

/// Ids are ours and short: a long one names no task.
fn followed(ids: Vec<String>, limits: &Limits) -> Vec<String> {
    let distinct: BTreeSet<_> = ids
        .into_iter()
        .filter(|id| id.len() <= MAX_TASK_ID)
        .collect();
    distinct.into_iter().take(limits.followed_tasks).collect()
}

fn bounded(uris: Vec<String>, limits: &Limits) -> Vec<String> {
    let distinct: BTreeSet<_> = uris
        .into_iter()
        .filter(|uri| uri.len() <= limits.uri_bytes)
        .collect();
    let mut bytes = 0;
    let fits = |uri: &String| {
        bytes += uri.len();
        bytes <= limits.subscribed_bytes
    };
    distinct
        .into_iter()
        .take(limits.subscribed_uris)
        .take_while(fits)
        .collect()
}

/// Whether there is anything to listen to at all.
pub(crate) fn is_any_offered(capabilities: &ServerCapabilities) -> bool {
    [
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Resource(String::new()),
    ]
    .iter()
    .any(|change| is_offered(change, capabilities))
        || offers_tasks(capabilities)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_that_a_listener_follows_are_bounded() {
        let mut limits = Limits::default();
        limits.followed_tasks = 2;
        let long = "x".repeat(MAX_TASK_ID + 1);
        let asked = ["c", "b", "b", "a", &long].map(str::to_owned);
        assert_eq!(followed(asked[..3].to_vec(), &limits), ["b", "c"]);
        assert_eq!(followed(asked.to_vec(), &limits), ["a", "b"]);
        limits.followed_tasks = 9;
        assert_eq!(followed(asked.to_vec(), &limits), ["a", "b", "c"]);
    }

    #[test]
    fn the_uris_of_a_peer_are_bounded_in_number_and_in_bytes() {
        let mut limits = Limits::default();
        (limits.subscribed_uris, limits.subscribed_bytes) = (3, 6);
        let mut subscriptions = Subscriptions::default();
        let mut subscribe = |uri: &str| subscriptions.subscribe(uri.to_owned(), &limits);
        assert!(subscribe("a:1") && subscribe("a:2") && subscribe("a:1"));
        assert!(!subscribe("a"), "too many bytes");
        subscriptions.unsubscribe("a:2");
        subscriptions.unsubscribe("a:2");
        let mut subscribe = |uri: &str| subscriptions.subscribe(uri.to_owned(), &limits);
        assert!(
            subscribe("b") && subscribe("c") && !subscribe("d"),
            "too many"
        );
        let asked = ["a:1", "a:2", "a"].map(str::to_owned).to_vec();
        assert_eq!(bounded(asked, &limits), ["a", "a:1"]);
    }
}
