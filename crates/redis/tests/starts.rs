//! Errors at the start, each with a remedy and without credentials.

use std::error::Error;

use pintle_redis::{ConnectError, RedisStore};
use pintle_store::{Expiry, Precondition, Store, StoreLimits};
use tokio::net::TcpListener;

use crate::support::{Engine, NOW, fresh, key};

/// Connects, and checks that the error shows no password.
async fn refused(url: &str) -> ConnectError {
    let store = RedisStore::connect(url, StoreLimits::default()).await;
    let error = store.expect_err("an error");
    let source = error.source().map(ToString::to_string);
    let text = format!("{error} {error:?} {source:?}");
    assert!(!text.contains("s3cret"), "{text}");
    error
}

#[tokio::test]
async fn a_server_that_does_not_exist_is_named() {
    let error = refused("redis+unix:///absent/redis.sock?pass=s3cret").await;
    assert!(
        matches!(error, ConnectError::Unreachable { .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.starts_with("cannot connect to /absent/redis.sock; check "),
        "{text}"
    );
}

#[tokio::test]
async fn a_silent_server_is_an_error_after_the_connect_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    let error = refused(&format!("redis://me:s3cret@{address}?connect_timeout=1")).await;
    assert!(matches!(error, ConnectError::TimedOut { .. }), "{error:?}");
    assert!(error.to_string().contains("within 1000 ms"), "{error}");
}

#[tokio::test]
async fn a_wrong_or_absent_password_is_denied() {
    let Some(engine) = Engine::start(&["--requirepass", "right"]) else {
        return;
    };
    let url = engine.url(&fresh("starts"));
    for url in [url.clone(), format!("{url}&pass=s3cret")] {
        let error = refused(&url).await;
        assert!(matches!(error, ConnectError::Denied { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.ends_with("correct the user and the password of the URL"),
            "{text}"
        );
    }
    let store = RedisStore::connect(&format!("{url}&pass=right"), StoreLimits::default()).await;
    let text = format!("{:?}", store.expect("connects"));
    assert!(!text.contains("right"), "{text}");
}

#[tokio::test]
async fn an_error_of_permissions_names_the_rights() {
    let Some(engine) = Engine::start(&[]) else {
        return;
    };
    for (number, rules) in [
        "~other:* &own:* +@all",
        "~own:* &other:* resetchannels +@all",
        "~own:* &own:* +@all -@write",
        "~own:* &own:* +@all -@scripting",
        "~own:* &own:* +@all -@pubsub",
        "~own:* &own:* +@all -info",
        "~own:* &own:* +@all -zadd",
    ]
    .iter()
    .enumerate()
    {
        engine.run(&format!("ACL SETUSER user{number} on >s3cret {rules}"));
        let error = refused(&format!(
            "{}&user=user{number}&pass=s3cret",
            engine.url("own")
        ))
        .await;
        assert!(
            matches!(error, ConnectError::Permission { .. }),
            "{rules}: {error:?}"
        );
        let text = error.to_string();
        assert!(text.contains("~own:* &own:* +@read +@write"), "{text}");
    }
}

#[tokio::test]
async fn a_user_with_the_named_rights_has_a_store() {
    let Some(engine) = Engine::start(&[]) else {
        return;
    };
    let rights = "~own:* &own:* +@read +@write +@scripting +@pubsub +@connection +info +time +wait";
    engine.run(&format!("ACL SETUSER me on >s3cret resetchannels {rights}"));
    let url = format!("{}&user=me&pass=s3cret", engine.url("own"));
    let store = RedisStore::connect(&url, StoreLimits::default()).await;
    let store = store.expect("connects");
    let name = key("a.b");
    let put = store.put(NOW, &name, "".into(), Precondition::Absent, Expiry::Never);
    put.await.expect("puts");
}

#[tokio::test]
async fn a_server_that_evicts_is_refused() {
    let Some(engine) = Engine::start(&["--maxmemory-policy", "allkeys-lru"]) else {
        return;
    };
    let error = refused(&engine.url(&fresh("starts"))).await;
    assert!(matches!(error, ConnectError::Evicting { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.ends_with("set `maxmemory-policy` to noeviction"),
        "{text}"
    );
}

#[tokio::test]
async fn a_replica_is_refused() {
    let Some(engine) = Engine::start(&["--replicaof", "localhost", "1"]) else {
        return;
    };
    let error = refused(&engine.url(&fresh("starts"))).await;
    assert!(matches!(error, ConnectError::ReadOnly { .. }), "{error:?}");
}
