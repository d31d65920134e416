//! A reader and a writer of the store below a sealed store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_keys::{Keys, RootKey, Sealed, Sealer};
use pintle_store::{
    ExpectedTail, Expiry, Key, MemoryStore, Namespace, Page, Position, Precondition, Prefix,
    Retention, Store, StoreError, StoreLimits, StoreTime, Tail,
};

const SPACE: Namespace = Namespace::fixed("tests");
const NOW: StoreTime = StoreTime::from_millis(1_000);

struct Bed {
    below: Arc<MemoryStore>,
    sealed: Sealed<MemoryStore>,
}

impl Bed {
    fn new() -> Self {
        Self::limited(StoreLimits::default())
    }

    fn limited(limits: StoreLimits) -> Self {
        let below = Arc::new(MemoryStore::new(limits));
        let keys = Keys::new(RootKey::new([7; 32]));
        let sealed = Sealed::new(Arc::clone(&below), &keys);
        Self { below, sealed }
    }

    async fn value_below(&self, name: &str) -> Bytes {
        let record = self.below.get(NOW, &key(name)).await.expect("reads");
        record.expect("a record").value
    }

    async fn event_below(&self, name: &str) -> Bytes {
        let read = self.below.read(NOW, &key(name), Position::START, 1).await;
        match read.expect("reads") {
            Tail::Events { events, .. } => events[0].value.clone(),
            tail => panic!("{tail:?}"),
        }
    }
}

fn key(name: &str) -> Key {
    Key::new(&SPACE, name).expect("a name")
}

async fn put(store: &dyn Store, name: &str, value: impl Into<Bytes>) -> Result<(), StoreError> {
    let key = key(name);
    let put = store.put(NOW, &key, value.into(), Precondition::Any, Expiry::Never);
    put.await.map(drop)
}

async fn append(store: &dyn Store, name: &str, events: &[Bytes]) -> Result<(), StoreError> {
    let (key, all) = (key(name), Retention::default());
    let append = store.append(NOW, &key, events, ExpectedTail::Any, all, Expiry::Never);
    append.await.map(drop)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn assert_does_not_open<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    let error = result.expect_err("the value does not open");
    assert!(!error.is_retryable(), "{error:?}");
    let StoreError::Backend(error) = error else {
        panic!("{error:?}");
    };
    let text = error.to_string();
    assert!(
        text.starts_with("a value in the namespace tests does not open"),
        "{text}"
    );
}

#[tokio::test]
async fn a_reader_of_the_store_sees_no_value_and_no_event() {
    let bed = Bed::new();
    put(&bed.sealed, "a", "secret").await.expect("puts");
    append(&bed.sealed, "a", &["secret".into()])
        .await
        .expect("appends");
    for below in [bed.value_below("a").await, bed.event_below("a").await] {
        assert!(!contains(&below, b"secret"));
        assert_eq!(below.len(), b"secret".len() + Sealer::OVERHEAD_BYTES);
    }
}

#[tokio::test]
async fn a_value_opens_under_its_own_key_only() {
    let bed = Bed::new();
    put(&bed.sealed, "a", "secret").await.expect("puts");
    let moved = bed.value_below("a").await;
    put(&*bed.below, "b", moved.clone()).await.expect("puts");
    assert_does_not_open(bed.sealed.get(NOW, &key("b")).await);
    let all = Prefix::all(&SPACE);
    assert_does_not_open(bed.sealed.list(NOW, &all, Page::first(9)).await);
    append(&*bed.below, "a", &[moved]).await.expect("appends");
    let log = key("a");
    assert_does_not_open(bed.sealed.read(NOW, &log, Position::START, 9).await);
}

#[tokio::test]
async fn an_event_opens_in_its_own_log_only() {
    let bed = Bed::new();
    append(&bed.sealed, "a", &["secret".into()])
        .await
        .expect("appends");
    let moved = bed.event_below("a").await;
    append(&*bed.below, "b", &[moved]).await.expect("appends");
    let log = key("b");
    assert_does_not_open(bed.sealed.read(NOW, &log, Position::START, 9).await);
}

#[tokio::test]
async fn a_value_in_clear_does_not_open() {
    let bed = Bed::new();
    put(&*bed.below, "a", "clear").await.expect("puts");
    assert_does_not_open(bed.sealed.get(NOW, &key("a")).await);
}

#[tokio::test]
async fn sealed_values_fit_into_the_limits_that_make_room() {
    let mut plain = StoreLimits::default();
    (plain.max_value_bytes, plain.max_batch_events) = (4, 2);
    (plain.max_log_bytes, plain.max_log_events) = (4, 2);
    (plain.max_page_bytes, plain.max_page_entries) = (4, 2);
    let bed = Bed::limited(Sealed::limits(plain));
    put(&bed.sealed, "a", "four").await.expect("fits");
    append(&bed.sealed, "a", &["12".into(), "34".into()])
        .await
        .expect("fits");
    put(&bed.sealed, "b", "").await.expect("fits");
    let read = bed.sealed.read(NOW, &key("a"), Position::START, 9).await;
    let Tail::Events { events, more } = read.expect("reads") else {
        panic!("an event was dropped");
    };
    assert_eq!((events.len(), more), (2, false));
    let all = Prefix::all(&SPACE);
    let page = bed
        .sealed
        .list(NOW, &all, Page::first(9))
        .await
        .expect("lists");
    assert_eq!(page.records.len(), 2);
}

#[tokio::test]
async fn a_ring_in_the_same_store_seals_its_values() {
    let below = Arc::new(MemoryStore::default());
    let day = Duration::from_secs(24 * 60 * 60);
    let wrap = Keys::new(RootKey::new([7; 32]));
    let keys = Keys::in_store(below.clone(), Some(wrap.clone()), day).await;
    let one = Sealed::new(below.clone(), &keys.expect("a new ring"));
    put(&one, "a", "secret").await.expect("puts");
    let keys = Keys::in_store(below.clone(), Some(wrap), day).await;
    let other: Sealed<dyn Store> = Sealed::new(below, &keys.expect("the same ring"));
    let record = other.get(NOW, &key("a")).await.expect("opens");
    assert_eq!(record.expect("a record").value, "secret");
}
