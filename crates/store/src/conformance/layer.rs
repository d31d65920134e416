//! A store around another one. It changes some operations.

use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};
use bytes::Bytes;

/// The operations of a store around another one. Each passes its arguments on by default.
///
/// Reads go through [`Layer::pass`], and writes through [`Layer::pass_write`].
pub trait Layer: Send + Sync + 'static {
    /// Returns the store inside.
    fn inner(&self) -> &dyn Store;

    /// Carries out an operation, once or more often.
    fn pass<'a, T: Send + 'a>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        operation()
    }

    /// Carries out a write to `key`.
    fn pass_write<'a, T: Send + 'a>(
        &'a self,
        _key: &'a Key,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        self.pass(operation)
    }

    /// Carries out [`Store::get`].
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.pass(move || self.inner().get(now, key))
    }

    /// Carries out [`Store::put`].
    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.pass_write(key, move || {
            self.inner().put(now, key, value.clone(), condition, expiry)
        })
    }

    /// Carries out [`Store::remove`].
    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.pass_write(key, move || self.inner().remove(now, key, condition))
    }

    /// Carries out [`Store::list`].
    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.pass(move || self.inner().list(now, prefix, page.clone()))
    }

    /// Carries out [`Store::append`].
    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        self.pass_write(log, move || {
            self.inner()
                .append(now, log, events, tail, retention, expiry)
        })
    }

    /// Carries out [`Store::add`].
    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.pass_write(key, move || self.inner().add(now, key, amount, expiry))
    }

    /// Carries out [`Store::read`].
    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.pass(move || self.inner().read(now, log, after, most))
    }

    /// Carries out [`Store::forget`].
    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.pass_write(log, move || self.inner().forget(now, log))
    }

    /// Carries out [`Store::changed`].
    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.inner().changed(prefix)
    }

    /// Carries out [`Store::time`], by default without [`Layer::pass`].
    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.inner().time()
    }
}

/// A layer as a store. The time, the epoch and the capacity are those of the store inside.
#[derive(Debug)]
pub struct Layered<L>(pub L);

impl<L: Layer> Store for Layered<L> {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.0.get(now, key)
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.0.put(now, key, value, condition, expiry)
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.0.remove(now, key, condition)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.0.list(now, prefix, page)
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
        self.0.append(now, log, events, tail, retention, expiry)
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.0.add(now, key, amount, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.0.read(now, log, after, most)
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.0.forget(now, log)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.0.changed(prefix)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.0.time()
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.0.inner().epoch(fresh)
    }

    fn capacity(&self) -> Capacity {
        self.0.inner().capacity()
    }
}
