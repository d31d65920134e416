//! Requests that are not those of the page.

use pintle_web::{OneTarget, Web, WebError, WebOptions};
use serde_json::json;

use crate::browser::{Browser, showcase};

/// Returns the status of a request of the API with other headers.
async fn status(change: impl FnOnce(&Browser, &mut Vec<(&'static str, String)>)) -> u16 {
    let browser = Browser::showcase(WebOptions::default()).await;
    let mut headers = browser.headers();
    change(&browser, &mut headers);
    let response = browser.send("POST", "/api/state", &headers, "{}").await;
    assert!(response.body.contains("\"error\"") || response.status == 200);
    response.status
}

fn set(headers: &mut Vec<(&'static str, String)>, name: &'static str, value: &str) {
    headers.retain(|(other, _)| *other != name);
    headers.push((name, value.to_owned()));
}

#[tokio::test]
async fn a_request_of_the_page_is_answered() {
    assert_eq!(status(|_, _| {}).await, 200);
    let by_name = status(|browser, headers| {
        let name = format!("localhost:{}", browser.address.port());
        set(headers, "Host", &name);
        set(headers, "Origin", &format!("http://{name}"));
    });
    assert_eq!(by_name.await, 200);
}

#[tokio::test]
async fn a_request_without_the_token_is_rejected() {
    let missing = status(|_, headers| headers.retain(|(name, _)| *name != "Pintle-Token"));
    assert_eq!(missing.await, 401);
    let wrong = "0".repeat(64);
    assert_eq!(
        status(|_, headers| set(headers, "Pintle-Token", &wrong)).await,
        401
    );
    assert_eq!(
        status(|_, headers| set(headers, "Pintle-Token", "")).await,
        401
    );
    let twice = status(|browser, headers| headers.push(("Pintle-Token", browser.token.clone())));
    assert_eq!(twice.await, 401);
}

#[tokio::test]
async fn a_request_of_another_origin_is_rejected() {
    let missing = status(|_, headers| headers.retain(|(name, _)| *name != "Origin"));
    assert_eq!(missing.await, 403);
    for other in [
        "null",
        "https://evil.example",
        "http://127.0.0.1",
        "http://localhost:1",
    ] {
        assert_eq!(
            status(|_, headers| set(headers, "Origin", other)).await,
            403,
            "{other}"
        );
    }
    let secure = status(|browser, headers| {
        set(headers, "Origin", &format!("https://{}", browser.address));
    });
    assert_eq!(secure.await, 403);
}

#[tokio::test]
async fn a_request_to_another_host_is_rejected() {
    for other in ["evil.example", "127.0.0.1", "localhost", ""] {
        assert_eq!(
            status(|_, headers| set(headers, "Host", other)).await,
            403,
            "{other}"
        );
    }
    let rebound = status(|browser, headers| {
        let host = format!("evil.example:{}", browser.address.port());
        set(headers, "Host", &host);
        set(headers, "Origin", &format!("http://{host}"));
    });
    assert_eq!(rebound.await, 403);
}

#[tokio::test]
async fn a_form_of_a_website_is_rejected() {
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        status(|_, headers| set(headers, "Content-Type", form)).await,
        415
    );
    assert_eq!(
        status(|_, headers| set(headers, "Content-Type", "text/plain")).await,
        415
    );
}

#[tokio::test]
async fn each_response_has_the_policy_of_the_page() {
    let browser = Browser::showcase(WebOptions::default()).await;
    let host = [("Host", browser.address.to_string())];
    for path in [
        "/",
        "/page.css",
        "/js/main.js",
        "/icon.svg",
        "/none",
        "/api/state",
    ] {
        let head = browser.send("GET", path, &host, "").await.head;
        let policy = head
            .lines()
            .find_map(|line| line.strip_prefix("content-security-policy: "));
        let policy = policy.unwrap_or_else(|| panic!("{path}: {head}"));
        let directives: Vec<_> = policy.split("; ").collect();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(directives.contains(&directive), "{path}: no {directive}");
        }
        for header in [
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(header), "{path}: no {header}");
        }
    }
}

#[tokio::test]
async fn the_files_of_the_page_need_no_token() {
    let browser = Browser::showcase(WebOptions::default()).await;
    let host = [("Host", browser.address.to_string())];
    let page = browser.send("GET", "/", &host, "").await;
    assert_eq!(page.status, 200);
    assert!(
        page.head.contains("content-type: text/html"),
        "{}",
        page.head
    );
    assert!(!page.body.contains(&browser.token));
    assert_eq!(browser.send("POST", "/", &host, "").await.status, 405);
    assert_eq!(
        browser.send("GET", "/api/state", &host, "").await.status,
        405
    );
    assert_eq!(
        browser
            .send("GET", "/../Cargo.toml", &host, "")
            .await
            .status,
        404
    );
    let elsewhere = [("Host", "evil.example".to_owned())];
    assert_eq!(browser.send("GET", "/", &elsewhere, "").await.status, 403);
}

#[tokio::test]
async fn an_address_that_others_reach_is_refused() {
    let page = Web::bind(
        ([0, 0, 0, 0], 0).into(),
        showcase().await,
        WebOptions::default(),
    );
    assert!(matches!(page.await, Err(WebError::Exposed(_))));
}

#[tokio::test]
async fn an_unknown_server_is_an_error() {
    let browser = Browser::showcase(WebOptions::default()).await;
    let answer = browser.post("connect", json!({ "target": "rm -rf" })).await;
    let message = &answer["error"]["messages"][0];
    assert_eq!(message, "there is no server \"rm -rf\"");
}

#[tokio::test]
async fn a_server_that_does_not_start_is_an_error() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("listens");
    let address = closed.local_addr().expect("an address").to_string();
    drop(closed);
    let target = OneTarget::new("gone", pintle_client::Tcp::new(address)).expect("a target");
    let browser = Browser::open(target, WebOptions::default()).await;
    let answer = browser.post("connect", json!({ "target": "gone" })).await;
    let message = &answer["error"]["messages"][0];
    assert_eq!(message, "the server is not reachable", "{answer}");
    let state = browser.post("state", json!({})).await;
    assert!(state["connection"].is_null());
}
