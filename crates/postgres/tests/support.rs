//! Servers, schemas and keys for tests.

mod proxy;

use pintle_postgres::PostgresStore;
use pintle_store::{Key, Namespace, StoreLimits, StoreTime};

pub(crate) use pintle_test_servers::{Pooler, PostgresServer as Engine, Stop, fresh};
pub(crate) use proxy::{Network, Proxy};

pub(crate) const NOW: StoreTime = StoreTime::from_millis(0);

pub(crate) async fn open(url: &str) -> PostgresStore {
    let store = PostgresStore::connect(url, StoreLimits::default()).await;
    store.expect("connects")
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(&Namespace::fixed("tests"), name).expect("a key")
}
