mod hanging;

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use pintle_store::{Expiry, Key, MemoryStore, Namespace, Precondition, Record};

use super::*;
use crate::error::OpenError;
use hanging::Hanging;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const DELAY: Duration = Duration::from_secs(60);

/// Replicas on one store, and the time of all.
struct Fleet {
    store: Arc<MemoryStore>,
    time: Arc<AtomicU64>,
    options: KeyRingOptions,
}

impl Fleet {
    fn new() -> Self {
        Self {
            store: Arc::default(),
            time: Arc::new(AtomicU64::new(1_000_000)),
            options: KeyRingOptions::default(),
        }
    }

    async fn join(&self, wrap: Option<Keys>) -> Result<Keys, KeysError> {
        let time = Arc::clone(&self.time);
        let clock = Clock::new(move || StoreTime::from_millis(time.load(Ordering::Relaxed)));
        let (store, wrap) = (Arc::clone(&self.store), wrap.map(|keys| keys.wrap()));
        Keys::joined(RingSource::new(store, wrap, self.options.clone(), clock)).await
    }

    async fn replica(&self) -> Keys {
        self.join(None).await.expect("joins")
    }

    fn pass(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).expect("a short time");
        self.time.fetch_add(millis, Ordering::Relaxed);
    }

    async fn record(&self) -> Record {
        let record = self.store.get(StoreTime::default(), &key()).await;
        record.expect("reads").expect("there is a ring")
    }
}

fn key() -> Key {
    Key::new(&Namespace::fixed("system"), "keys").expect("a name")
}

fn root(byte: u8) -> RootKey {
    RootKey::new([byte; 32])
}

fn seal(keys: &Keys) -> Vec<u8> {
    keys.sealer(Purpose::State)
        .seal(b"", b"text")
        .expect("seals")
}

fn open(keys: &Keys, text: &[u8]) -> Result<Vec<u8>, OpenError> {
    keys.sealer(Purpose::State).open(b"", text)
}

async fn open_or_refresh(keys: &Keys, text: &[u8]) -> bool {
    let sealer = keys.sealer(Purpose::State);
    sealer.open_or_refresh(b"", text).await.is_ok()
}

#[test]
fn the_first_root_key_seals_and_all_open() {
    let (old, new) = (Keys::new(root(1)), Keys::new(root(2)));
    let both = Keys::new(root(2)).also_open(root(1));
    assert!(open(&both, &seal(&old)).is_ok() && open(&both, &seal(&new)).is_ok());
    assert!(open(&new, &seal(&both)).is_ok());
    assert_eq!(open(&old, &seal(&both)), Err(OpenError::UnknownKey));
}

#[test]
fn keys_from_a_text_have_commas_between_them() {
    let text = format!("{}, {}", STANDARD.encode([2; 32]), STANDARD.encode([1; 32]));
    let keys = Keys::from_text("KEYS", &text).expect("two keys");
    assert!(open(&keys, &seal(&Keys::new(root(1)))).is_ok());
    assert!(open(&Keys::new(root(2)), &seal(&keys)).is_ok());
}

#[test]
fn an_invalid_key_is_named_by_its_position() {
    let good = STANDARD.encode([1; 32]);
    for (text, position) in [
        (String::new(), 1),
        (format!("{good},"), 2),
        (format!("{good},{good},c2VjcmV0"), 3),
    ] {
        let error = Keys::from_text("KEYS", &text).expect_err("an invalid key");
        let (name, shown) = ("KEYS".to_owned(), format!("{error} {error:?}"));
        let is_expected = matches!(
            error,
            KeysError::InvalidKey { name: of, position: at } if of == name && at == position
        );
        assert!(is_expected, "{shown}");
        assert!(
            !shown.contains("c2VjcmV0") && !shown.contains(&good),
            "{shown}"
        );
    }
}

#[test]
fn a_ring_of_64_keys_is_read_and_one_of_65_is_not() {
    let keys = |count: usize| vec![STANDARD.encode([1; 32]); count].join(",");
    assert!(Keys::from_text("KEYS", &keys(64)).is_ok());
    let error = Keys::from_text("KEYS", &keys(65)).expect_err("too many");
    assert!(matches!(error, KeysError::TooManyKeys { limit: 64, .. }));
}

#[test]
fn an_absent_variable_is_named() {
    let error = Keys::from_env("PINTLE_TEST_ABSENT").expect_err("it is not set");
    let text = "the environment variable PINTLE_TEST_ABSENT is not set";
    assert_eq!(error.to_string(), text);
}

#[test]
fn debug_output_shows_no_key() {
    let keys = Keys::new(root(0xab));
    let shown = format!(
        "{keys:?} {:?} {:?}",
        root(0xab),
        keys.sealer(Purpose::State)
    );
    assert_eq!(shown, "Keys { .. } RootKey Sealer { purpose: State, .. }");
}

#[tokio::test]
async fn replicas_of_one_store_open_each_others_texts() {
    let fleet = Fleet::new();
    let (one, other) = tokio::join!(fleet.replica(), fleet.replica());
    assert!(open(&other, &seal(&one)).is_ok() && open(&one, &seal(&other)).is_ok());
}

#[tokio::test]
async fn a_new_key_seals_only_after_the_delay() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.replica().await, fleet.replica().await);
    let first = seal(&one);
    fleet.pass(DAY);
    one.refresh().await.expect("rotates");
    fleet.pass(DELAY - Duration::from_millis(1));
    assert!(open(&other, &seal(&one)).is_ok(), "the old key seals");

    fleet.pass(Duration::from_millis(1));
    let second = seal(&one);
    assert_eq!(open(&other, &second), Err(OpenError::UnknownKey));
    assert!(open_or_refresh(&other, &second).await, "the ring is read");
    assert!(open(&other, &first).is_ok() && open(&one, &first).is_ok());
}

#[tokio::test]
async fn a_ring_is_rotated_once_by_all_replicas() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.replica().await, fleet.replica().await);
    fleet.pass(DAY - Duration::from_millis(1));
    one.refresh().await.expect("it is not due");
    assert_eq!(ring(&fleet).await.keys.len(), 1);

    fleet.pass(Duration::from_millis(1));
    let (one, other) = tokio::join!(one.refresh(), other.refresh());
    one.and(other).expect("rotates");
    assert_eq!(ring(&fleet).await.keys.len(), 2);
}

async fn ring(fleet: &Fleet) -> Ring {
    Ring::decode(&fleet.record().await.value, None).expect("a ring")
}

#[tokio::test]
async fn a_key_opens_as_long_as_the_longest_life_of_a_text() {
    let fleet = Fleet::new();
    let keys = fleet.replica().await;
    let text = seal(&keys);
    let life = fleet.options.max_text_ttl;
    for _ in 0..8 {
        fleet.pass(DAY);
        keys.refresh().await.expect("rotates");
    }
    // The first key sealed until the delay of the second one was over, after a day.
    fleet.pass(DELAY);
    assert!(
        open(&fleet.replica().await, &text).is_ok(),
        "{life:?} are not over"
    );
    fleet.pass(DAY - DELAY);
    keys.refresh().await.expect("rotates");
    let later = fleet.replica().await;
    assert_eq!(open(&later, &text), Err(OpenError::UnknownKey));
    assert_eq!(ring(&fleet).await.keys.len(), 9);
}

#[tokio::test]
async fn a_full_ring_drops_its_oldest_key() {
    let mut fleet = Fleet::new();
    fleet.options.max_keys = 3;
    let keys = fleet.replica().await;
    let first = seal(&keys);
    for _ in 0..2 {
        fleet.pass(DAY);
        keys.refresh().await.expect("rotates");
    }
    assert!(open(&fleet.replica().await, &first).is_ok(), "three keys");
    fleet.pass(DAY);
    keys.refresh().await.expect("rotates");
    assert_eq!(ring(&fleet).await.keys.len(), 3);
    assert!(open(&fleet.replica().await, &first).is_err());
}

#[tokio::test]
async fn a_text_with_an_unknown_key_causes_one_reading_a_second() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.replica().await, fleet.replica().await);
    let foreign = seal(&Keys::new(root(9)));
    assert!(!open_or_refresh(&one, &foreign).await);
    // Another ring, as after a lost content: `one` would find it in a reading.
    fleet
        .store
        .remove(StoreTime::default(), &key(), Precondition::Any)
        .await
        .expect("removes");
    let text = seal(&fleet.replica().await);
    assert!(!open_or_refresh(&one, &text).await, "the pause is not over");
    fleet.pass(fleet.options.refresh_interval);
    assert!(open_or_refresh(&one, &text).await);
    assert!(open(&one, &seal(&other)).is_ok(), "former keys open");
}

#[tokio::test]
async fn a_store_that_lost_its_content_gets_the_known_ring() {
    let fleet = Fleet::new();
    let keys = fleet.replica().await;
    let text = seal(&keys);
    fleet
        .store
        .remove(StoreTime::default(), &key(), Precondition::Any)
        .await
        .expect("removes");
    fleet.pass(DAY);
    keys.refresh().await.expect("writes the ring");
    assert!(open(&fleet.replica().await, &text).is_ok());
}

impl Fleet {
    async fn lose_content(&self) {
        let (now, key) = (StoreTime::default(), key());
        let removed = self.store.remove(now, &key, Precondition::Any);
        removed.await.expect("removes");
    }
}

#[tokio::test]
async fn a_ring_is_restored_before_another_process_begins() {
    let fleet = Fleet::new();
    let keys = fleet.replica().await;
    let (text, digest) = (seal(&keys), keys.digest(b"ada"));
    fleet.lose_content().await;
    keys.restore().await.expect("writes the ring");
    let later = fleet.replica().await;
    assert!(open(&later, &text).is_ok());
    assert_eq!(later.digest(b"ada"), digest);
    assert!(keys.is_creator() && !later.is_creator());
}

#[tokio::test]
async fn a_ring_that_was_created_after_a_loss_gets_the_known_keys() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.replica().await, fleet.replica().await);
    let (text, digest) = (seal(&one), one.digest(b"ada"));
    fleet.pass(DELAY);
    fleet.lose_content().await;
    let later = fleet.replica().await;
    let later_text = seal(&later);
    assert_ne!(later.digest(b"ada"), digest);

    one.restore().await.expect("adds its keys");
    other.restore().await.expect("has nothing to add");
    assert_eq!(ring(&fleet).await.keys.len(), 2);
    assert!(open(&one, &later_text).is_ok() && open(&other, &later_text).is_ok());
    assert!(open_or_refresh(&later, &text).await);
    // The lasting key of the older ring is in force at all of them.
    for keys in [&one, &other, &later, &fleet.replica().await] {
        assert_eq!(keys.digest(b"ada"), digest);
    }
}

#[tokio::test]
async fn an_unknown_key_of_another_ring_restores_the_known_keys() {
    let fleet = Fleet::new();
    let keys = fleet.replica().await;
    let text = seal(&keys);
    fleet.lose_content().await;
    let later = fleet.replica().await;
    assert!(open_or_refresh(&keys, &seal(&later)).await);
    assert!(open(&fleet.replica().await, &text).is_ok());
}

#[tokio::test]
async fn a_merged_ring_drops_its_oldest_keys() {
    let mut fleet = Fleet::new();
    fleet.options.max_keys = 2;
    let keys = fleet.replica().await;
    let first = seal(&keys);
    fleet.pass(DAY);
    keys.refresh().await.expect("rotates");
    fleet.pass(DELAY);
    let second = seal(&keys);
    fleet.lose_content().await;
    fleet.replica().await;
    for _ in 0..2 {
        keys.restore().await.expect("adds a key");
        assert_eq!(ring(&fleet).await.keys.len(), 2);
    }
    let later = fleet.replica().await;
    assert!(open(&later, &first).is_err() && open(&later, &second).is_ok());
}

#[tokio::test]
async fn a_wrapped_ring_needs_its_root_key() {
    let fleet = Fleet::new();
    let wrap = |byte| Some(Keys::new(root(byte)));
    let text = seal(&fleet.join(wrap(1)).await.expect("joins"));
    assert!(open(&fleet.join(wrap(1)).await.expect("joins"), &text).is_ok());
    let error = fleet.join(None).await.expect_err("a wrapped ring");
    assert!(matches!(error, KeysError::Wrapped), "{error}");
    let error = fleet.join(wrap(2)).await.expect_err("another root key");
    assert!(matches!(error, KeysError::OtherRootKey), "{error}");
}

#[tokio::test]
async fn a_new_root_key_wraps_the_same_ring() {
    let fleet = Fleet::new();
    let wrap = |byte| Some(Keys::new(root(byte)));
    let text = seal(&fleet.join(wrap(1)).await.expect("joins"));
    let both = Some(Keys::new(root(2)).also_open(root(1)));
    fleet.join(both).await.expect("wraps it again");
    assert!(open(&fleet.join(wrap(2)).await.expect("joins"), &text).is_ok());
}

#[tokio::test]
async fn a_ring_in_clear_is_refused_with_a_root_key() {
    let fleet = Fleet::new();
    fleet.replica().await;
    let error = fleet
        .join(Some(Keys::new(root(1))))
        .await
        .expect_err("in clear");
    assert!(matches!(error, KeysError::NotWrapped), "{error}");
}

#[tokio::test]
async fn a_damaged_ring_is_refused() {
    let fleet = Fleet::new();
    fleet.replica().await;
    let (key, whole) = (key(), fleet.record().await.value);
    for damaged in [&b""[..], b"\x03", &whole[..whole.len() - 1], &whole[..33]] {
        let (now, value) = (StoreTime::default(), Bytes::copy_from_slice(damaged));
        let put = fleet
            .store
            .put(now, &key, value, Precondition::Any, Expiry::Never);
        put.await.expect("puts");
        let error = fleet.join(None).await.expect_err("a damaged ring");
        assert!(matches!(error, KeysError::InvalidRing), "{error}");
    }
}

#[tokio::test]
async fn values_at_rest_open_after_every_rotation() {
    let fleet = Fleet::new();
    let keys = fleet.replica().await;
    let text = keys
        .sealer(Purpose::AtRest)
        .seal(b"", b"value")
        .expect("seals");
    for _ in 0..70 {
        fleet.pass(DAY);
        keys.refresh().await.expect("rotates");
    }
    let later = fleet.replica().await.sealer(Purpose::AtRest);
    assert_eq!(later.open(b"", &text).as_deref(), Ok(&b"value"[..]));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_an_error_in_time() {
    let started = tokio::time::Instant::now();
    let store = Arc::new(Hanging);
    let error = Keys::in_store(store, None, DAY)
        .await
        .expect_err("it hangs");
    assert!(matches!(error, KeysError::TimedOut), "{error}");
    assert_eq!(started.elapsed(), KeyRingOptions::default().store_timeout);
}
