//! The contract of stores, over sealed values.

use std::sync::Arc;

use bytes::Bytes;
use pintle_keys::{Keys, RootKey, Sealed, Sealer};
use pintle_store::conformance::{self, Opening, Part, Subject};
use pintle_store::{
    Capacity, Changes, Epoch, Event, ExpectedTail, Expiry, Key, Listing, MemoryStore, Page,
    Position, Precondition, Prefix, Record, Retention, Store, StoreFuture, StoreLimits, StoreTime,
    Tail, Version,
};
use tokio::task::JoinSet;

/// A value of n bytes has this many times n bytes when it is sealed.
const SCALE: usize = 64;

/// Makes sizes of sealed values proportional, so that the suite finds its limits of bytes at the
/// sealed store, 64 times as large. It pads each value except the empty one.
struct Scaled(Sealed<MemoryStore>);

fn scaled(bytes: usize) -> usize {
    // The rest is room for an empty value, whose sealed form is shorter than `SCALE`.
    bytes.saturating_mul(SCALE).saturating_add(SCALE - 1)
}

fn pad(value: &Bytes) -> Bytes {
    let mut padded = value.to_vec();
    let sealed = value.len() * SCALE;
    padded.resize(sealed.saturating_sub(Sealer::OVERHEAD_BYTES), 0);
    padded.into()
}

fn cut(padded: &Bytes) -> Bytes {
    padded.slice(..(padded.len() + Sealer::OVERHEAD_BYTES) / SCALE)
}

impl Store for Scaled {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(async move {
            let mut record = self.0.get(now, key).await?;
            if let Some(record) = &mut record {
                record.value = cut(&record.value);
            }
            Ok(record)
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
        self.0.put(now, key, pad(&value), condition, expiry)
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
        Box::pin(async move {
            let mut listing = self.0.list(now, prefix, page).await?;
            for (_, record) in &mut listing.records {
                record.value = cut(&record.value);
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
        mut retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        retention.max_bytes = scaled(retention.max_bytes);
        Box::pin(async move {
            let events: Vec<Bytes> = events.iter().map(pad).collect();
            let append = self.0.append(now, log, &events, tail, retention, expiry);
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
        self.0.add(now, key, amount, expiry)
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(async move {
            let mut tail = self.0.read(now, log, after, most).await?;
            if let Tail::Events { events, .. } = &mut tail {
                let cut = |event: &Event| Event::new(event.position, cut(&event.value));
                *events = events.iter().map(cut).collect();
            }
            Ok(tail)
        })
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
        self.0.epoch(fresh)
    }

    /// The sum of all sizes is not proportional, because keys are not padded.
    fn capacity(&self) -> Capacity {
        Capacity::Engine
    }
}

struct SealedMemory;

impl Subject for SealedMemory {
    fn open(&self, mut limits: StoreLimits) -> Opening<'_> {
        for bytes in [
            &mut limits.max_value_bytes,
            &mut limits.max_log_bytes,
            &mut limits.max_page_bytes,
        ] {
            *bytes = scaled(*bytes);
        }
        let keys = Keys::new(RootKey::new([7; 32]));
        let sealed = Sealed::new(Arc::new(MemoryStore::new(limits)), &keys);
        let store: Arc<dyn Store> = Arc::new(Scaled(sealed));
        Box::pin(std::future::ready(store))
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        Box::pin(async move {
            let tasks: JoinSet<()> = parts.into_iter().collect();
            tasks.join_all().await;
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_sealed_store_keeps_the_contract() {
    conformance::run(&SealedMemory).await;
}
