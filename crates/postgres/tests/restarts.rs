//! A server that restarts, crashes, or does not answer.

use std::pin::pin;
use std::time::Duration;

use pintle_postgres::PostgresStore;
use pintle_store::{
    Epoch, ExpectedTail, Expiry, Position, Precondition, Prefix, Retention, Store, StoreError,
    StoreLimits, Tail,
};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::support::{Engine, NOW, Stop, fresh, key, open};

/// Longest time for a store to connect again.
const LIMIT: Duration = Duration::from_secs(60);

/// Stops the server, and starts it again.
async fn restart(mut engine: Engine, stop: Stop) -> Engine {
    let restarted = spawn_blocking(move || {
        engine.stop(stop);
        engine.resume();
        engine
    });
    restarted.await.expect("restarts")
}

/// Repeats an operation while the server is away.
async fn until_answered<T>(operation: impl AsyncFn() -> Result<T, StoreError>) -> T {
    let answered = async {
        loop {
            match operation().await {
                Ok(answer) => return answer,
                Err(error) => assert!(error.is_retryable(), "{error:?}"),
            }
        }
    };
    timeout(LIMIT, answered)
        .await
        .expect("the server answers again")
}

struct Written {
    epoch: Epoch,
    tail: Position,
}

async fn write(store: &PostgresStore) -> Written {
    let epoch = store.epoch(Epoch::new(1)).await.expect("an epoch");
    let name = key("a");
    let put = store.put(NOW, &name, "kept".into(), Precondition::Any, Expiry::Never);
    put.await.expect("puts");
    store
        .add(NOW, &key("a"), 3, Expiry::Never)
        .await
        .expect("adds");
    let tail = append(store, "event").await.expect("appends");
    Written { epoch, tail }
}

async fn append(store: &PostgresStore, event: &'static str) -> Result<Position, StoreError> {
    let (any, all) = (ExpectedTail::Any, Retention::default());
    store
        .append(NOW, &key("a"), &[event.into()], any, all, Expiry::Never)
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_keeps_everything_and_wakes_every_watcher() {
    let Some(engine) = Engine::start() else {
        return;
    };
    let store = open(&engine.url("state")).await;
    let written = write(&store).await;
    let mut changes = store
        .changed(&Prefix::from(key("other")))
        .await
        .expect("watches");
    let _engine = restart(engine, Stop::Fast).await;

    let record = until_answered(async || store.get(NOW, &key("a")).await).await;
    assert_eq!(record.expect("a record").value, "kept");
    assert_eq!(
        store.epoch(Epoch::new(2)).await.expect("an epoch"),
        written.epoch
    );
    let sum = until_answered(async || store.add(NOW, &key("a"), 0, Expiry::Never).await).await;
    assert_eq!(sum, 3);
    let next = until_answered(async || append(&store, "next").await).await;
    assert!(next > written.tail);
    let woken = timeout(LIMIT, changes.next()).await.expect("a wake-up");
    assert_eq!(woken, Some(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_keeps_records_and_changes_the_epoch() {
    let Some(engine) = Engine::start() else {
        return;
    };
    let store = open(&engine.url("state")).await;
    let written = write(&store).await;
    let _engine = restart(engine, Stop::Crash).await;

    let record = until_answered(async || store.get(NOW, &key("a")).await).await;
    let record = record.expect("a record");
    assert_eq!(record.value, "kept");
    let fresh = Epoch::new(2);
    let epoch = until_answered(async || store.epoch(fresh).await).await;
    assert_eq!(epoch, fresh);
    let tail = store.read(NOW, &key("a"), written.tail, 9).await;
    assert_eq!(tail.expect("reads"), Tail::Lost);
    let next = until_answered(async || append(&store, "next").await).await;
    assert!(next > written.tail, "positions do not repeat");
    let put = store
        .put(NOW, &key("b"), "".into(), Precondition::Any, Expiry::Never)
        .await;
    assert_ne!(put.expect("puts"), record.version, "versions do not repeat");
}

#[tokio::test]
async fn a_statement_that_is_late_ends_and_did_not_happen() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let schema = fresh("restarts");
    let store = open(&engine.url(&schema)).await;
    let put = async || {
        let (key, value) = (key("a"), "".into());
        store
            .put(NOW, &key, value, Precondition::Any, Expiry::Never)
            .await
    };
    put().await.expect("puts");
    let admin = engine.admin().await;
    let lock = format!("BEGIN; LOCK TABLE {schema}.record IN EXCLUSIVE MODE");
    admin.batch_execute(&lock).await.expect("locks");
    let error = put().await.expect_err("the table is locked");
    assert!(error.is_retryable(), "{error:?}");
    let text = std::error::Error::source(&error)
        .expect("a cause")
        .to_string();
    assert!(text.starts_with("PostgreSQL reports 57014: "), "{text}");
    admin.batch_execute("ROLLBACK").await.expect("unlocks");
    put().await.expect("puts");
}

#[tokio::test]
async fn a_write_that_waits_for_a_lock_delays_no_other_operation() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let schema = fresh("restarts");
    let store = open(&format!(
        "{}&application_name={schema}&operation_timeout=60000",
        engine.url(&schema)
    ))
    .await;
    let (locked, other) = (key("locked"), key("other"));
    let put = |name| store.put(NOW, name, "".into(), Precondition::Any, Expiry::Never);
    put(&locked).await.expect("puts");
    let admin = engine.admin().await;
    // The second connection opens in the background. The server shows the last statement of each.
    let answered = "SELECT count(*) = 2 FROM pg_stat_activity
        WHERE application_name = $1 AND query LIKE '%clock_timestamp%'";
    loop {
        store.time().await.expect("a time");
        let row = admin.query_one(answered, &[&schema]).await.expect("reads");
        if row.get(0) {
            break;
        }
    }
    let lock = format!("BEGIN; SELECT FROM {schema}.record FOR UPDATE");
    admin.batch_execute(&lock).await.expect("locks");
    let mut waits = put(&locked);
    assert!(futures_util::poll!(&mut waits).is_pending());
    // New operations avoid a connection that has answered nothing for 50 ms.
    let is_stalled = "SELECT count(*) = 1 FROM pg_stat_activity
        WHERE application_name = $1 AND wait_event_type = 'Lock'
        AND clock_timestamp() - query_start > interval '50 milliseconds'";
    loop {
        let row = admin.query_one(is_stalled, &[&schema]).await;
        if row.expect("reads").get(0) {
            break;
        }
    }
    for _ in 0..10 {
        put(&other).await.expect("puts");
        assert!(futures_util::poll!(&mut waits).is_pending());
    }
    admin.batch_execute("ROLLBACK").await.expect("unlocks");
    waits.await.expect("puts");
}

#[tokio::test]
async fn a_write_whose_caller_is_gone_wakes_watchers_when_it_ends() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let schema = fresh("restarts");
    let store = open(&format!("{}&operation_timeout=3000", engine.url(&schema))).await;
    let name = key("a");
    let prefix = Prefix::from(name.clone());
    let mut changes = store.changed(&prefix).await.expect("watches");
    let admin = engine.admin().await;
    let lock = format!("BEGIN; LOCK TABLE {schema}.record IN EXCLUSIVE MODE");
    admin.batch_execute(&lock).await.expect("locks");
    let mut put = store.put(NOW, &name, "".into(), Precondition::Any, Expiry::Never);
    assert!(futures_util::poll!(&mut put).is_pending());
    drop(put);
    // A wake-up before the end does not count.
    let _ = futures_util::poll!(pin!(changes.next()));
    admin.batch_execute("ROLLBACK").await.expect("unlocks");
    let woken = timeout(LIMIT, changes.next()).await;
    assert_eq!(woken.expect("a wake-up"), Some(()));
    assert!(store.get(NOW, &name).await.expect("gets").is_some());
}

// hardening: H-194
#[tokio::test]
async fn operations_beyond_the_limit_are_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let schema = fresh("restarts");
    let mut limits = StoreLimits::default();
    (limits.max_queued_writes, limits.max_queued_bytes) = (3, 10);
    let store = PostgresStore::connect(&engine.url(&schema), limits)
        .await
        .expect("connects");
    let admin = engine.admin().await;
    let lock = format!("BEGIN; LOCK TABLE {schema}.record IN EXCLUSIVE MODE");
    admin.batch_execute(&lock).await.expect("locks");
    let key = key("a");
    let put =
        |value: &'static str| store.put(NOW, &key, value.into(), Precondition::Any, Expiry::Never);
    let is_refused = |result: Result<_, StoreError>, limit: &str| {
        let error = result.expect_err("a full queue");
        let text = std::error::Error::source(&error)
            .expect("a cause")
            .to_string();
        assert!(error.is_retryable() && text.ends_with(limit), "{text}");
    };
    let mut waits = futures_util::future::join_all([put("123456"), put("1234"), put("")]);
    assert!(futures_util::poll!(&mut waits).is_pending());
    is_refused(put("").await, "the limit is 3");
    drop(waits);
    let mut waits = put("longer than the limit");
    assert!(
        futures_util::poll!(&mut waits).is_pending(),
        "alone it may be longer"
    );
    is_refused(put("1").await, "the limit is 10 bytes");
    admin.batch_execute("ROLLBACK").await.expect("unlocks");
    waits.await.expect("puts");
    put("1").await.expect("puts");
}
