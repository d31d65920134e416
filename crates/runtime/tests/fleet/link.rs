//! A store that several replicas share, each over a link of its own that can fail.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use pintle_runtime::sync::Mutex;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, MemoryStore, Page, Position,
    Precondition, Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture, StoreTime,
    Tail, Version,
};
use tokio::time::{Instant, sleep};

/// The host of the store: its content, and its clock, which begins in 1970.
pub(super) struct Host {
    content: Mutex<Arc<MemoryStore>>,
    clock: Mutex<StoreTime>,
    start: Instant,
}

impl Host {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            content: Mutex::default(),
            clock: Mutex::new(StoreTime::from_millis(1_000_000)),
            start: Instant::now(),
        })
    }

    pub(super) fn link(self: &Arc<Self>) -> Arc<Link> {
        Arc::new(Link {
            host: Arc::clone(self),
            fault: Mutex::new(Fault::None),
            operations: AtomicUsize::new(0),
        })
    }

    pub(super) fn now(&self) -> StoreTime {
        *self.clock.lock() + self.start.elapsed()
    }

    /// Sets the clock forward.
    pub(super) fn set_ahead(&self, by: Duration) {
        let mut clock = self.clock.lock();
        *clock = *clock + by;
    }

    pub(super) fn lose_content(&self) {
        *self.content.lock() = Arc::default();
    }

    pub(super) fn content(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.content.lock())
    }
}

/// The fault of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// Each operation fails at once.
    Refused,
    /// No operation ends, and none reaches the store.
    Silent,
    /// The store carries out each operation, and its answers are lost.
    AnswersLost,
    /// The way to the store and the way back take that long.
    Slow(Duration, Duration),
}

/// One replica's way to the store.
pub(super) struct Link {
    host: Arc<Host>,
    fault: Mutex<Fault>,
    operations: AtomicUsize,
}

impl Link {
    pub(super) fn set(&self, fault: Fault) {
        *self.fault.lock() = fault;
    }

    /// The number of operations since the last call.
    pub(super) fn take_operations(&self) -> usize {
        self.operations.swap(0, Ordering::SeqCst)
    }

    /// Carries out one operation under the fault of this moment.
    fn pass<'a, T, F>(
        &'a self,
        run: impl FnOnce(Arc<MemoryStore>) -> F + Send + 'a,
    ) -> StoreFuture<'a, T>
    where
        T: Send + 'a,
        F: Future<Output = Result<T, StoreError>> + Send + 'a,
    {
        self.operations.fetch_add(1, Ordering::SeqCst);
        let fault = *self.fault.lock();
        Box::pin(async move {
            let (there, back) = match fault {
                Fault::Refused => return Err(StoreError::backend(Retry::Later, "refused")),
                Fault::Silent => (Duration::MAX, Duration::MAX),
                Fault::AnswersLost => (Duration::ZERO, Duration::MAX),
                Fault::Slow(there, back) => (there, back),
                Fault::None => (Duration::ZERO, Duration::ZERO),
            };
            pause(there).await;
            let result = run(self.host.content()).await;
            pause(back).await;
            result
        })
    }
}

async fn pause(span: Duration) {
    if !span.is_zero() {
        sleep(span).await;
    }
}

impl Store for Link {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.pass(move |store| async move { store.get(now, key).await })
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.pass(move |store| async move { store.put(now, key, value, condition, expiry).await })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.pass(move |store| async move { store.remove(now, key, condition).await })
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.pass(move |store| async move { store.list(now, prefix, page).await })
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
        self.pass(move |store| async move {
            store
                .append(now, log, events, tail, retention, expiry)
                .await
        })
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.pass(move |store| async move { store.add(now, key, amount, expiry).await })
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.pass(move |store| async move { store.read(now, log, after, most).await })
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.pass(move |store| async move { store.forget(now, log).await })
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.pass(move |store| async move { store.changed(prefix).await })
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.pass(|_| async { Ok(Some(self.host.now())) })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.pass(move |store| async move { store.epoch(fresh).await })
    }

    fn capacity(&self) -> Capacity {
        Capacity::Engine
    }
}
