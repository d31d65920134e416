//! Errors of the start. Each one names a remedy, and none shows a password.

use std::error::Error;
use std::net::TcpListener;

use pintle_postgres::{ConnectError, PostgresStore};
use pintle_store::StoreLimits;

use crate::support::{Engine, fresh, open};

async fn fails(url: &str) -> ConnectError {
    let store = PostgresStore::connect(url, StoreLimits::default()).await;
    let error = store.expect_err(url);
    let mut shown = format!("{error} {error:?}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        shown.push_str(&inner.to_string());
        cause = inner.source();
    }
    assert!(!shown.contains("s3cret"), "{shown}");
    error
}

#[tokio::test]
async fn a_wrong_url_is_refused() {
    let error = fails("redis://me:s3cret@localhost").await;
    assert_eq!(
        error.to_string(),
        "invalid PostgreSQL URL: it does not begin with `postgres://`"
    );
}

#[tokio::test]
async fn a_port_without_a_server_is_reported() {
    // The listener is dropped, so the port refuses connections.
    let address = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    let address = address.expect("an address");
    let error = fails(&format!("postgres://me:s3cret@{address}/state")).await;
    assert!(
        matches!(error, ConnectError::Unreachable { .. }),
        "{error:?}"
    );
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("cannot connect to {address}; check")),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let error = fails(&format!(
        "postgres://me:s3cret@{address}/state?connect_timeout=1"
    ))
    .await;
    assert_eq!(
        error.to_string(),
        format!(
            "{address} does not answer within 1 s; check the network, or set `connect_timeout` in the URL"
        )
    );
}

#[tokio::test]
async fn a_wrong_password_is_reported() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let role = fresh("role");
    engine
        .run(&format!("CREATE ROLE {role} LOGIN PASSWORD 'right'"))
        .await;
    let url = engine.tcp_url(&format!("{role}:s3cret"), "127.0.0.1", &fresh("starts"));
    let error = fails(&url).await;
    assert!(matches!(error, ConnectError::Denied { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("PostgreSQL denies access to user {role}; check")),
        "{text}"
    );

    let url = engine.tcp_url(&role, "127.0.0.1", &fresh("starts"));
    let error = fails(&url).await;
    assert!(matches!(error, ConnectError::Denied { .. }), "{error:?}");
}

#[tokio::test]
async fn an_absent_database_is_reported() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine
        .url(&fresh("starts"))
        .replace("/postgres?", "/harbour?");
    let error = fails(&url).await;
    assert_eq!(
        error.to_string(),
        "the database harbour does not exist; create it, or name another database in the URL"
    );
}

#[tokio::test]
async fn a_database_of_another_encoding_is_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let name = fresh("latin");
    let create = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    engine.run(&create).await;
    let url = engine
        .url(&fresh("starts"))
        .replace("/postgres?", &format!("/{name}?"));
    let error = fails(&url).await;
    assert_eq!(
        error.to_string(),
        "the database has the encoding LATIN1; create a database with the encoding UTF8"
    );
}

#[tokio::test]
async fn a_read_only_server_is_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let role = fresh("role");
    let create = format!(
        "CREATE ROLE {role} LOGIN; ALTER ROLE {role} SET default_transaction_read_only = on"
    );
    engine.run(&create).await;
    let url = engine.url(&fresh("starts"));
    let error = fails(&url.replace("//postgres@", &format!("//{role}@"))).await;
    assert!(matches!(error, ConnectError::ReadOnly { .. }), "{error:?}");
}

#[tokio::test]
async fn debug_output_of_a_store_hides_credentials() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine
        .url(&fresh("starts"))
        .replace("//postgres@", "//postgres:s3cret@");
    let store = open(&url).await;
    let shown = format!("{store:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
}
