//! TLS between store and server.

use pintle_redis::{ConnectError, RedisStore};
use pintle_store::{Prefix, Store, StoreLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Engine, fresh, key};

async fn refused(url: &str) -> ConnectError {
    let store = RedisStore::connect(url, StoreLimits::default()).await;
    store.expect_err("an error of TLS")
}

#[tokio::test]
async fn a_certificate_of_the_named_authority_is_accepted() {
    let Some(engine) = Engine::start_tls() else {
        return;
    };
    let url = engine.tls_url("localhost", &fresh("tls"));
    let url = format!("{url}&ca={}", engine.file("ca.pem"));
    let store = RedisStore::connect(&url, StoreLimits::default()).await;
    let store = store.expect("connects");
    store.time().await.expect("a time");
    // Messages have a connection of their own, with the same authority.
    let prefix = Prefix::from(key("a"));
    store.changed(&prefix).await.expect("watches");
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let Some(engine) = Engine::start_tls() else {
        return;
    };
    let error = refused(&engine.tls_url("localhost", &fresh("tls"))).await;
    assert!(matches!(error, ConnectError::Tls { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("pass the certificate of its authority in `ca`"),
        "{text}"
    );
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let Some(engine) = Engine::start_tls() else {
        return;
    };
    let url = engine.tls_url("127.0.0.1", &fresh("tls"));
    let error = refused(&format!("{url}&ca={}", engine.file("ca.pem"))).await;
    assert!(matches!(error, ConnectError::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_without_tls_is_named_in_an_error_of_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accepts");
        stream
            .write_all(b"-ERR unknown command\r\n")
            .await
            .expect("writes");
        // The client ends the connection.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    });
    let error = refused(&format!("rediss://me:s3cret@{address}")).await;
    assert!(matches!(error, ConnectError::Tls { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
    server.abort();
}

#[tokio::test]
async fn a_file_that_does_not_exist_is_named() {
    let error = refused("rediss://localhost?ca=/absent/ca.pem").await;
    let text = error.to_string();
    assert!(
        text.starts_with("cannot read ca from /absent/ca.pem: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_certificate_needs_its_key() {
    let own = std::env::current_exe().expect("a path");
    let url = format!("rediss://localhost?cert={}", own.display());
    let error = refused(&url).await;
    assert!(matches!(error, ConnectError::Url { .. }), "{error:?}");
}
