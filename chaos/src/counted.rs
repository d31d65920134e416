//! A store that counts the operations of its server, by their kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use pintle::store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};

/// Kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Get,
    Put,
    Remove,
    List,
    Append,
    Read,
    Time,
    /// A counter, the end of a log, a watch, or the epoch.
    Other,
}

/// All kinds, with their names.
pub(crate) const OPERATIONS: [(Operation, &str); 8] = [
    (Operation::Get, "get"),
    (Operation::Put, "put"),
    (Operation::Remove, "remove"),
    (Operation::List, "list"),
    (Operation::Append, "append"),
    (Operation::Read, "read"),
    (Operation::Time, "time"),
    (Operation::Other, "other"),
];

/// The operations so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts(Arc<[AtomicU64; OPERATIONS.len()]>);

impl Counts {
    fn add(&self, operation: Operation) {
        self.0[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the numbers in the order of [`OPERATIONS`], with a space between two.
    pub(crate) fn text(&self) -> String {
        let numbers = self
            .0
            .iter()
            .map(|it| it.load(Ordering::Relaxed).to_string());
        numbers.collect::<Vec<_>>().join(" ")
    }
}

/// A store, and the count of its operations.
pub(crate) struct Counted {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) counts: Counts,
}

impl Counted {
    fn count(&self, operation: Operation) -> &dyn Store {
        self.counts.add(operation);
        &*self.store
    }
}

impl Store for Counted {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.count(Operation::Get).get(now, key)
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        self.count(Operation::Put)
            .put(now, key, value, condition, expiry)
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.count(Operation::Remove).remove(now, key, condition)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        self.count(Operation::List).list(now, prefix, page)
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
        self.count(Operation::Append)
            .append(now, log, events, tail, retention, expiry)
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.count(Operation::Other).add(now, key, amount, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        self.count(Operation::Read).read(now, log, after, most)
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.count(Operation::Other).forget(now, log)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.count(Operation::Other).changed(prefix)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.count(Operation::Time).time()
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.count(Operation::Other).epoch(fresh)
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }

    fn opening(&self) -> Option<u64> {
        self.store.opening()
    }
}

#[cfg(test)]
mod tests {
    use pintle::store::{MemoryStore, Namespace};

    use super::*;

    #[tokio::test]
    async fn an_operation_is_counted_by_its_kind() {
        let (store, counts) = (Arc::new(MemoryStore::default()), Counts::default());
        let counted = Counted {
            store,
            counts: counts.clone(),
        };
        let key = Key::new(&Namespace::fixed("things"), "one").expect("a key");
        let now = StoreTime::from_millis(1);
        for _ in 0..2 {
            assert!(counted.get(now, &key).await.expect("reads").is_none());
        }
        counted.time().await.expect("reads");
        assert_eq!(counts.text(), "2 0 0 0 0 0 1 0");
        for (place, (operation, _)) in OPERATIONS.iter().enumerate() {
            assert_eq!(*operation as usize, place);
        }
    }
}
