//! The operations of the store for a fleet: each ends within a time.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{
    Changes, Epoch, ExpectedTail, Expiry, Key, Page, Position, Precondition, Prefix, Record,
    Retention, Retry, Store, StoreError, StoreTime, Tail, Version,
};
use tokio::time::{Instant, timeout};

use super::error::OperationTimeoutError;
use super::layout;
use super::replica_id::ReplicaId;
use super::store_clock::{Probe, StoreClock};

/// The number of probes of one measurement of the clock.
const PROBES: usize = 5;

/// A store, its clock, and the time of one operation.
pub(super) struct Operations<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) clock: &'a StoreClock,
    pub(super) timeout: Duration,
}

impl Operations<'_> {
    async fn bounded<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match timeout(self.timeout, operation).await {
            Ok(result) => result,
            Err(_) => Err(StoreError::backend(Retry::Later, OperationTimeoutError)),
        }
    }

    /// Measures the clock of the store. Returns false if the store has no clock of its own.
    pub(super) async fn measure_clock(&self) -> Result<bool, StoreError> {
        let mut probes = Vec::with_capacity(PROBES);
        for _ in 0..PROBES {
            let sent = Instant::now();
            let Some(time) = self.bounded(self.store.time()).await? else {
                return Ok(false);
            };
            let received = Instant::now();
            probes.push(Probe {
                sent,
                received,
                time,
            });
        }
        self.clock.set(&probes);
        Ok(true)
    }

    pub(super) async fn epoch(&self, fresh: Epoch) -> Result<Epoch, StoreError> {
        self.bounded(self.store.epoch(fresh)).await
    }

    pub(super) async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.bounded(self.store.get(self.clock.now(), key)).await
    }

    /// Writes a record that never expires, into an absent place.
    pub(super) async fn create(&self, key: &Key, value: Bytes) -> Result<Version, StoreError> {
        let (now, absent) = (self.clock.now(), Precondition::Absent);
        self.bounded(self.store.put(now, key, value, absent, Expiry::Never))
            .await
    }

    pub(super) async fn write_presence(
        &self,
        of: ReplicaId,
        value: Bytes,
        condition: Precondition,
        expires: StoreTime,
    ) -> Result<Version, StoreError> {
        let (key, now) = (layout::presence_key(of), self.clock.now());
        let expiry = Expiry::At(expires);
        self.bounded(self.store.put(now, &key, value, condition, expiry))
            .await
    }

    pub(super) async fn remove_presence(&self, of: ReplicaId) -> Result<bool, StoreError> {
        let (key, now) = (layout::presence_key(of), self.clock.now());
        self.bounded(self.store.remove(now, &key, Precondition::Any))
            .await
    }

    /// Names this replica as the last one that left.
    pub(super) async fn write_departure(
        &self,
        of: ReplicaId,
        expires: StoreTime,
    ) -> Result<Version, StoreError> {
        let (key, now) = (layout::departure_key(), self.clock.now());
        let (value, expiry) = (layout::departure(of), Expiry::At(expires));
        self.bounded(self.store.put(now, &key, value, Precondition::Any, expiry))
            .await
    }

    /// Returns the last replica that left, if it left a short time ago.
    pub(super) async fn departure(&self) -> Result<Option<ReplicaId>, StoreError> {
        let record = self.get(&layout::departure_key()).await?;
        Ok(record.and_then(|record| layout::read_departure(&record.value)))
    }

    pub(super) async fn watch_departures(&self) -> Result<Changes, StoreError> {
        self.watch(&layout::departures()).await
    }

    pub(super) async fn watch(&self, prefix: &Prefix) -> Result<Changes, StoreError> {
        self.bounded(self.store.changed(prefix)).await
    }

    /// Appends to a log that several replicas append to.
    pub(super) async fn append(
        &self,
        log: &Key,
        events: &[Bytes],
        retention: Retention,
        ttl: Duration,
    ) -> Result<(), StoreError> {
        let (now, tail) = (self.clock.now(), ExpectedTail::Any);
        let expiry = Expiry::At(now + ttl);
        let append = self.store.append(now, log, events, tail, retention, expiry);
        self.bounded(append).await.map(drop)
    }

    /// Appends to a log that ends at a known position, and returns the position of the last event. Without events it
    /// checks the tail, and renews the expiry.
    pub(super) async fn append_at(
        &self,
        tail: Position,
        log: &Key,
        events: &[Bytes],
        retention: Retention,
        ttl: Duration,
    ) -> Result<Position, StoreError> {
        let now = self.clock.now();
        let (tail, expiry) = (ExpectedTail::At(tail), Expiry::At(now + ttl));
        let append = self.store.append(now, log, events, tail, retention, expiry);
        self.bounded(append).await
    }

    /// Renews the expiry of a log, and returns the position of its last event.
    pub(super) async fn renew(&self, log: &Key, ttl: Duration) -> Result<Position, StoreError> {
        let (now, tail) = (self.clock.now(), ExpectedTail::Any);
        let (retention, expiry) = (Retention::default(), Expiry::At(now + ttl));
        let append = self.store.append(now, log, &[], tail, retention, expiry);
        self.bounded(append).await
    }

    pub(super) async fn read(
        &self,
        log: &Key,
        after: Position,
        most: usize,
    ) -> Result<Tail, StoreError> {
        let now = self.clock.now();
        self.bounded(self.store.read(now, log, after, most)).await
    }

    /// Removes a log.
    pub(super) async fn forget(&self, log: &Key) -> Result<bool, StoreError> {
        let now = self.clock.now();
        self.bounded(self.store.forget(now, log)).await
    }

    /// Lists the present replicas. Stops at `most`.
    pub(super) async fn list(&self, most: usize) -> Result<BTreeSet<ReplicaId>, StoreError> {
        let prefix = layout::presences();
        let (mut replicas, mut page) = (BTreeSet::new(), Page::first(most));
        loop {
            let now = self.clock.now();
            let listing = self.bounded(self.store.list(now, &prefix, page)).await?;
            let keys = listing.records.iter().map(|(key, _)| key);
            replicas.extend(keys.filter_map(layout::replica_of));
            match listing.next {
                Some(next) if replicas.len() < most => page = Page::after(next, most),
                _ => return Ok(replicas),
            }
        }
    }
}
