//! Servers, schemas and keys for tests.

mod certificates;
mod engine;
mod pooler;
mod proxy;

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_postgres::PostgresStore;
use pintle_store::{Key, Namespace, StoreLimits, StoreTime};

pub(crate) use engine::{Engine, Stop};
pub(crate) use pooler::Pooler;
pub(crate) use proxy::{Network, Proxy};

pub(crate) const NOW: StoreTime = StoreTime::from_millis(0);

/// Returns a name for a schema or a role that no other test uses.
pub(crate) fn fresh(kind: &str) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    format!("{kind}_{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    let store = PostgresStore::connect(url, StoreLimits::default()).await;
    store.expect("connects")
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(&Namespace::fixed("tests"), name).expect("a key")
}
