//! A store whose operations end in time, and fail at once while the store is away.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture, StoreTime, Tail, Version,
};
use tokio::time::{Instant, timeout};

use crate::circuit_breaker::{CircuitBreaker, Outcome};

/// An operation that is dropped after this time counts as a failure: the caller did not wait longer.
const SLOW: Duration = Duration::from_secs(1);

/// A store around another one.
pub(crate) struct GuardedStore {
    store: Arc<dyn Store>,
    time: Duration,
    breaker: Arc<CircuitBreaker>,
}

/// An operation that runs. It reports its result once, also if it is dropped.
struct Running<'a> {
    breaker: &'a CircuitBreaker,
    began: Instant,
    is_reported: bool,
}

impl GuardedStore {
    /// Each operation takes at most `time`. Stores of one engine share the breaker.
    pub(crate) fn new(store: Arc<dyn Store>, time: Duration, breaker: Arc<CircuitBreaker>) -> Self {
        Self {
            store,
            time,
            breaker,
        }
    }

    /// Carries out an operation. A store may act before its future is polled, so nothing calls it without permission.
    async fn wait<'a, T>(
        &self,
        operation: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> Result<T, StoreError> {
        let began = Instant::now();
        if !self.breaker.permits(began) {
            return Err(StoreError::backend(Retry::Later, "the store is away"));
        }
        let running = Running {
            breaker: &self.breaker,
            began,
            is_reported: false,
        };
        let ended = match timeout(self.time, operation()).await {
            Ok(ended) => ended,
            Err(_) => {
                let source = format!("the store did not answer within {:?}", self.time);
                Err(StoreError::backend(Retry::Later, source))
            }
        };
        running.end(&ended);
        ended
    }
}

impl Running<'_> {
    fn end<T>(mut self, ended: &Result<T, StoreError>) {
        self.is_reported = true;
        let outcome = match ended {
            Err(error) if error.is_retryable() && error.limit().is_none() => Outcome::Failed,
            _ => Outcome::Answered,
        };
        self.breaker.report(outcome, Instant::now());
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_reported && self.began.elapsed() >= SLOW {
            self.breaker.report(Outcome::Failed, Instant::now());
        }
    }
}

impl Store for GuardedStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(self.wait(move || self.store.get(now, key)))
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        Box::pin(self.wait(move || self.store.put(now, key, value, condition, expiry)))
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.wait(move || self.store.remove(now, key, condition)))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(self.wait(move || self.store.list(now, prefix, page)))
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
        Box::pin(self.wait(move || self.store.append(now, log, events, tail, retention, expiry)))
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(self.wait(move || self.store.read(now, log, after, most)))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(self.wait(move || self.store.forget(now, log)))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        Box::pin(self.wait(move || self.store.add(now, key, amount, expiry)))
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(self.wait(move || self.store.time()))
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(self.wait(move || self.store.epoch(fresh)))
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(self.wait(move || self.store.changed(prefix)))
    }

    fn opening(&self) -> Option<u64> {
        self.store.opening()
    }
}

#[cfg(test)]
mod tests;
