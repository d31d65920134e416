//! A store behind a network.

use std::future::pending;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, MemoryStore, Page, Position,
    Precondition, Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};
use tokio::time::sleep;

use crate::tasks::uneven::Uneven;

/// A store in memory that can be cut off, and that can be late to acknowledge.
#[derive(Default)]
pub(crate) struct Remote {
    store: Arc<MemoryStore>,
    is_away: AtomicBool,
    /// How late the next write is acknowledged.
    lateness: Mutex<Duration>,
    /// How late the next read is answered.
    read_lateness: Mutex<Duration>,
    uneven: Uneven,
}

impl Remote {
    /// A store that pauses before and after each operation.
    pub(crate) fn uneven(uneven: Uneven) -> Self {
        Self {
            uneven,
            ..Self::default()
        }
    }

    /// Another connection to the same store, which is never late.
    pub(crate) fn other_connection(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    pub(crate) fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Acknowledges the next write so late: it has happened by then.
    pub(crate) fn delay_next_acknowledgement(&self, lateness: Duration) {
        *self.lateness.lock().expect("no panic") = lateness;
    }

    /// Answers the next read so late: it has happened by then.
    pub(crate) fn delay_next_read(&self, lateness: Duration) {
        *self.read_lateness.lock().expect("no panic") = lateness;
    }

    /// The operation, unless the store is away when it begins.
    fn reach<'a, T: Send + 'a>(&'a self, operation: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        Box::pin(async move {
            if self.is_away.load(Ordering::SeqCst) {
                return pending().await;
            }
            self.uneven.pause().await;
            let ended = operation.await;
            self.uneven.pause().await;
            ended
        })
    }
}

impl Store for Remote {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        let get = self.reach(self.store.get(now, key));
        Box::pin(async move {
            let got = get.await;
            let lateness = std::mem::take(&mut *self.read_lateness.lock().expect("no panic"));
            if !lateness.is_zero() {
                sleep(lateness).await;
            }
            got
        })
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        let put = self.reach(self.store.put(now, key, value, condition, expiry));
        Box::pin(async move {
            let put = put.await;
            let lateness = std::mem::take(&mut *self.lateness.lock().expect("no panic"));
            if !lateness.is_zero() {
                sleep(lateness).await;
            }
            put
        })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.reach(self.store.remove(now, key, condition))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.reach(self.store.list(now, prefix, page))
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
        self.reach(append)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.reach(self.store.read(now, log, after, most))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.reach(self.store.forget(now, log))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.reach(self.store.add(now, key, amount, expiry))
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.reach(self.store.time())
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.reach(self.store.epoch(fresh))
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.reach(self.store.changed(prefix))
    }
}
