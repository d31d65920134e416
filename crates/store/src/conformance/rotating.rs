//! Several openings of one store, used in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};

/// Sends each operation to the next one of several openings of one store, as a load balancer does.
///
/// A subject that opens its store through this type shows that replicas may share the store.
pub struct Rotating {
    openings: Vec<Arc<dyn Store>>,
    next: AtomicUsize,
}

impl Rotating {
    /// Takes the openings of one store.
    ///
    /// # Panics
    ///
    /// Panics if `openings` is empty.
    pub fn new(openings: Vec<Arc<dyn Store>>) -> Self {
        assert!(!openings.is_empty(), "a store needs an opening");
        let next = AtomicUsize::new(0);
        Self { openings, next }
    }

    fn next(&self) -> &dyn Store {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        &*self.openings[turn % self.openings.len()]
    }
}

impl Store for Rotating {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.next().get(now, key)
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.next().put(now, key, value, condition, expiry)
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.next().remove(now, key, condition)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.next().list(now, prefix, page)
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
        let opening = self.next();
        opening.append(now, log, events, tail, retention, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.next().read(now, log, after, most)
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.next().forget(now, log)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.next().changed(prefix)
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.next().add(now, key, amount, expiry)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.next().time()
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.next().epoch(fresh)
    }

    fn capacity(&self) -> Capacity {
        self.openings[0].capacity()
    }
}
