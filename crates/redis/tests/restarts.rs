//! A server that restarts, loses its content, or does not answer.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pintle_redis::RedisStore;
use pintle_store::{
    Epoch, ExpectedTail, Expiry, Position, Precondition, Prefix, Retention, Retry, Store,
    StoreError, StoreLimits, Tail,
};
use tokio::time::timeout;

use crate::support::{Engine, NOW, fresh, key, open};

/// Longest time for a connection to return.
const LIMIT: Duration = Duration::from_secs(30);

async fn put(store: &dyn Store, name: &str) -> Result<(), StoreError> {
    let name = key(name);
    let put = store.put(NOW, &name, "value".into(), Precondition::Any, Expiry::Never);
    put.await.map(drop)
}

/// Puts until the store has a connection again. Each error must allow a retry.
async fn put_again(store: &dyn Store) {
    let puts = async {
        while let Err(error) = put(store, "a").await {
            assert!(error.is_retryable(), "{error:?}");
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, puts).await.expect("a connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_reconnects_and_wakes_its_watchers() {
    let Some(mut engine) = Engine::start(&[]) else {
        return;
    };
    let store = open(&engine.url(&fresh("restarts"))).await;
    let prefix = Prefix::from(key("watched"));
    let mut changes = store.changed(&prefix).await.expect("watches");
    engine.stop();
    let error = put(&store, "a").await.expect_err("no server");
    assert!(error.is_retryable(), "{error:?}");
    engine.resume();
    // A change may have been missed, so every watcher reads.
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
    put_again(&store).await;
    // The watch has a subscription again.
    put(&store, "watched").await.expect("puts");
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
}

#[tokio::test]
async fn lost_content_has_another_epoch() {
    let Some(engine) = Engine::start(&[]) else {
        return;
    };
    let store = open(&engine.url(&fresh("restarts"))).await;
    let (first, second) = (Epoch::new(u128::MAX - 7), Epoch::new(2));
    assert_eq!(store.epoch(first).await.expect("an epoch"), first);
    assert_eq!(store.epoch(second).await.expect("an epoch"), first);
    engine.run("FLUSHALL");
    assert_eq!(store.epoch(second).await.expect("an epoch"), second);
}

#[tokio::test]
async fn a_store_loads_scripts_that_the_server_has_lost() {
    let Some(engine) = Engine::start(&[]) else {
        return;
    };
    let store = open(&engine.url(&fresh("restarts"))).await;
    engine.run("SCRIPT FLUSH SYNC");
    put(&store, "a").await.expect("puts");
    let sum = store.add(NOW, &key("a"), 2, Expiry::Never).await;
    assert_eq!(sum.expect("adds"), 2);
}

#[tokio::test]
async fn a_write_without_its_replica_is_an_error_after_it_happened() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine.url(&fresh("restarts")) + "&wait=1&operation_timeout=100";
    let store = open(&url).await;
    let error = put(&store, "a").await.expect_err("no replica");
    assert!(error.is_retryable(), "{error:?}");
    let record = store.get(NOW, &key("a")).await.expect("gets");
    assert!(record.is_some(), "the primary server has the record");
}

#[tokio::test]
async fn a_write_waits_for_its_replica() {
    let Some(primary) = Engine::start_tcp() else {
        return;
    };
    let port = primary.port().to_string();
    let _replica = Engine::start(&["--replicaof", "127.0.0.1", &port]).expect("installed");
    let url = primary.url(&fresh("restarts")) + "&wait=1&operation_timeout=5000";
    let store = open(&url).await;
    // The replica joins the primary server at some time.
    put_again(&store).await;
    primary.run("SCRIPT FLUSH SYNC");
    put(&store, "b").await.expect("puts");
    let removed = store.remove(NOW, &key("b"), Precondition::Any).await;
    assert!(removed.expect("removes"));
}

#[tokio::test]
async fn half_a_log_is_a_lost_log() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let prefix = fresh("restarts");
    let store = open(&engine.url(&prefix)).await;
    let append = |tail| {
        let (store, events) = (&store, ["a".into(), "b".into()]);
        async move {
            let (log, all) = (key("log"), Retention::default());
            store
                .append(NOW, &log, &events, tail, all, Expiry::Never)
                .await
        }
    };
    let last = append(ExpectedTail::Any).await.expect("appends");
    engine.run(&format!(
        "RENAME {prefix}:{{tests/log}}:e:log {prefix}:lost"
    ));
    let tail = store.read(NOW, &key("log"), last, 9).await.expect("reads");
    assert_eq!(tail, Tail::Lost);
    let error = append(ExpectedTail::At(last)).await.expect_err("no tail");
    assert!(
        matches!(
            error,
            StoreError::Moved {
                tail: Position::START
            }
        ),
        "{error:?}"
    );
    let next = append(ExpectedTail::Any).await.expect("appends");
    assert!(next > last, "a position is never used again");
}

#[tokio::test]
async fn a_value_of_another_program_is_an_error() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let prefix = fresh("restarts");
    let store = open(&engine.url(&prefix)).await;
    engine.run(&format!("SET {prefix}:{{tests/a}}:r:a other"));
    let error = store
        .get(NOW, &key("a"))
        .await
        .expect_err("another program");
    let StoreError::Backend(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.retry(), Retry::Never);
}

// hardening: H-194
#[tokio::test]
async fn operations_beyond_the_limit_are_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let mut limits = StoreLimits::default();
    limits.max_queued_writes = 2;
    let url = engine.url(&fresh("restarts"));
    let store = RedisStore::connect(&url, limits).await.expect("connects");
    let mut cx = Context::from_waker(Waker::noop());
    let name = key("a");
    let mut operations: Vec<_> = (0..3).map(|_| store.get(NOW, &name)).collect();
    let mut polled = operations.iter_mut().map(|it| it.as_mut().poll(&mut cx));
    assert!(polled.next().expect("a get").is_pending());
    assert!(polled.next().expect("a get").is_pending());
    let third = polled.next().expect("a get");
    let Poll::Ready(Err(error)) = third else {
        panic!("{third:?}");
    };
    assert!(error.is_retryable() && error.limit().is_none(), "{error:?}");
    drop(operations);
    store.get(NOW, &key("a")).await.expect("gets");
}
