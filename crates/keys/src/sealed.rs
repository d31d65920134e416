//! A store whose values are sealed.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, Event, ExpectedTail, Expiry, Key, Listing, Page, Position,
    Precondition, Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture, StoreLimits,
    StoreTime, Tail, Version,
};

use crate::keys::{Keys, Sealer};
use crate::purpose::Purpose;

/// Binds a value to its record.
const RECORD: &[u8] = b"record\0";
/// Binds a value to its log.
const EVENT: &[u8] = b"event\0";

/// A store over a store that seals values and events, each bound to its key.
///
/// A value opens under its own key only. An event opens in the log of its key only.
///
/// # A reader of the store below
///
/// The reader sees namespaces and names, versions, expiries, positions, counters and sizes. It does not
/// see values and events. A name is in clear, so it must not be a secret; put a digest into the
/// name.
///
/// # A writer of the store below
///
/// The writer can remove an entry, and restore an older value of the same key. It can change an expiry
/// or a counter. It can drop, repeat or reorder the events of one log. It cannot make a value, change
/// one, or move one to another key. A value that does not open is an error with [`Retry::Never`], also
/// in a listing that contains it.
///
/// # Sizes
///
/// The store below counts sealed sizes: each value and event is [`Sealer::OVERHEAD_BYTES`] longer.
/// [`Sealed::limits`] makes room for that.
///
/// # Keys
///
/// A ring [in the same store](Keys::in_store) hides the values only if it is wrapped with root keys.
/// Open the ring with the store below, because it cannot be sealed with itself.
pub struct Sealed<S: ?Sized> {
    sealer: Sealer,
    store: Arc<S>,
}

impl<S: Store + ?Sized> Sealed<S> {
    /// Seals the values of `store` with the keys of [`Purpose::AtRest`].
    pub fn new(store: Arc<S>, keys: &Keys) -> Self {
        let sealer = keys.sealer(Purpose::AtRest);
        Self { sealer, store }
    }

    fn seal(&self, kind: &[u8], key: &Key, value: &[u8]) -> Result<Bytes, StoreError> {
        let sealed = self.sealer.seal(&bound(kind, key), value);
        let sealed = sealed.map_err(|error| StoreError::backend(Retry::Later, error))?;
        Ok(sealed.into())
    }

    async fn open(&self, kind: &[u8], key: &Key, sealed: &[u8]) -> Result<Bytes, StoreError> {
        let associated = bound(kind, key);
        let opened = self.sealer.open_or_refresh(&associated, sealed).await;
        let namespace = key.namespace();
        opened.map(Bytes::from).map_err(|error| {
            let text = format!("a value in the namespace {namespace} does not open: {error}");
            StoreError::backend(Retry::Never, text)
        })
    }

    async fn open_record(&self, key: &Key, mut record: Record) -> Result<Record, StoreError> {
        record.value = self.open(RECORD, key, &record.value).await?;
        Ok(record)
    }

    async fn open_events(&self, log: &Key, events: &mut [Event]) -> Result<(), StoreError> {
        for event in events {
            event.value = self.open(EVENT, log, &event.value).await?;
        }
        Ok(())
    }
}

impl Sealed<()> {
    /// Returns limits for the store below, under which everything fits that fits into `limits` unsealed.
    pub fn limits(mut limits: StoreLimits) -> StoreLimits {
        let overhead = |count: usize| count.saturating_mul(Sealer::OVERHEAD_BYTES);
        for (bytes, count) in [
            (&mut limits.max_bytes, limits.max_entries),
            (&mut limits.max_value_bytes, limits.max_batch_events.max(1)),
            (&mut limits.max_log_bytes, limits.max_log_events),
            (&mut limits.max_page_bytes, limits.max_page_entries),
            (&mut limits.max_queued_bytes, limits.max_queued_writes),
        ] {
            *bytes = bytes.saturating_add(overhead(count));
        }
        limits
    }
}

impl<S: Store + ?Sized> Store for Sealed<S> {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(async move {
            match self.store.get(now, key).await? {
                Some(record) => self.open_record(key, record).await.map(Some),
                None => Ok(None),
            }
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
        Box::pin(async move {
            let value = self.seal(RECORD, key, &value)?;
            self.store.put(now, key, value, condition, expiry).await
        })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        self.store.remove(now, key, condition)
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(async move {
            let mut listing = self.store.list(now, prefix, page).await?;
            for (key, record) in &mut listing.records {
                record.value = self.open(RECORD, key, &record.value).await?;
            }
            Ok(listing)
        })
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
        Box::pin(async move {
            let sealed = events.iter().map(|event| self.seal(EVENT, log, event));
            let sealed = sealed.collect::<Result<Vec<_>, _>>()?;
            let append = self
                .store
                .append(now, log, &sealed, tail, retention, expiry);
            append.await
        })
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        self.store.add(now, key, amount, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(async move {
            let mut tail = self.store.read(now, log, after, most).await?;
            if let Tail::Events { events, .. } = &mut tail {
                self.open_events(log, events).await?;
            }
            Ok(tail)
        })
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        self.store.forget(now, log)
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        self.store.changed(prefix)
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.store.time()
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        self.store.epoch(fresh)
    }

    fn capacity(&self) -> Capacity {
        self.store.capacity()
    }

    fn opening(&self) -> Option<u64> {
        self.store.opening()
    }
}

fn bound(kind: &[u8], key: &Key) -> Vec<u8> {
    [kind, key.as_str().as_bytes()].concat()
}

impl<S: ?Sized> fmt::Debug for Sealed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed").finish_non_exhaustive()
    }
}
