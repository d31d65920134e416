//! An engine with a clock, and connections to it that count, fail and break.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, MemoryStore, Namespace, Page,
    Position, Precondition, Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture,
    StoreTime, Tail, Version,
};
use tokio::time::Instant;

/// A store of several replicas, with a clock of its own.
pub(crate) struct Engine {
    store: MemoryStore,
    began: (StoreTime, Instant),
}

/// The failure of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The operation does not happen.
    Before,
    /// The operation happens, and its answer is lost.
    After,
}

/// The connection of one replica.
pub(crate) struct Connection {
    engine: Arc<Engine>,
    operations: Mutex<Vec<String>>,
    /// The faults of the next operations on tasks and their index.
    faults: Mutex<VecDeque<Fault>>,
    is_cut: AtomicBool,
}

impl Engine {
    pub(crate) fn new() -> Arc<Self> {
        let now = StoreTime::from_millis(1_000_000_000);
        Arc::new(Self {
            store: MemoryStore::default(),
            began: (now, Instant::now()),
        })
    }

    pub(crate) fn now(&self) -> StoreTime {
        self.began.0 + self.began.1.elapsed()
    }

    pub(crate) fn connect(self: &Arc<Self>) -> Arc<Connection> {
        Arc::new(Connection {
            engine: Arc::clone(self),
            operations: Mutex::default(),
            faults: Mutex::default(),
            is_cut: AtomicBool::new(false),
        })
    }

    /// The names of all records of a namespace.
    pub(crate) async fn names(&self, namespace: &'static str) -> Vec<String> {
        let prefix = Prefix::all(&Namespace::fixed(namespace));
        let listed = self.store.list(self.now(), &prefix, Page::first(100)).await;
        let records = listed.expect("lists").records;
        let names = records.iter().map(|(key, _)| key.name().to_owned());
        names.collect()
    }

    /// The text of the record of the only task.
    pub(crate) async fn task(&self) -> String {
        let prefix = Prefix::all(&Namespace::fixed("tasks"));
        let listed = self.store.list(self.now(), &prefix, Page::first(2)).await;
        let records = listed.expect("lists").records;
        let texts = records.iter().map(|(_, record)| &record.value);
        String::from_utf8_lossy(&texts.last().cloned().unwrap_or_default()).into_owned()
    }
}

impl Connection {
    /// The operations on tasks and their index since the last call.
    pub(crate) fn take_operations(&self) -> Vec<String> {
        std::mem::take(&mut *self.operations.lock().expect("no panic"))
    }

    /// Sets the faults of the next operations on tasks and their index.
    pub(crate) fn fail_next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults().extend(faults);
    }

    pub(crate) fn heal(&self) {
        self.faults().clear();
        self.set_cut(false);
    }

    /// While it is cut, no operation happens or ends.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }

    fn faults(&self) -> MutexGuard<'_, VecDeque<Fault>> {
        self.faults.lock().expect("no panic")
    }

    fn reach<'a, T: Send + 'a>(
        &'a self,
        name: &'static str,
        key: &'a str,
        operation: StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let namespace = key.split('/').next().unwrap_or_default();
            let is_of_tasks = ["tasks", "held", "holder"].contains(&namespace);
            let mut fault = Fault::None;
            if is_of_tasks {
                let operation = format!("{name} {namespace}");
                self.operations.lock().expect("no panic").push(operation);
                fault = self.faults().pop_front().unwrap_or(Fault::None);
            }
            let lost = || StoreError::backend(Retry::Later, "the connection is lost");
            // An operation may happen before the connection breaks.
            if self.is_cut.load(Ordering::SeqCst) {
                return pending().await;
            }
            if fault == Fault::Before {
                return Err(lost());
            }
            let ended = operation.await;
            if fault == Fault::After {
                return Err(lost());
            }
            ended
        })
    }
}

impl Store for Connection {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.reach("get", key.as_str(), self.engine.store.get(now, key))
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        let put = self.engine.store.put(now, key, value, condition, expiry);
        self.reach("put", key.as_str(), put)
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        let remove = self.engine.store.remove(now, key, condition);
        self.reach("remove", key.as_str(), remove)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        let list = self.engine.store.list(now, prefix, page);
        self.reach("list", prefix.as_str(), list)
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
        let store = &self.engine.store;
        let append = store.append(now, log, events, tail, retention, expiry);
        self.reach("append", log.as_str(), append)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        let read = self.engine.store.read(now, log, after, most);
        self.reach("read", log.as_str(), read)
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.reach("forget", log.as_str(), self.engine.store.forget(now, log))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        let add = self.engine.store.add(now, key, amount, expiry);
        self.reach("add", key.as_str(), add)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        let changed = self.engine.store.changed(prefix);
        self.reach("watch", prefix.as_str(), changed)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        let time = Box::pin(async { Ok(Some(self.engine.now())) });
        self.reach("time", "", time)
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.reach("epoch", "", self.engine.store.epoch(fresh))
    }

    fn capacity(&self) -> Capacity {
        self.engine.store.capacity()
    }
}
