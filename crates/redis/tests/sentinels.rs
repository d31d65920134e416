//! Sentinels that name the server of a service, and a failover.

use std::time::Duration;

use pintle_redis::{ConnectError, RedisStore};
use pintle_store::{Expiry, Precondition, Prefix, Store, StoreError, StoreLimits};
use tokio::time::timeout;

use crate::support::{Engine, NOW, fresh, key, open};

/// Longest time for a failover.
const LIMIT: Duration = Duration::from_secs(60);

/// A server, its replica and a sentinel.
struct Service {
    primary: Engine,
    _replica: Engine,
    sentinel: Engine,
}

impl Service {
    /// Returns `None` if the test must skip.
    fn start() -> Option<Self> {
        let primary = Engine::start_tcp()?;
        let replica = primary.start_replica();
        let sentinel = primary.start_sentinel();
        Some(Self {
            primary,
            _replica: replica,
            sentinel,
        })
    }

    fn url(&self, service: &str, prefix: &str) -> String {
        // The first sentinel does not run.
        let port = self.sentinel.port();
        format!("redis+sentinel://127.0.0.1:1,127.0.0.1:{port}/{service}/0?prefix={prefix}")
    }
}

async fn put(store: &dyn Store, name: &str) -> Result<(), StoreError> {
    let name = key(name);
    let put = store.put(NOW, &name, "value".into(), Precondition::Any, Expiry::Never);
    put.await.map(drop)
}

async fn put_until_written(store: &dyn Store, name: &str) {
    let puts = async {
        while let Err(error) = put(store, name).await {
            assert!(error.is_retryable(), "{error:?}");
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, puts).await.expect("a server");
}

// hardening: H-187
#[tokio::test(flavor = "multi_thread")]
async fn a_store_follows_a_failover() {
    let Some(mut service) = Service::start() else {
        return;
    };
    let url = service.url("harbour", &fresh("sentinels")) + "&wait=1&operation_timeout=2000";
    let store = open(&url).await;
    let watched = Prefix::from(key("watched"));
    let mut changes = store.changed(&watched).await.expect("watches");
    // The replica acknowledges this write.
    put_until_written(&store, "before").await;
    service.primary.stop();
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));

    // The new server has no replica.
    let url = service.url("harbour", &fresh("sentinels")) + "&operation_timeout=2000";
    let reads = async {
        loop {
            match store.get(NOW, &key("before")).await {
                Ok(record) => return record,
                Err(error) => assert!(error.is_retryable(), "{error:?}"),
            }
            tokio::task::yield_now().await;
        }
    };
    let record = timeout(LIMIT, reads).await.expect("a server");
    assert_eq!(record.expect("a record").value, "value");
    let other = open(&url).await;
    put(&other, "after").await.expect("puts");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_works_after_a_failover() {
    let Some(mut service) = Service::start() else {
        return;
    };
    let url = service.url("harbour", &fresh("sentinels"));
    let store = open(&url).await;
    let watched = Prefix::from(key("watched"));
    let mut changes = store.changed(&watched).await.expect("watches");
    service.primary.stop();
    put_until_written(&store, "a").await;
    let other = open(&url).await;
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
    put(&other, "watched").await.expect("puts");
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
}

#[tokio::test]
async fn an_unknown_service_is_an_error_with_its_name() {
    let Some(service) = Service::start() else {
        return;
    };
    let url = service.url("other", "a");
    let refused = RedisStore::connect(&url, StoreLimits::default()).await;
    let error = refused.expect_err("no service");
    assert!(
        matches!(error, ConnectError::UnknownService { .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(text.contains("the service other of 127.0.0.1:1"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sentinels_and_their_server_use_tls() {
    let Some(primary) = Engine::start_tls() else {
        return;
    };
    let sentinel = primary.start_tls_sentinel();
    let (port, prefix, ca) = (sentinel.port(), fresh("sentinels"), primary.file("ca.pem"));
    let url = format!("rediss+sentinel://localhost:{port}/harbour/0?prefix={prefix}&ca={ca}");
    let store = open(&url).await;
    let watched = Prefix::from(key("watched"));
    let mut changes = store.changed(&watched).await.expect("watches");
    put(&store, "watched").await.expect("puts");
    let woken = timeout(LIMIT, changes.next()).await.expect("wakes");
    assert_eq!(woken, Some(()));
}
