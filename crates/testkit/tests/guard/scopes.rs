//! The scopes of a token.

use pintle_auth::resource::RequireBearerError;
use pintle_testkit::issuer::Issuer;
use serde_json::json;

use crate::guard::ask::{call, initialize, legacy, list, modern};
use crate::guard::site::{METADATA, Site, layer};

// spec: 2025-11-25 AUTH-19, AUTH-67, AUTH-68, AUTH-69, AUTH-70, AUTH-71
// spec: 2026-07-28 N-AUTH-39, N-AUTH-47
// hardening: H-69
#[tokio::test]
async fn a_tool_asks_for_all_scopes_that_it_takes() {
    let site = Site::new().await;
    let token = site.token().scopes("books:read").sign();
    for (tool, scopes) in [("open", "safe"), ("audit", "books:read books:audit")] {
        let came = call(tool).bearer(&token).of(site.address).await;
        assert_eq!(came.status, 403, "{came:?}");
        assert_eq!(came.says("error").as_deref(), Some("insufficient_scope"));
        assert_eq!(came.says("scope").as_deref(), Some(scopes));
        assert_eq!(came.says("resource_metadata").as_deref(), Some(METADATA));
    }
    let resource = modern("resources/read", json!({ "uri": "bank://safe" }));
    assert_eq!(resource.bearer(&token).of(site.address).await.status, 403);
    let more = site.token().scopes("safe books:audit books:read").sign();
    for tool in ["open", "audit"] {
        let came = call(tool).bearer(&more).of(site.address).await;
        assert_eq!(came.status, 200, "{came:?}");
    }
}

// spec: 2025-11-25 AUTH-68
#[tokio::test]
async fn a_tool_is_hidden_from_callers_without_its_scopes() {
    let site = Site::new().await;
    for (scopes, sees) in [("safe", true), ("other", false)] {
        let token = site.token().scopes(scopes).sign();
        let came = list().bearer(&token).of(site.address).await;
        assert_eq!(came.body.contains("\"open\""), sees, "{came:?}");
        assert!(came.body.contains("\"cacheScope\":\"private\""), "{came:?}");
    }
}

// The session stays open, because its next request may have a better token.
#[tokio::test]
async fn a_session_goes_on_with_more_scopes() {
    let site = Site::new().await;
    let token = site.token().sign();
    let opened = initialize().bearer(&token).of(site.address).await;
    let session = opened.header("mcp-session-id").to_owned();
    let open = legacy("tools/call", json!({ "name": "open", "arguments": {} }))
        .with("mcp-session-id", &session);
    let came = open.clone().bearer(&token).of(site.address).await;
    assert_eq!(
        (came.status, came.says("scope").as_deref()),
        (403, Some("safe"))
    );
    let better = site.token().scopes("safe").sign();
    let came = open.bearer(&better).of(site.address).await;
    assert_eq!(came.status, 200, "{came:?}");
}

// spec: 2026-07-28 N-AUTH-42
// hardening: H-69
#[tokio::test]
async fn a_scope_that_implies_others_is_enough() {
    let site = Site::requiring(|all| {
        all.implies("admin", ["safe", "books"])
            .implies("books", ["books:read", "books:audit"])
    })
    .await;
    let token = site.token().scopes("admin").sign();
    for tool in ["open", "audit"] {
        let came = call(tool).bearer(&token).of(site.address).await;
        assert_eq!(came.status, 200, "{came:?}");
    }
}

// spec: 2025-11-25 AUTH-18, AUTH-22, SEC-34 (server challenges)
// spec: 2026-07-28 N-AUTH-36, N-SEC-09 (minimal and precise)
#[tokio::test]
async fn the_challenge_names_the_scopes_that_every_request_needs() {
    let site = Site::requiring(|all| all.require("mcp")).await;
    let nobody = call("whoami").of(site.address).await;
    assert_eq!(
        (nobody.status, nobody.says("scope").as_deref()),
        (401, Some("mcp"))
    );
    assert_eq!(nobody.says("error"), None);
    let little = site.token().scopes("safe").sign();
    let came = call("whoami").bearer(&little).of(site.address).await;
    assert_eq!(
        (came.status, came.says("scope").as_deref()),
        (403, Some("mcp"))
    );
    let enough = site.token().scopes("mcp").sign();
    let came = call("open").bearer(&enough).of(site.address).await;
    assert_eq!(
        (came.status, came.says("scope").as_deref()),
        (403, Some("mcp safe"))
    );
}

// spec: 2026-07-28 N-AUTH-49
#[test]
fn whether_clients_may_refresh_is_not_the_servers_to_ask() {
    let issuer = Issuer::new("https://issuer.test");
    let build = |require: &str, supports: &str| {
        pintle_auth::resource::RequireBearer::jwks(issuer.url(), issuer.clone())
            .audience("https://api.test/mcp")
            .require(require)
            .supports([supports])
            .build()
            .map(drop)
    };
    assert_eq!(build("mcp", "safe"), Ok(()));
    for (require, supports) in [
        ("offline_access", "a"),
        ("a", "offline_access"),
        ("a b", "a"),
    ] {
        assert!(matches!(
            build(require, supports),
            Err(RequireBearerError::Scope(_))
        ));
    }
}

#[test]
fn settings_that_cannot_be_meant_are_found_at_the_start() {
    let issuer = Issuer::new("https://issuer.test");
    let start = |name: &str| pintle_auth::resource::RequireBearer::jwks(name, issuer.clone());
    let here = "https://api.test/mcp";
    assert!(start("https://issuer.test").audience(here).build().is_ok());
    let bad = [
        start("https://issuer.test"),
        start("http://issuer.test").audience(here),
        start("issuer.test").audience(here),
        start("https://issuer.test?x").audience(here),
        start("https://issuer.test").audience("http://api.test/mcp"),
        start("https://issuer.test").audience("api.test"),
        start("https://issuer.test")
            .audience(here)
            .endpoint("http://keys.test"),
        start("https://issuer.test").audience(here).algorithms([]),
    ];
    for requirements in bad {
        let shown = format!("{requirements:?}");
        assert!(requirements.build().is_err(), "{shown}");
    }
    let layer = layer(&issuer, |all| all);
    assert_eq!((layer.host(), layer.metadata_url()), ("api.test", METADATA));
}
