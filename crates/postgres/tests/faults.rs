//! A network that cuts connections, loses answers, or is silent.

use std::time::{Duration, Instant};

use pintle_postgres::PostgresStore;
use pintle_store::{Expiry, Precondition, Prefix, Store, StoreError};

use crate::support::{Engine, NOW, Network, Proxy, fresh, key, open};

/// A store behind a network, with 2 connections and the listener.
async fn behind(engine: &Engine, operation_timeout: u32) -> (Proxy, PostgresStore) {
    let proxy = Proxy::start(engine.socket()).await;
    let (address, schema) = (proxy.address, fresh("faults"));
    let url = format!("postgres://postgres@{address}/postgres?prefix={schema}&connections=2");
    let store = open(&format!("{url}&operation_timeout={operation_timeout}")).await;
    (proxy, store)
}

async fn add(store: &PostgresStore, amount: i64) -> Result<i64, StoreError> {
    store.add(NOW, &key("sum"), amount, Expiry::Never).await
}

fn cause(error: &StoreError) -> String {
    assert!(error.is_retryable(), "{error:?}");
    std::error::Error::source(error)
        .expect("a cause")
        .to_string()
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_reported_and_not_repeated() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (proxy, store) = behind(engine, 30_000).await;
    add(&store, 1).await.expect("adds");
    proxy.set(Network::LosesAnswers);
    let text = cause(&add(&store, 1).await.expect_err("a lost answer"));
    assert!(text.contains("the operation may have happened"), "{text}");
    proxy.set(Network::Whole);
    assert_eq!(add(&store, 0).await.expect("adds"), 2);
}

#[tokio::test]
async fn a_read_is_repeated_on_another_connection() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (proxy, store) = behind(engine, 30_000).await;
    let name = key("a");
    let put = store.put(NOW, &name, "value".into(), Precondition::Any, Expiry::Never);
    put.await.expect("puts");
    for _ in 0..3 {
        proxy.set(Network::Silent);
        let mut get = store.get(NOW, &name);
        assert!(futures_util::poll!(&mut get).is_pending());
        proxy.cut();
        proxy.set(Network::Whole);
        let record = get.await.expect("gets").expect("a record");
        assert_eq!(record.value, "value");
    }
}

#[tokio::test]
async fn an_operation_on_a_silent_network_ends_in_time() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (proxy, store) = behind(engine, 1_000).await;
    add(&store, 1).await.expect("adds");
    proxy.set(Network::Silent);
    let start = Instant::now();
    let text = cause(&add(&store, 1).await.expect_err("a silent network"));
    assert!(
        text.starts_with("PostgreSQL did not answer within 1000 ms"),
        "{text}"
    );
    assert!(start.elapsed() < Duration::from_secs(30));
    proxy.set(Network::Whole);
    let sum = loop {
        match add(&store, 0).await {
            Ok(sum) => break sum,
            Err(error) => drop(cause(&error)),
        }
    };
    assert!((1..=2).contains(&sum), "{sum}");
}

#[tokio::test]
async fn a_lost_listener_wakes_every_watcher() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (proxy, store) = behind(engine, 30_000).await;
    let mut changes = store
        .changed(&Prefix::from(key("a")))
        .await
        .expect("watches");
    proxy.cut();
    let woken = tokio::time::timeout(Duration::from_secs(60), changes.next()).await;
    assert_eq!(woken.expect("a wake-up"), Some(()));
}

#[tokio::test]
async fn operations_without_a_connection_report_the_reason() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let (proxy, store) = behind(engine, 1_000).await;
    drop(proxy);
    let mut text = cause(&add(&store, 1).await.expect_err("no server"));
    // The first operation may meet a connection that has just ended.
    if text.contains("was lost") {
        text = cause(&add(&store, 1).await.expect_err("no server"));
    }
    assert!(
        text.starts_with(
            "no connection to PostgreSQL within 1000 ms; the operation did not happen"
        ),
        "{text}"
    );
    assert!(text.contains("cannot connect to 127.0.0.1:"), "{text}");
}
