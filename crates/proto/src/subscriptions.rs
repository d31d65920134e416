//! Recipients of changes: one table for both eras.
//!
//! A legacy session receives every list change, and changes of the resources it subscribed to. A
//! modern listener receives only the changes it asked for, on the lane of its own request.

use std::collections::BTreeSet;

use serde_json::Value;

use pintle_model::{RequestId, ServerCapabilities, SubscriptionFilter, TASKS_EXTENSION};

use crate::io::RequestKey;
use crate::limits::Limits;
use crate::profile::ServerProfile;
use crate::terms::Terms;
use crate::topic::{Change, NoticeSubject, Topic, is_offered};

/// The longest id of a task that is followed, in bytes.
const MAX_TASK_ID: usize = 256;

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
        self.listens.len() < limits.max_listeners
    }

    /// Ends a listener; false if there is no listener with this key.
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
        let fits = uri.len() <= limits.max_uri_bytes
            && bytes <= limits.max_subscribed_uri_bytes
            && self.uris.len() < limits.max_subscribed_uris;
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

    /// Ends all subscriptions of the session.
    pub(crate) fn unsubscribe_all(&mut self) {
        self.uris.clear();
        self.uri_bytes = 0;
    }

    /// The resources that the session or a listener subscribed to.
    pub(crate) fn all_uris(&self) -> BTreeSet<String> {
        let mut uris = self.listened_uris();
        uris.extend(self.uris.iter().cloned());
        uris
    }

    /// The resources that listeners subscribed to.
    pub(crate) fn listened_uris(&self) -> BTreeSet<String> {
        let listens = self.listens.iter();
        let filters = listens.filter_map(|listen| listen.filter.resource_subscriptions.as_ref());
        filters.flatten().cloned().collect()
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

    /// Whether this listener asked for these news.
    pub(crate) fn wants(&self, about: &NoticeSubject, topics: &[Topic]) -> bool {
        match about {
            NoticeSubject::Change(Change::Tools) => self.filter.wants_tools(),
            NoticeSubject::Change(Change::Prompts) => self.filter.wants_prompts(),
            NoticeSubject::Change(Change::Resources) => self.filter.wants_resources(),
            NoticeSubject::Change(Change::Resource(uri)) => self.filter.wants_resource(uri),
            NoticeSubject::Topic { notice, key } => topics
                .iter()
                .filter(|topic| topic.notice() == &**notice)
                .any(|topic| topic.is_wanted(&self.filter, key.as_deref())),
        }
    }
}

/// The part of a filter that a server honours for a client on these terms.
pub(crate) fn honoured(
    mut requested: SubscriptionFilter,
    profile: &ServerProfile,
    terms: &Terms,
    limits: &Limits,
) -> SubscriptionFilter {
    let offers = |change: &Change| is_offered(change, profile.capabilities());
    let keep = |requested: Option<bool>, change: Change| {
        requested.filter(|requested| *requested && offers(&change))
    };
    let mut room = Room::new(limits);
    let uris = requested
        .resource_subscriptions
        .filter(|_| offers(&Change::Resource(String::new())));
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = keep(requested.tools_list_changed, Change::Tools);
    filter.prompts_list_changed = keep(requested.prompts_list_changed, Change::Prompts);
    filter.resources_list_changed = keep(requested.resources_list_changed, Change::Resources);
    filter.resource_subscriptions = uris.map(|uris| room.take(uris));
    let tasks = requested
        .task_ids
        .filter(|_| offers_tasks(profile.capabilities()));
    filter.task_ids = tasks.map(|ids| followed(ids, limits));
    for topic in profile.topics() {
        let requested = requested.extra.shift_remove(topic.member());
        let is_mutual = profile.speaks(topic.extension(), terms);
        if let Some(granted) = requested
            .filter(|_| is_mutual)
            .and_then(|requested| room.admit(requested))
        {
            filter.extra.insert(topic.member().to_owned(), granted);
        }
    }
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
    distinct
        .into_iter()
        .take(limits.max_followed_tasks)
        .collect()
}

/// Names that one listener may still subscribe to.
struct Room<'l> {
    limits: &'l Limits,
    names: usize,
    bytes: usize,
}

impl<'l> Room<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            names: limits.max_subscribed_uris,
            bytes: limits.max_subscribed_uri_bytes,
        }
    }

    /// The names there is room for, each once.
    fn take(&mut self, names: Vec<String>) -> Vec<String> {
        let distinct: BTreeSet<_> = names
            .into_iter()
            .filter(|name| name.len() <= self.limits.max_uri_bytes)
            .collect();
        let mut taken = Vec::new();
        for name in distinct {
            if self.names == 0 || name.len() > self.bytes {
                break;
            }
            self.names -= 1;
            self.bytes -= name.len();
            taken.push(name);
        }
        taken
    }

    /// Returns the part of an extension's filter that the server grants; `None` if its form is
    /// invalid.
    fn admit(&mut self, filter: Value) -> Option<Value> {
        match filter {
            Value::Bool(true) => Some(filter),
            Value::Array(names) => {
                let names = names.into_iter().filter_map(|name| match name {
                    Value::String(name) => Some(name),
                    _ => None,
                });
                Some(self.take(names.collect()).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_that_a_listener_follows_are_bounded() {
        let mut limits = Limits {
            max_followed_tasks: 2,
            ..Limits::default()
        };
        let long = "x".repeat(MAX_TASK_ID + 1);
        let requested = ["c", "b", "b", "a", &long].map(str::to_owned);
        assert_eq!(followed(requested[..3].to_vec(), &limits), ["b", "c"]);
        assert_eq!(followed(requested.to_vec(), &limits), ["a", "b"]);
        limits.max_followed_tasks = 9;
        assert_eq!(followed(requested.to_vec(), &limits), ["a", "b", "c"]);
    }

    // spec: 2026-07-28 N-SUBS-23 (URIs)
    #[test]
    fn the_uris_of_a_peer_are_bounded_in_number_and_in_bytes() {
        let mut limits = Limits::default();
        (limits.max_subscribed_uris, limits.max_subscribed_uri_bytes) = (3, 6);
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
        let requested = || ["a:1", "a:2", "a"].map(str::to_owned).to_vec();
        let mut room = Room::new(&limits);
        assert_eq!(room.take(requested()), ["a", "a:1"]);
        assert_eq!(
            room.admit(requested().into()),
            Some(serde_json::json!(["a"]))
        );
        assert_eq!(room.admit(Value::from("a:1")), None);
    }
}
