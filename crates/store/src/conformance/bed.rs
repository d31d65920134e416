//! A store under test, with shorter words for what the checks do most.

use std::sync::Arc;

use bytes::Bytes;

use super::Subject;
use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Namespace, Page, Position,
    Precondition, Prefix, Record, Retention, Store, StoreError, StoreLimits, StoreTime, Tail,
    Version,
};

/// A group, with its dot.
const GROUP: &str = "group.";

/// The namespace of all checks.
pub(super) const SPACE: Namespace = Namespace::fixed("conformance");

/// A log that a check appends to, and the expiry of the append.
#[derive(Clone, Copy)]
pub(super) struct Log<'n> {
    pub(super) name: &'n str,
    pub(super) expiry: Expiry,
}

impl<'n> Log<'n> {
    /// A log that lives until it is forgotten.
    pub(super) fn unlimited(name: &'n str) -> Self {
        let expiry = Expiry::Never;
        Self { name, expiry }
    }
}

/// A store under test; an unexpected error ends the suite.
#[derive(Clone)]
pub(super) struct Bed {
    store: Arc<dyn Store>,
    /// The beginning of every name.
    head: &'static str,
}

impl Bed {
    pub(super) async fn make(subject: &dyn Subject) -> Self {
        Self::limited(subject, StoreLimits::default()).await
    }

    pub(super) async fn limited(subject: &dyn Subject, limits: StoreLimits) -> Self {
        Self::of(subject.open(limits).await)
    }

    pub(super) fn of(store: Arc<dyn Store>) -> Self {
        Self { store, head: "" }
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Puts all names into one group, where every store has an order.
    pub(super) fn in_group(self) -> Self {
        Self {
            head: GROUP,
            ..self
        }
    }

    pub(super) fn key(&self, name: &str) -> Key {
        key(&format!("{}{name}", self.head))
    }

    fn prefix(&self, start: &str) -> Prefix {
        let start = format!("{}{start}", self.head);
        Prefix::new(&SPACE, &start).expect("the checks use proper names")
    }

    /// The names of a page, without the group that all of them have.
    pub(super) fn names<'l>(&self, listing: &'l Listing) -> Vec<&'l str> {
        let names = listing.records.iter().map(|(key, _)| key.name());
        let own = names.map(|name| name.strip_prefix(self.head));
        own.map(|name| name.expect("only names with the prefix are listed"))
            .collect()
    }

    pub(super) async fn get(&self, now: u64, name: &str) -> Option<Record> {
        must("get", self.try_get(now, name).await)
    }

    pub(super) async fn try_get(&self, now: u64, name: &str) -> Result<Option<Record>, StoreError> {
        self.store.get(at(now), &self.key(name)).await
    }

    pub(super) async fn put(&self, now: u64, name: &str, value: &str, expiry: Expiry) -> Version {
        let put = self.try_put(now, name, value, Precondition::Any, expiry);
        must("put", put.await)
    }

    pub(super) async fn try_put(
        &self,
        now: u64,
        name: &str,
        value: &str,
        condition: Precondition,
        expiry: Expiry,
    ) -> Result<Version, StoreError> {
        let value = Bytes::copy_from_slice(value.as_bytes());
        let key = self.key(name);
        self.store
            .put(at(now), &key, value, condition, expiry)
            .await
    }

    pub(super) async fn remove(
        &self,
        now: u64,
        name: &str,
        condition: Precondition,
    ) -> Result<bool, StoreError> {
        self.store.remove(at(now), &self.key(name), condition).await
    }

    /// A page of the names that begin with `start`.
    pub(super) async fn list(&self, now: u64, start: &str, page: Page) -> Listing {
        must("list", self.try_list(now, start, page).await)
    }

    pub(super) async fn try_list(
        &self,
        now: u64,
        start: &str,
        page: Page,
    ) -> Result<Listing, StoreError> {
        let prefix = self.prefix(start);
        self.store.list(at(now), &prefix, page).await
    }

    pub(super) async fn append(&self, now: u64, log: &str, event: &str) -> Position {
        must(
            "append",
            self.try_append(now, log, event, Expiry::Never).await,
        )
    }

    pub(super) async fn try_append(
        &self,
        now: u64,
        log: &str,
        event: &str,
        expiry: Expiry,
    ) -> Result<Position, StoreError> {
        let log = Log { name: log, expiry };
        let (tail, retention) = (ExpectedTail::Any, Retention::default());
        self.try_append_all(now, log, &[event], tail, retention)
            .await
    }

    pub(super) async fn try_append_all(
        &self,
        now: u64,
        log: Log<'_>,
        events: &[&str],
        tail: ExpectedTail,
        retention: Retention,
    ) -> Result<Position, StoreError> {
        let copy = |event: &&str| Bytes::copy_from_slice(event.as_bytes());
        let events: Vec<Bytes> = events.iter().map(copy).collect();
        let key = self.key(log.name);
        self.store
            .append(at(now), &key, &events, tail, retention, log.expiry)
            .await
    }

    /// Appends a batch at the end of a log, and returns an error.
    pub(super) async fn try_append_batch(
        &self,
        log: &str,
        events: &[&str],
    ) -> Result<Position, StoreError> {
        let log = Log::unlimited(log);
        let (tail, retention) = (ExpectedTail::Any, Retention::default());
        self.try_append_all(0, log, events, tail, retention).await
    }

    /// Appends events to a log that ends at `tail`, and lives until it is forgotten.
    pub(super) async fn append_at(
        &self,
        log: &str,
        events: &[&str],
        tail: Position,
    ) -> Result<Position, StoreError> {
        let (tail, retention) = (ExpectedTail::At(tail), Retention::default());
        self.try_append_all(0, Log::unlimited(log), events, tail, retention)
            .await
    }

    pub(super) async fn add(&self, now: u64, name: &str, amount: i64, expiry: Expiry) -> i64 {
        must("add", self.try_add(now, name, amount, expiry).await)
    }

    pub(super) async fn try_add(
        &self,
        now: u64,
        name: &str,
        amount: i64,
        expiry: Expiry,
    ) -> Result<i64, StoreError> {
        self.store
            .add(at(now), &self.key(name), amount, expiry)
            .await
    }

    pub(super) async fn time(&self) -> Option<StoreTime> {
        must("time", self.store.time().await)
    }

    pub(super) async fn epoch(&self, fresh: Epoch) -> Epoch {
        must("epoch", self.store.epoch(fresh).await)
    }

    pub(super) fn capacity(&self) -> Capacity {
        self.store.capacity()
    }

    pub(super) async fn read(&self, now: u64, log: &str, after: Position, most: usize) -> Tail {
        must("read", self.try_read(now, log, after, most).await)
    }

    pub(super) async fn try_read(
        &self,
        now: u64,
        log: &str,
        after: Position,
        most: usize,
    ) -> Result<Tail, StoreError> {
        let log = self.key(log);
        self.store.read(at(now), &log, after, most).await
    }

    /// The values after a position, and whether there are more.
    pub(super) async fn events(
        &self,
        log: &str,
        after: Position,
        most: usize,
    ) -> (Vec<String>, bool) {
        match self.read(0, log, after, most).await {
            Tail::Events { events, more } => {
                let values = events.iter().map(|event| text(&event.value));
                (values.collect(), more)
            }
            tail => panic!("events after {after:?} are {tail:?}"),
        }
    }

    pub(super) async fn forget(&self, now: u64, log: &str) -> bool {
        must("forget", self.store.forget(at(now), &self.key(log)).await)
    }

    pub(super) async fn changed(&self, start: &str) -> Changes {
        must("changed", self.try_changed(start).await)
    }

    pub(super) async fn try_changed(&self, start: &str) -> Result<Changes, StoreError> {
        self.store.changed(&self.prefix(start)).await
    }
}

fn key(name: &str) -> Key {
    Key::new(&SPACE, name).expect("the checks use proper names")
}

pub(super) fn at(millis: u64) -> StoreTime {
    StoreTime::from_millis(millis)
}

pub(super) fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits for the next item.
pub(super) async fn next(changes: &mut Changes) -> Option<()> {
    changes.next().await
}

/// The result of something that must not fail.
pub(super) fn must<T>(what: &str, result: Result<T, StoreError>) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error:?}"))
}

/// Asserts that the log ends elsewhere.
pub(super) fn assert_moved(result: Result<Position, StoreError>, expected: Position) {
    match result {
        Err(StoreError::Moved { tail }) => assert_eq!(tail, expected, "the tail of the log"),
        other => panic!("the log has another tail, and the append returned {other:?}"),
    }
}

/// Asserts that another writer was first.
pub(super) fn assert_conflict<T>(result: Result<T, StoreError>, found: Option<Version>) {
    match result {
        Err(StoreError::Conflict { found: it }) => assert_eq!(it, found, "the version in the way"),
        Err(error) => panic!("a conflict was expected, and not {error:?}"),
        Ok(_) => panic!("a conflict was expected, and the operation happened"),
    }
}
