//! The keys of the issuer: rotated, withdrawn, and unreachable.

use std::time::Duration;

use pintle_auth::resource::{RequireBearerBuilder, ResourceLimits};
use pintle_testkit::issuer::{Issuer, IssuerBehavior};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::guard::ask::call;
use crate::guard::site::{HERE, Site, in_memory};

const NAME: &str = "https://issuer.test";

fn plain(requirements: RequireBearerBuilder) -> RequireBearerBuilder {
    requirements
}

/// The status for a valid token that is signed now.
macro_rules! status {
    ($issuer:expr, $service:expr) => {
        call("whoami")
            .bearer(&$issuer.token(HERE).sign())
            .through(&$service)
            .await
            .status
    };
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_fetched_when_a_token_names_it() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    let old = issuer.token(HERE).sign();
    assert_eq!(status!(issuer, service), 200);
    advance(Duration::from_secs(11)).await;
    issuer.rotate();
    assert_eq!(status!(issuer, service), 200);
    assert_eq!(
        call("whoami").bearer(&old).through(&service).await.status,
        200
    );
    assert_eq!(issuer.count("/jwks"), 2);
}

// Tokens with invented key ids must not cause requests to the issuer.
//
// hardening: H-68
#[tokio::test(start_paused = true)]
async fn unknown_keys_are_looked_for_once_in_a_while() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    for number in 0..20 {
        let token = issuer
            .token(HERE)
            .header("kid", json!(format!("made up {number}")));
        let came = call("whoami").bearer(&token.sign()).through(&service).await;
        assert_eq!(came.status, 401);
    }
    assert_eq!(issuer.count("/jwks"), 1);
    assert_eq!(status!(issuer, service), 200);
    let made_up = issuer.token(HERE).header("kid", json!("made up")).sign();
    for (after, fetches) in [(9, 1), (1, 2), (9, 2), (1, 3)] {
        advance(Duration::from_secs(after)).await;
        let came = call("whoami").bearer(&made_up).through(&service).await;
        assert_eq!(
            (came.status, issuer.count("/jwks")),
            (401, fetches),
            "{after}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_withdrawn_is_trusted_for_fifteen_minutes_at_most() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    let old = issuer.token(HERE).expires(3_600).sign();
    let status = async || call("whoami").bearer(&old).through(&service).await.status;
    assert_eq!(status().await, 200);
    issuer.rotate();
    issuer.retire();
    advance(Duration::from_secs(899)).await;
    assert_eq!(status().await, 200);
    advance(Duration::from_secs(1)).await;
    assert_eq!(status().await, 401);
}

// hardening: H-72
#[tokio::test]
async fn requests_are_rejected_while_the_issuer_is_down() {
    let site = Site::new().await;
    let ask = call("whoami").bearer(&site.token().sign());
    for behavior in [
        IssuerBehavior::Down,
        IssuerBehavior::Broken(500),
        IssuerBehavior::Broken(404),
    ] {
        site.issuer.set_behavior(behavior);
        let came = ask.of(site.address).await;
        let text = "the token cannot be verified at the moment";
        assert_eq!(
            (came.status, came.body.as_str()),
            (503, text),
            "{behavior:?}"
        );
        assert_eq!(came.header("retry-after"), "10");
        assert_eq!(came.header("www-authenticate"), "");
    }
    assert_eq!(site.runs(), 0);
    let other = site
        .issuer
        .token("https://other.test")
        .claim("iss", json!("https://x.test"));
    let came = call("whoami").bearer(&other.sign()).of(site.address).await;
    assert_eq!(came.status, 401, "this one is no matter of the issuer");
}

// hardening: H-72
#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_slow_is_waited_for_ten_seconds_and_then_left_alone() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    issuer.set_behavior(IssuerBehavior::Silent);
    let began = Instant::now();
    assert_eq!(status!(issuer, service), 503);
    assert_eq!(began.elapsed().as_secs(), 10);
    let asked = issuer.seen().len();
    issuer.set_behavior(IssuerBehavior::Well);
    assert_eq!(status!(issuer, service), 503, "it was asked a moment ago");
    assert_eq!(issuer.seen().len(), asked);
    advance(Duration::from_secs(10)).await;
    assert_eq!(status!(issuer, service), 200);
}

// Known keys stay valid while the issuer is down, for their time.
#[tokio::test(start_paused = true)]
async fn keys_outlive_an_outage_for_their_time() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    assert_eq!(status!(issuer, service), 200);
    issuer.set_behavior(IssuerBehavior::Down);
    advance(Duration::from_secs(899)).await;
    assert_eq!(status!(issuer, service), 200);
    advance(Duration::from_secs(1)).await;
    assert_eq!(status!(issuer, service), 503);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_does_not_block_the_fetch_of_the_keys() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    issuer.set_behavior(IssuerBehavior::Silent);
    let ask = call("whoami").bearer(&issuer.token(HERE).sign());
    let gone = tokio::time::timeout(Duration::from_secs(1), ask.through(&service)).await;
    assert!(gone.is_err(), "nothing came in a second");
    issuer.set_behavior(IssuerBehavior::Well);
    // The pending fetch fails nine seconds later, and the next request begins a new one at once.
    assert_eq!(ask.through(&service).await.status, 503);
    advance(Duration::from_secs(10)).await;
    assert_eq!(ask.through(&service).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn many_waiting_requests_share_one_fetch() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, plain);
    let ask = call("whoami").bearer(&issuer.token(HERE).sign());
    let all: Vec<_> = (0..20).map(|_| ask.through(&service)).collect();
    for came in futures_util::future::join_all(all).await {
        assert_eq!(came.status, 200);
    }
    assert_eq!(issuer.count("/jwks"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_document_of_another_issuer_or_without_keys_is_rejected() {
    let edits: [fn(&mut serde_json::Map<String, serde_json::Value>); 5] = [
        |document| drop(document.insert("issuer".into(), json!("https://issuer.test/"))),
        |document| drop(document.remove("issuer")),
        |document| drop(document.remove("jwks_uri")),
        |document| drop(document.insert("jwks_uri".into(), json!("http://issuer.test/jwks"))),
        |document| drop(document.insert("jwks_uri".into(), json!("https://issuer.test/token"))),
    ];
    for edit in edits {
        let issuer = Issuer::new(NAME);
        issuer.edit(edit);
        let service = in_memory(&issuer, plain);
        assert_eq!(status!(issuer, service), 503);
        assert_eq!(issuer.count("/jwks"), 0);
    }
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, |all| all.endpoint("https://issuer.test/jwks"));
    assert_eq!(status!(issuer, service), 200);
    assert_eq!(issuer.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_document_that_is_too_large_is_not_read() {
    let issuer = Issuer::new(NAME);
    let token = issuer.token(HERE).sign();
    let size = |document: &pintle_testkit::issuer::Issuer| {
        let mut size = 0;
        document.edit(|members| size = serde_json::json!(members).to_string().len());
        size
    };
    let most = size(&issuer);
    for (most, status) in [(most, 200), (most - 1, 503)] {
        let mut limits = ResourceLimits::default();
        limits.max_document_bytes = most;
        let service = in_memory(&issuer, |all| all.limits(limits));
        let came = call("whoami").bearer(&token).through(&service).await;
        assert_eq!(came.status, status, "{most}");
    }
}

// The same over sockets on both sides.
#[tokio::test]
async fn an_issuer_on_a_port_is_asked_there() {
    let issuer = Issuer::listen().await.expect("a port");
    assert!(issuer.url().starts_with("http://127.0.0.1:"));
    let address = issuer
        .url()
        .trim_start_matches("http://")
        .parse()
        .expect("an address");
    let came = crate::guard::ask::verb("GET", "/jwks").of(address).await;
    assert_eq!(came.status, 200);
    assert_eq!(came.json()["keys"].as_array().map(Vec::len), Some(3));
    let missing = crate::guard::ask::verb("GET", "/nowhere").of(address).await;
    assert_eq!(missing.status, 404);
}
