//! The default store: in memory, bounded, gone with the process.

use bytes::Bytes;

use crate::limits::StoreLimits;
use crate::local::{CommitError, Journal, LocalStore};
use crate::table::{Change, Table};
use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};

/// Keeps records and logs in memory.
///
/// An operation never waits: its future is ready at the first poll.
#[derive(Debug)]
pub struct MemoryStore {
    local: LocalStore<Nothing>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(limits: StoreLimits) -> Self {
        let local = LocalStore::new(Table::new(limits.clone()), Nothing, &limits);
        Self { local }
    }
}

impl Default for MemoryStore {
    /// An empty store with the default limits.
    fn default() -> Self {
        Self::new(StoreLimits::default())
    }
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(async move { Ok(self.local.get(now, key)) })
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        Box::pin(async move { self.local.put(now, key, &value, condition, expiry) })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.local.remove(now, key, condition) })
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(async move { Ok(self.local.list(now, prefix, &page)) })
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
        Box::pin(async move { self.local.append(now, log, events, tail, retention, expiry) })
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(async move { Ok(self.local.read(now, log, after, most)) })
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.local.forget(now, log) })
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        Box::pin(async move { self.local.add(now, key, amount, expiry) })
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(async { Ok(None) })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(async move { self.local.epoch(fresh) })
    }

    fn capacity(&self) -> Capacity {
        Capacity::Exact
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(async move { Ok(self.local.changes(prefix)?) })
    }
}

/// Writes nothing down.
#[derive(Debug)]
struct Nothing;

impl Journal for Nothing {
    fn commit(&mut self, _: &Table, _: &Change) -> Result<(), CommitError> {
        Ok(())
    }
}
