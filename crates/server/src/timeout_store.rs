//! A store that answers in time, or not at all.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture, StoreTime, Tail, Version,
};

/// How long an operation of a store may take when nobody says; whoever waits for it has a client
/// that waits as well.
pub(crate) const STORE_TIME: Duration = Duration::from_secs(5);

/// A store whose operations end after a while, whatever becomes of them.
pub(crate) struct TimeoutStore {
    store: Arc<dyn Store>,
    time: Duration,
}

impl TimeoutStore {
    pub(crate) fn new(store: Arc<dyn Store>, time: Duration) -> Self {
        Self { store, time }
    }

    async fn wait<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.time, operation).await {
            Ok(ended) => ended,
            Err(_) => {
                let source = format!("it has not answered within {:?}", self.time);
                Err(StoreError::backend(Retry::Later, source))
            }
        }
    }
}

impl Store for TimeoutStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(self.wait(self.store.get(now, key)))
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        Box::pin(self.wait(self.store.put(now, key, value, condition, expiry)))
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.wait(self.store.remove(now, key, condition)))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(self.wait(self.store.list(now, prefix, page)))
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
        let append = self.store.append(now, log, events, tail, retention, expiry);
        Box::pin(self.wait(append))
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(self.wait(self.store.read(now, log, after, most)))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(self.wait(self.store.forget(now, log)))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        Box::pin(self.wait(self.store.add(now, key, amount, expiry)))
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(self.wait(self.store.time()))
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(self.wait(self.store.epoch(fresh)))
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(self.wait(self.store.changed(prefix)))
    }

    fn opening(&self) -> Option<u64> {
        self.store.opening()
    }
}
