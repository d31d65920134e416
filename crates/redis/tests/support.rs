//! Servers and keys for tests.

use pintle_redis::RedisStore;
use pintle_store::{Key, Namespace, StoreLimits, StoreTime};

pub(crate) use pintle_test_servers::{RedisServer as Engine, fresh};

pub(crate) const NOW: StoreTime = StoreTime::from_millis(0);

pub(crate) async fn open(url: &str) -> RedisStore {
    let store = RedisStore::connect(url, StoreLimits::default()).await;
    store.expect("connects")
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(&Namespace::fixed("tests"), name).expect("a key")
}
