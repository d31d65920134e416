//! The way of a replica to its store: a pause stops it, and a planted bug damages it.

use std::sync::Arc;

use bytes::Bytes;
use pintle::store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture, StoreTime, Tail, Version,
};
use tokio::sync::watch;

use super::link::Link;
use super::plant::Plant;

/// A link to the store that can be paused and cut.
pub(super) struct Gate {
    pub(super) link: Arc<Link>,
    plant: Option<Plant>,
    is_paused: watch::Sender<bool>,
    cuts: watch::Sender<usize>,
}

impl Gate {
    pub(super) fn new(link: Arc<Link>, plant: Option<Plant>) -> Self {
        Self {
            link,
            plant,
            is_paused: watch::Sender::new(false),
            cuts: watch::Sender::new(0),
        }
    }

    /// Begins or ends a pause. Returns false if that has happened before.
    pub(super) fn pause(&self, pauses: bool) -> bool {
        self.is_paused.send_replace(pauses) != pauses
    }

    /// Fails the operations that are running. The store may have carried them out.
    pub(super) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Polls a future while the replica is not paused.
    pub(super) async fn unless_paused<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            self.wait_for(false).await;
            tokio::select! {
                biased;
                () = self.wait_for(true) => {}
                result = &mut work => return result,
            }
        }
    }

    async fn wait_for(&self, pauses: bool) {
        let mut paused = self.is_paused.subscribe();
        let waited = paused.wait_for(|is_paused| *is_paused == pauses).await;
        waited.expect("the gate has the sender");
    }

    fn pass<'a, T: Send + 'a>(
        &'a self,
        begin: impl FnOnce(&'a Link) -> StoreFuture<'a, T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            self.wait_for(false).await;
            let mut cuts = self.cuts.subscribe();
            let result = tokio::select! {
                biased;
                _ = cuts.changed() => Err(StoreError::backend(Retry::Later, "cut")),
                result = begin(&self.link) => result,
            };
            self.wait_for(false).await;
            result
        })
    }
}

impl Store for Gate {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        if self.plant == Some(Plant::ForgottenEnd) && key.namespace() == "session-state" {
            return Box::pin(async { Ok(None) });
        }
        self.pass(move |link| link.get(now, key))
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.pass(move |link| link.put(now, key, value, condition, expiry))
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.pass(move |link| link.remove(now, key, condition))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.pass(move |link| link.list(now, prefix, page))
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
        self.pass(move |link| link.append(now, log, events, tail, retention, expiry))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.pass(move |link| link.add(now, key, amount, expiry))
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.pass(move |link| link.read(now, log, after, most))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.pass(move |link| link.forget(now, log))
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.pass(move |link| link.changed(prefix))
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.pass(Link::time)
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.pass(move |link| link.epoch(fresh))
    }

    fn capacity(&self) -> Capacity {
        self.link.capacity()
    }
}
