//! Restarts, and files that are not a store of this version.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use pintle_sqlite::{OpenError, SqliteStore};
use pintle_store::{Epoch, Expiry, Precondition, Store, StoreError, StoreLimits};
use rusqlite::Connection;

use crate::support::{Directory, NOW, key, open};

#[tokio::test]
async fn a_restart_keeps_acknowledged_writes() {
    let directory = Directory::new();
    let epoch = Epoch::new(u128::MAX);
    {
        let store = open(&directory.database());
        let value = Bytes::from_static(b"\0\xff");
        let name = key("a");
        let put = store.put(NOW, &name, value, Precondition::Any, Expiry::Never);
        put.await.expect("puts");
        store
            .add(NOW, &key("a"), -5, Expiry::Never)
            .await
            .expect("adds");
        store.epoch(epoch).await.expect("an epoch");
    }
    let store = open(&directory.database());
    let record = store.get(NOW, &key("a")).await.expect("gets");
    assert_eq!(record.expect("a record").value, &b"\0\xff"[..]);
    let sum = store.add(NOW, &key("a"), 0, Expiry::Never).await;
    assert_eq!(sum.expect("adds"), -5);
    assert_eq!(store.epoch(Epoch::new(1)).await.expect("an epoch"), epoch);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let directory = Directory::new();
    let other = Connection::open(directory.database()).expect("opens");
    other
        .execute_batch("CREATE TABLE notes (text)")
        .expect("creates");
    let error = SqliteStore::open(directory.database(), StoreLimits::default());
    assert!(
        matches!(error, Err(OpenError::OtherProgram { .. })),
        "{error:?}"
    );
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let directory = Directory::new();
    drop(open(&directory.database()));
    let newer = Connection::open(directory.database()).expect("opens");
    newer
        .pragma_update(None, "user_version", 2)
        .expect("updates");
    let error = SqliteStore::open(directory.database(), StoreLimits::default());
    let error = error.expect_err("a newer layout");
    assert!(
        matches!(error, OpenError::NewerLayout { found: 2, .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.ends_with("has layout 2, and this version reads layouts up to 1; use a newer version")
    );
}

#[test]
fn a_file_that_is_not_a_database_is_refused() {
    let directory = Directory::new();
    std::fs::write(directory.database(), [b'x'; 4096]).expect("writes");
    for path in [directory.database(), directory.join("absent/state.sqlite")] {
        let error = SqliteStore::open(path, StoreLimits::default());
        assert!(matches!(error, Err(OpenError::Open { .. })), "{error:?}");
    }
}

// hardening: H-194
#[test]
fn operations_beyond_the_queue_are_refused() {
    let directory = Directory::new();
    let mut limits = StoreLimits::default();
    limits.max_queued_writes = 1;
    let store = SqliteStore::open(directory.database(), limits).expect("opens");
    let mut lock = Connection::open(directory.database()).expect("opens");
    let held = lock
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .expect("locks");
    // One write waits for the lock, one waits in the queue. The thread may be slow to take the first.
    let key = key("a");
    let mut cx = Context::from_waker(Waker::noop());
    let mut writes: Vec<_> = (0..3)
        .map(|_| store.put(NOW, &key, Bytes::new(), Precondition::Any, Expiry::Never))
        .collect();
    let polled: Vec<_> = writes
        .iter_mut()
        .map(|write| write.as_mut().poll(&mut cx))
        .collect();
    let is_refused = |poll: &&Poll<Result<_, StoreError>>| matches!(poll, Poll::Ready(Err(error)) if error.is_retryable());
    let refused = polled.iter().filter(is_refused);
    assert!(refused.count() >= 1, "{polled:?}");
    drop(held);
}
