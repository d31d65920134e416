//! TLS, with each `sslmode`, and passwords bound to it.

use pintle_postgres::{ConnectError, PostgresStore};
use pintle_store::{Store, StoreLimits};

use crate::support::{Engine, fresh};

/// A role with a password, which TCP needs, and its URL without TLS.
async fn role(engine: &Engine, host: &str) -> String {
    let (role, schema) = (fresh("role"), fresh("tls"));
    engine
        .run(&format!(
            "CREATE ROLE {role} LOGIN SUPERUSER PASSWORD 's3cret'"
        ))
        .await;
    engine.tcp_url(&format!("{role}:s3cret"), host, &schema)
}

async fn connect(url: &str) -> Result<PostgresStore, ConnectError> {
    PostgresStore::connect(url, StoreLimits::default()).await
}

#[tokio::test]
async fn a_verified_connection_binds_the_password_to_it() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = role(engine, "localhost").await;
    let ca = engine.file("ca.pem");
    let url = format!("{url}&sslmode=verify-full&ca={ca}&channel_binding=require");
    let store = connect(&url).await.expect("connects");
    store.time().await.expect("a time");
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = role(engine, "localhost").await;
    for mode in ["verify-full", "verify-ca"] {
        let error = connect(&format!("{url}&sslmode={mode}"))
            .await
            .expect_err("an unknown authority");
        assert!(matches!(error, ConnectError::Tls { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.contains("pass the certificate of its authority in `ca`"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_name_of_the_host_is_verified_only_in_full() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = format!(
        "{}&ca={}",
        role(engine, "127.0.0.1").await,
        engine.file("ca.pem")
    );
    let error = connect(&format!("{url}&sslmode=verify-full"))
        .await
        .expect_err("another name");
    assert!(matches!(error, ConnectError::Tls { .. }), "{error:?}");
    for mode in ["verify-ca", "require"] {
        connect(&format!("{url}&sslmode={mode}"))
            .await
            .expect("connects");
    }
}

#[tokio::test]
async fn require_encrypts_and_accepts_any_certificate() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = role(engine, "127.0.0.1").await;
    let store = connect(&format!("{url}&sslmode=require"))
        .await
        .expect("connects");
    store.time().await.expect("a time");
    let admin = engine.admin().await;
    let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = $1";
    let name = url.split(['/', ':']).nth(3).expect("a user");
    let row = admin.query_one(sql, &[&name]).await.expect("reads");
    assert_eq!(row.get::<_, Option<bool>>(0), Some(true));
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_reported() {
    let url = "postgres://me:s3cret@localhost/state?sslmode=verify-full";
    for (parameters, expected) in [
        ("&ca=/absent/ca.pem", "cannot read ca from /absent/ca.pem: "),
        (
            "&cert=/absent/a.pem&key=/absent/b.pem",
            "cannot read key from /absent/b.pem: ",
        ),
        (
            "&cert=/absent/a.pem",
            "invalid PostgreSQL URL: `cert` and `key` need each other",
        ),
    ] {
        let error = connect(&format!("{url}{parameters}"))
            .await
            .expect_err(parameters);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
