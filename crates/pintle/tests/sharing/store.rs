//! A store in memory that replicas share, and that counts its operations.

use std::collections::BTreeMap;
use std::sync::Mutex;

use bytes::Bytes;
use pintle::store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, MemoryStore, Page, Position,
    Precondition, Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};
use tokio::time::Instant;

/// A store with a clock, so several replicas use it.
pub(super) struct Counted {
    store: MemoryStore,
    begin: Instant,
    /// Number of operations by namespace.
    counts: Mutex<BTreeMap<String, usize>>,
    /// Number of appends by namespace.
    appends: Mutex<BTreeMap<String, usize>>,
}

impl Counted {
    pub(super) fn new() -> Self {
        Self {
            store: MemoryStore::default(),
            begin: Instant::now(),
            counts: Mutex::default(),
            appends: Mutex::default(),
        }
    }

    /// Returns the appends to the logs of one namespace so far.
    pub(super) fn appends(&self, namespace: &str) -> usize {
        let appends = self.appends.lock().expect("no panic");
        appends.get(namespace).copied().unwrap_or_default()
    }

    /// Returns the operations on all keys so far.
    pub(super) fn total(&self) -> usize {
        self.counts.lock().expect("no panic").values().sum()
    }

    fn count(&self, key: &Key) {
        let mut counts = self.counts.lock().expect("no panic");
        *counts.entry(key.namespace().to_string()).or_default() += 1;
    }
}

impl Store for Counted {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.count(key);
        self.store.get(now, key)
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.count(key);
        self.store.put(now, key, value, condition, expiry)
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.count(key);
        self.store.remove(now, key, condition)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.store.list(now, prefix, page)
    }

    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        self.count(log);
        let name = log.namespace().to_string();
        *self
            .appends
            .lock()
            .expect("no panic")
            .entry(name)
            .or_default() += 1;
        self.store.append(now, log, events, tail, retention, expiry)
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.count(key);
        self.store.add(now, key, amount, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.count(log);
        self.store.read(now, log, after, most)
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.count(log);
        self.store.forget(now, log)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.store.changed(prefix)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        let passed = self.begin.elapsed();
        Box::pin(async move { Ok(Some(StoreTime::from_millis(1_700_000_000_000) + passed)) })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.store.epoch(fresh)
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }
}
