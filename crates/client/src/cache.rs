//! Cached results: each is fresh for the time that the server states, unless a change is reported.
//!
//! A cache belongs to one client, and so to one server. An entry is found by method and parameters,
//! and by the principal that the transport speaks for, unless the server calls it public.
//!
//! Spec: [2026-07-28, Caching][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_model::method::{
    ListPrompts, ListResourceTemplates, ListResources, ListTools, Method, ReadResource,
};
use pintle_model::{CacheScope, Freshness};
use pintle_proto::Change;
use pintle_runtime::sync::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Longest time for which a result is fresh, whatever the server states.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// Cached results by method, parameters and principal.
#[derive(Debug)]
pub(crate) struct Cache {
    entries: usize,
    bytes: usize,
    state: Mutex<State>,
    grown: Notify,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<Key, Entry>,
    bytes: usize,
    /// Number of stored results so far: the entry with the smallest number is the oldest.
    clock: u64,
    /// Number of reported changes. An answer to an earlier question is not stored after a change.
    changes: u64,
    /// Number of reported changes of the tools.
    tool_changes: u64,
}

/// The key of a result; without a principal if the result is public.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    method: &'static str,
    params: Bytes,
    principal: Option<String>,
}

#[derive(Debug)]
struct Entry {
    raw: Arc<RawValue>,
    until: Instant,
    since: u64,
}

/// A question that may be answered from the cache.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    method: &'static str,
    params: Bytes,
    principal: Option<String>,
    changes: u64,
}

#[derive(Deserialize)]
struct Hint {
    #[serde(flatten)]
    freshness: Option<Freshness>,
}

/// The methods whose results may be cached.
const KEPT: [&str; 5] = [
    ListTools::NAME,
    ListPrompts::NAME,
    ListResources::NAME,
    ListResourceTemplates::NAME,
    ReadResource::NAME,
];

impl Cache {
    pub(crate) fn new(entries: usize, bytes: usize) -> Self {
        Self {
            entries,
            bytes,
            state: Mutex::default(),
            grown: Notify::new(),
        }
    }

    /// Returns the cache question of a request if its result may be cached. Only then is the
    /// principal read.
    pub(crate) fn question(
        &self,
        method: &str,
        params: &Bytes,
        principal: impl FnOnce() -> Option<String>,
    ) -> Option<Question> {
        let method = KEPT.into_iter().find(|kept| *kept == method)?;
        (self.entries > 0).then(|| Question {
            method,
            params: params.clone(),
            principal: principal(),
            changes: self.lock().changes,
        })
    }

    /// Returns the cached result if it is fresh.
    pub(crate) fn fresh(&self, question: &Question, now: Instant) -> Option<Arc<RawValue>> {
        self.find(question, |entry| now < entry.until)
    }

    /// Returns the cached result, fresh or stale.
    pub(crate) fn stale(&self, question: &Question) -> Option<Arc<RawValue>> {
        self.find(question, |_| true)
    }

    fn find(&self, question: &Question, is_good: impl Fn(&Entry) -> bool) -> Option<Arc<RawValue>> {
        let state = self.lock();
        let own = question.key(question.principal.clone());
        let found = state.entries.get(&own);
        let found = found.or_else(|| state.entries.get(&question.key(None)));
        found
            .filter(|entry| is_good(entry))
            .map(|entry| Arc::clone(&entry.raw))
    }

    /// Stores an answer that arrived at `now`, unless the server forbids it or a change was
    /// reported since the question. Returns true if it was stored.
    pub(crate) fn put(&self, question: &Question, raw: &RawValue, now: Instant) -> bool {
        let hint = serde_json::from_str::<Hint>(raw.get()).ok();
        let freshness = hint.and_then(|hint| hint.freshness).unwrap_or_default();
        let size = raw.get().len() + question.params.len();
        let mut state = self.lock();
        let own = question.key(question.principal.clone());
        state.remove(&own);
        if freshness.ttl.is_zero() || size > self.bytes || state.changes != question.changes {
            return false;
        }
        let key = match freshness.scope {
            CacheScope::Public => question.key(None),
            CacheScope::Private => own,
        };
        state.remove(&key);
        while state.entries.len() >= self.entries || state.bytes + size > self.bytes {
            state.remove_oldest();
        }
        state.clock += 1;
        state.bytes += size;
        let entry = Entry {
            raw: Arc::from(raw.to_owned()),
            until: now + freshness.ttl.min(LONGEST),
            since: state.clock,
        };
        state.entries.insert(key, entry);
        drop(state);
        self.grown.notify_one();
        true
    }

    /// Waits until a result is stored after the last wait. It supports one waiter.
    pub(crate) async fn grown(&self) {
        self.grown.notified().await;
    }

    /// Returns the URIs of the cached resources, newest first.
    pub(crate) fn uris(&self) -> Vec<String> {
        let state = self.lock();
        let read = |(key, entry): (&Key, &Entry)| {
            let uri = (key.method == ReadResource::NAME).then(|| uri_of(&key.params));
            Some((entry.since, uri.flatten()?))
        };
        let mut uris: Vec<(u64, String)> = state.entries.iter().filter_map(read).collect();
        uris.sort_by_key(|(since, _)| std::cmp::Reverse(*since));
        uris.into_iter().map(|(_, uri)| uri).collect()
    }

    /// Removes the results that a change makes stale.
    pub(crate) fn changed(&self, change: &Change) {
        let mut state = self.lock();
        state.changes += 1;
        match change {
            Change::Tools => {
                state.tool_changes += 1;
                state.forget(|key| key.method == ListTools::NAME);
            }
            Change::Prompts => state.forget(|key| key.method == ListPrompts::NAME),
            Change::Resources => state.forget(|key| {
                key.method == ListResources::NAME || key.method == ListResourceTemplates::NAME
            }),
            Change::Resource(uri) => {
                // A change of a part of a resource also changes the resource.
                state.forget(|key| {
                    key.method == ReadResource::NAME
                        && uri_of(&key.params).is_none_or(|read| uri.starts_with(&read))
                });
            }
        }
    }

    /// Returns the number of reported changes of the tools. Tools learned before the last may be
    /// stale.
    pub(crate) fn tool_changes(&self) -> u64 {
        self.lock().tool_changes
    }

    /// Removes all pages of a list, because a cursor was refused.
    pub(crate) fn forget_method(&self, method: &str) {
        self.lock().forget(|key| key.method == method);
    }

    /// Removes everything, because another conversation may be with another version of the server.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        state.changes += 1;
        state.entries.clear();
        state.bytes = 0;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Question {
    fn key(&self, principal: Option<String>) -> Key {
        Key {
            method: self.method,
            params: self.params.clone(),
            principal,
        }
    }
}

impl State {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.raw.get().len() + key.params.len();
        }
    }

    fn remove_oldest(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.since);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            self.remove(&key);
        }
    }

    fn forget(&mut self, is_wrong: impl Fn(&Key) -> bool) {
        let wrong: Vec<_> = self
            .entries
            .keys()
            .filter(|key| is_wrong(key))
            .cloned()
            .collect();
        wrong.iter().for_each(|key| self.remove(key));
    }
}

fn uri_of(params: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Read {
        uri: String,
    }
    let read: Read = serde_json::from_slice(params).ok()?;
    Some(read.uri)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn raw(ttl: u64, scope: &str) -> Box<RawValue> {
        let result = json!({ "tools": [], "ttlMs": ttl, "cacheScope": scope });
        serde_json::value::to_raw_value(&result).expect("JSON")
    }

    fn ask(cache: &Cache, method: &str, params: Value, principal: &str) -> Question {
        let params = Bytes::from(params.to_string());
        let principal = Some(principal.to_owned());
        cache
            .question(method, &params, || principal)
            .expect("it may be kept")
    }

    fn list(cache: &Cache, cursor: &str, principal: &str) -> Question {
        ask(cache, "tools/list", json!({ "cursor": cursor }), principal)
    }

    // spec: 2026-07-28 N-CACHE-02, N-CACHE-04, N-CACHE-05, N-CACHE-14, A-32
    #[tokio::test(start_paused = true)]
    async fn an_answer_is_fresh_for_its_ttl_and_for_its_question_only() {
        let (cache, now) = (Cache::new(8, 1 << 20), Instant::now());
        let first = list(&cache, "1", "a");
        cache.put(&first, &raw(1_000, "private"), now);
        let soon = now + Duration::from_millis(999);
        assert!(cache.fresh(&first, soon).is_some());
        assert!(cache.fresh(&list(&cache, "2", "a"), soon).is_none());
        let other = ask(&cache, "prompts/list", json!({ "cursor": "1" }), "a");
        assert!(cache.fresh(&other, soon).is_none());
        let late = now + Duration::from_millis(1_000);
        assert!(cache.fresh(&first, late).is_none() && cache.stale(&first).is_some());
        cache.put(&first, &raw(0, "private"), now);
        assert!(
            cache.stale(&first).is_none(),
            "what is stale at once is not kept"
        );
        cache.put(&first, &raw(u64::MAX, "private"), now);
        assert!(cache.fresh(&first, now + LONGEST).is_none());
        assert!(
            cache
                .question("tools/call", &Bytes::new(), || None)
                .is_none()
        );
    }

    // spec: 2026-07-28 N-CACHE-09, N-CACHE-10, A-10
    // hardening: H-25
    #[tokio::test(start_paused = true)]
    async fn a_private_answer_is_for_its_principal_only() {
        let (cache, now) = (Cache::new(8, 1 << 20), Instant::now());
        for scope in ["private", "", "shared"] {
            cache.put(&list(&cache, scope, "a"), &raw(1_000, scope), now);
            assert!(cache.fresh(&list(&cache, scope, "a"), now).is_some());
            assert!(cache.fresh(&list(&cache, scope, "b"), now).is_none());
        }
        cache.put(&list(&cache, "p", "a"), &raw(1_000, "public"), now);
        assert!(cache.fresh(&list(&cache, "p", "b"), now).is_some());
    }

    // spec: 2026-07-28 N-CACHE-11, N-CACHE-15
    #[tokio::test(start_paused = true)]
    async fn a_change_removes_the_results_that_it_makes_stale() {
        let (cache, now) = (Cache::new(8, 1 << 20), Instant::now());
        let tools = list(&cache, "1", "a");
        let read = |uri: &str| ask(&cache, "resources/read", json!({ "uri": uri }), "a");
        cache.put(&tools, &raw(1_000, "private"), now);
        cache.put(&read("a:1"), &raw(1_000, "private"), now);
        cache.put(&read("a:2"), &raw(1_000, "private"), now);
        cache.changed(&Change::Resource("a:1/part".into()));
        assert!(cache.stale(&read("a:1")).is_none() && cache.fresh(&read("a:2"), now).is_some());
        cache.changed(&Change::Prompts);
        assert!(cache.fresh(&tools, now).is_some());
        let asked_before = list(&cache, "2", "a");
        cache.changed(&Change::Tools);
        assert!(cache.stale(&tools).is_none());
        cache.put(&asked_before, &raw(1_000, "private"), now);
        assert!(
            cache.stale(&asked_before).is_none(),
            "it was asked before the change"
        );
        let kept = list(&cache, "3", "a");
        cache.put(&kept, &raw(1_000, "private"), now);
        cache.forget_method("tools/list");
        assert!(cache.stale(&kept).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_cache_is_bounded_in_entries_and_in_bytes() {
        let now = Instant::now();
        let cache = Cache::new(2, 1 << 20);
        for cursor in ["1", "2", "3"] {
            cache.put(&list(&cache, cursor, "a"), &raw(1_000, "private"), now);
        }
        assert!(
            cache.fresh(&list(&cache, "1", "a"), now).is_none(),
            "the oldest gave way"
        );
        assert!(cache.fresh(&list(&cache, "3", "a"), now).is_some());
        let size = raw(1_000, "private").get().len() + 20;
        let cache = Cache::new(9, size * 2);
        for cursor in ["1", "2", "3"] {
            cache.put(&list(&cache, cursor, "a"), &raw(1_000, "private"), now);
        }
        assert_eq!(cache.lock().entries.len(), 2);
        assert!(
            Cache::new(0, 9)
                .question("tools/list", &Bytes::new(), || None)
                .is_none()
        );
        let tiny = Cache::new(9, 10);
        tiny.put(&list(&tiny, "1", "a"), &raw(1_000, "private"), now);
        let state = tiny.lock();
        assert_eq!((state.entries.len(), state.bytes), (0, 0));
    }
}
