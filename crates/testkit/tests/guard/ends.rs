//! Streams and requests that are open when their token expires.

use std::time::Duration;

use pintle_auth::resource::{RequireBearer, TokenError, TokenVerifier, VerifiedToken};
use pintle_auth::{Scopes, Secret};
use pintle_http::ServeHttp as _;
use pintle_testkit::issuer::Issuer;
use serde_json::json;
use tokio::time::Instant;
use tower_layer::Layer as _;

use crate::guard::ask::{Ask, call, initialize, legacy, modern, post, verb};
use crate::guard::site::{HERE, in_memory, layer, server};

const NAME: &str = "https://issuer.test";

fn listen() -> Ask {
    let filter = json!({ "resourceSubscriptions": ["bank://hours"] });
    modern("subscriptions/listen", json!({ "notifications": filter }))
}

/// Whether the elapsed time is the lifetime of a token of five seconds, plus a minute of clock skew.
/// The wall clock goes on meanwhile.
fn is_its_life(elapsed: Duration) -> bool {
    (Duration::from_secs(60)..=Duration::from_millis(65_001)).contains(&elapsed)
}

// spec: 2025-11-25 AUTH-63, SEC-15
// spec: 2026-07-28 N-AUTH-44, A-27
// hardening: H-66
#[tokio::test(start_paused = true)]
async fn a_listener_receives_the_end_when_its_token_expires() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, |all| all);
    let token = issuer.token(HERE).expires(5).sign();
    let began = Instant::now();
    let came = listen().bearer(&token).through(&service).await;
    assert!(is_its_life(began.elapsed()), "{:?}", began.elapsed());
    assert!(came.body.contains("acknowledged"), "{came:?}");
    let last = came.json();
    assert_eq!((&last["id"], last["result"].is_object()), (&json!(1), true));
}

// spec: 2025-11-25 AUTH-63
// hardening: H-66
#[tokio::test(start_paused = true)]
async fn the_stream_of_a_session_ends_with_its_token_and_the_session_goes_on() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, |all| all);
    let token = |seconds| issuer.token(HERE).expires(seconds).sign();
    let (short, long) = (token(5), token(300));
    let opened = initialize().bearer(&short).through(&service).await;
    let session = opened.header("mcp-session-id").to_owned();
    let ready = post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let ready = ready.with("mcp-session-id", &session).bearer(&short);
    assert_eq!(ready.through(&service).await.status, 202);
    let get = verb("GET", "/mcp").with("accept", "text/event-stream");
    let get = get.with("mcp-session-id", &session);
    let began = Instant::now();
    let received = get.clone().bearer(&short).through(&service).await;
    assert!(is_its_life(began.elapsed()), "{:?}", began.elapsed());
    assert_eq!(received.status, 200);
    let list = legacy("tools/list", json!({})).with("mcp-session-id", &session);
    assert_eq!(list.bearer(&long).through(&service).await.status, 200);
    let began = Instant::now();
    let again = get.bearer(&long).through(&service).await;
    assert_eq!(again.status, 200);
    assert!(began.elapsed() > Duration::from_secs(300));
}

// hardening: H-66
#[tokio::test(start_paused = true)]
async fn the_session_of_2024_ends_with_the_token_of_its_stream() {
    let issuer = Issuer::new(NAME);
    let service = server(&std::sync::Arc::default()).into_http();
    let service = layer(&issuer, |all| all).layer(service.expect("starts").sse("/messages"));
    let token = issuer.token(HERE).expires(5).sign();
    let open = verb("GET", "/sse").with("accept", "text/event-stream");
    let began = Instant::now();
    let received = open.bearer(&token).through(&service).await;
    assert!(is_its_life(began.elapsed()), "{:?}", began.elapsed());
    let place = received
        .body
        .lines()
        .find_map(|line| line.strip_prefix("data: "));
    let place = place.expect("where to post");
    let notice = post(&json!({ "jsonrpc": "2.0", "method": "notifications/x" })).at(place);
    let renewed = issuer.token(HERE).sign();
    assert_eq!(notice.bearer(&renewed).through(&service).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_has_begun_is_answered_after_the_end() {
    let issuer = Issuer::new(NAME);
    let service = in_memory(&issuer, |all| all);
    let token = issuer.token(HERE).expires(5).sign();
    let began = Instant::now();
    let came = call("slow").bearer(&token).through(&service).await;
    assert_eq!(came.text(), "at last");
    assert!(began.elapsed() >= Duration::from_secs(200));
}

/// Accepts every token, without an expiry.
struct Endless;

impl TokenVerifier for Endless {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        let mut grant = VerifiedToken::new(NAME, token.reveal());
        grant.audiences.push(HERE.into());
        grant.scopes = Scopes::none();
        Ok(grant)
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_without_an_end_is_shown_again_after_an_hour() {
    let layer = RequireBearer::verifier(NAME, Endless).audience(HERE);
    let layer = layer.build().expect("good settings");
    let service = server(&std::sync::Arc::default()).into_http();
    let service = layer.layer(service.expect("starts"));
    let began = Instant::now();
    let came = listen().bearer("ada").through(&service).await;
    assert_eq!(began.elapsed().as_secs(), 3_600);
    assert!(came.json()["result"].is_object(), "{came:?}");
}
