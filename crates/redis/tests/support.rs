//! Servers and keys for tests.

mod certificates;
mod engine;

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_redis::RedisStore;
use pintle_store::{Key, Namespace, StoreLimits, StoreTime};

pub(crate) use engine::Engine;

pub(crate) const NOW: StoreTime = StoreTime::from_millis(0);

/// Returns a name that no other test uses.
pub(crate) fn fresh(kind: &str) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    format!("{kind}-{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn open(url: &str) -> RedisStore {
    let store = RedisStore::connect(url, StoreLimits::default()).await;
    store.expect("connects")
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(&Namespace::fixed("tests"), name).expect("a key")
}
