//! The contract of stores in each fault, through a simulated connection.
//!
//! The tests of kills have what a connection cannot show: a killed process, and a paused one with the lock.

use std::sync::Arc;
use std::time::Duration;

use pintle_sqlite::SqliteStore;
use pintle_store::StoreLimits;
use pintle_store::conformance::{Reopen, SimulatedLink, Waiting, run_faults};
use tokio::time::timeout;

use crate::support::{Directory, together};

/// A database of its own, which a restart closes and opens again.
fn database() -> Reopen {
    let directory = Directory::new();
    Box::new(move || {
        let store = SqliteStore::open(directory.database(), StoreLimits::default());
        Arc::new(store.expect("opens"))
    })
}

fn wait_at_most(work: Waiting<'_, ()>, limit: Duration) -> Waiting<'_, bool> {
    Box::pin(async move { timeout(limit, work).await.is_ok() })
}

// hardening: H-187, H-189, H-191
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_passes_in_every_fault() {
    let link = SimulatedLink::new(database, wait_at_most, together);
    run_faults(&link).await;
}
