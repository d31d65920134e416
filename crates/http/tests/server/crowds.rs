//! Limits for each peer: one peer does not shut out others.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use pintle_http::{ClientAddress, HttpOptions, ResponseBody, TrustedProxies};
use pintle_runtime::Principal;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::common::{
    Ask, Endpoint, body_json, endpoint, endpoint_with, get, initialize, legacy, list, modern,
    modern_tool, notice,
};

/// A body in pieces, which may stop before its end.
struct Pieces {
    left: Vec<Bytes>,
    stalls: bool,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.left.pop() {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None if self.stalls => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

/// Returns the request with its body in two pieces.
fn halves(ask: Ask, stalls: bool) -> Request<Pieces> {
    let body = Bytes::from(ask.body.clone());
    let middle = body.len() / 2;
    let left = vec![body.slice(middle..), body.slice(..middle)];
    ask.request().map(|_| Pieces { left, stalls })
}

/// A call of a tool with 10,000 bytes of arguments.
fn large(tool: &str) -> Ask {
    modern_tool(1, tool, json!({ "text": "x".repeat(10_000) }))
}

fn address(text: &str) -> ClientAddress {
    let address: IpAddr = text.parse().expect("an address");
    ClientAddress(address)
}

async fn answer<B>(
    endpoint: &Endpoint,
    mut request: Request<B>,
    from: &str,
) -> Response<ResponseBody>
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    request.extensions_mut().insert(address(from));
    endpoint.call(request).await
}

fn begin(endpoint: &Endpoint, request: Request<Pieces>, from: &'static str) -> JoinHandle<()> {
    let endpoint = endpoint.clone();
    tokio::spawn(async move {
        answer(&endpoint, request, from).await;
    })
}

fn assert_refused(answer: &Response<ResponseBody>, status: u16) {
    assert_eq!(answer.status(), status);
    assert_eq!(answer.headers()["retry-after"], "10");
}

/// Room for three bodies, and for two of one peer.
fn options() -> HttpOptions {
    let mut options = HttpOptions::default();
    options.limits.max_pending_body_bytes = 35_000;
    options.limits.max_pending_body_bytes_per_peer = 25_000;
    options
}

#[tokio::test(start_paused = true)]
async fn bodies_beyond_the_limit_in_total_are_refused_and_small_ones_are_not() {
    let (endpoint, _) = endpoint_with(options());
    let slow = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|from| {
        let endpoint = &endpoint;
        begin(endpoint, halves(large("echo"), true), from)
    });
    tokio::task::yield_now().await;
    let refused = answer(&endpoint, halves(large("echo"), false), "192.0.2.4").await;
    assert_refused(&refused, 503);
    let small = answer(&endpoint, list().request(), "192.0.2.4").await;
    assert_eq!(small.status(), 200);
    slow.iter().for_each(JoinHandle::abort);
    for slow in slow {
        drop(slow.await);
    }
    let served = answer(&endpoint, halves(large("echo"), false), "192.0.2.4").await;
    assert_eq!(served.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn the_bodies_of_one_peer_leave_room_for_others() {
    let (endpoint, calls) = endpoint_with(options());
    let slow = begin(&endpoint, halves(large("echo"), true), "2001:db8::1");
    // The handler has a copy of the parameters, so they are counted until it ends.
    let running = begin(&endpoint, halves(large("gated"), false), "2001:db8::2");
    calls.until(|calls| calls.started() == 1).await;
    let refused = answer(&endpoint, halves(large("echo"), false), "2001:db8::3").await;
    assert_refused(&refused, 429);
    let other = answer(&endpoint, halves(large("echo"), false), "2001:db8:0:1::1").await;
    assert_eq!(other.status(), 200);
    calls.open_gate();
    running.await.expect("no panic");
    let served = answer(&endpoint, halves(large("echo"), false), "2001:db8::3").await;
    assert_eq!(served.status(), 200);
    slow.abort();
}

#[tokio::test(start_paused = true)]
async fn a_principal_is_a_peer_at_every_address() {
    let (endpoint, _) = endpoint_with(options());
    let of = |name: &str, stalls| {
        let mut request = halves(large("echo"), stalls);
        let principal = Principal::new(name, ["read"]);
        request.extensions_mut().insert(principal);
        request
    };
    let _first = begin(&endpoint, of("alice", true), "192.0.2.1");
    let _second = begin(&endpoint, of("alice", true), "192.0.2.2");
    tokio::task::yield_now().await;
    let refused = answer(&endpoint, of("alice", false), "192.0.2.3").await;
    assert_refused(&refused, 429);
    let bob = answer(&endpoint, of("bob", false), "192.0.2.1").await;
    assert_eq!(bob.status(), 200);
}

async fn open(endpoint: &Endpoint, from: &str) -> Response<ResponseBody> {
    answer(endpoint, initialize("2025-11-25").request(), from).await
}

fn id_of(opened: &Response<ResponseBody>) -> String {
    assert_eq!(opened.status(), 200);
    let id = opened.headers()["mcp-session-id"].to_str();
    id.expect("text").to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_sessions_from_one_address_leaves_those_of_others() {
    let endpoint = endpoint();
    let other = id_of(&open(&endpoint, "192.0.2.2").await);
    let confirmed = notice("notifications/initialized").in_session(&other);
    let confirmed = answer(&endpoint, confirmed.request(), "192.0.2.2").await;
    assert_eq!(confirmed.status(), 202);
    // Idle for long enough to be evicted.
    tokio::time::advance(Duration::from_secs(120)).await;
    let mut refused = 0;
    for _ in 0..10_000 {
        let opened = open(&endpoint, "192.0.2.1").await;
        if opened.status() != 200 {
            assert_refused(&opened, 429);
            refused += 1;
        }
    }
    assert_eq!(refused, 9_000);
    let used = legacy(1, "tools/list", json!({})).in_session(&other);
    let used = answer(&endpoint, used.request(), "192.0.2.2").await;
    assert_eq!(used.status(), 200);
    id_of(&open(&endpoint, "192.0.2.3").await);
}

#[tokio::test(start_paused = true)]
async fn the_requests_of_one_peer_leave_room_for_others() {
    let mut options = HttpOptions::default();
    options.limits.max_calls_per_peer = 2;
    let (endpoint, calls) = endpoint_with(options);
    let hang = |from: &'static str| {
        let endpoint = endpoint.clone();
        let call = modern_tool(1, "hang", json!({})).request();
        tokio::spawn(async move { answer(&endpoint, call, from).await })
    };
    let (first, _second) = (hang("192.0.2.1"), hang("192.0.2.1"));
    calls.until(|calls| calls.started() == 2).await;
    let refused = answer(&endpoint, list().request(), "192.0.2.1").await;
    assert_refused(&refused, 429);
    let refused = body_json(refused).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(7), &json!(-32603))
    );
    let other = answer(&endpoint, list().request(), "192.0.2.2").await;
    assert_eq!(other.status(), 200);
    first.abort();
    calls.until(|calls| calls.dropped() == 1).await;
    let served = answer(&endpoint, list().request(), "192.0.2.1").await;
    assert_eq!(served.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn the_streams_of_one_address_leave_room_for_others() {
    let mut options = HttpOptions::default();
    options.limits.max_streams_per_address = 2;
    let (endpoint, _) = endpoint_with(options);
    let listen = || modern(1, "subscriptions/listen", json!({ "notifications": {} })).request();
    let id = id_of(&open(&endpoint, "192.0.2.1").await);
    let stream = || get().in_session(&id).request();
    let first = answer(&endpoint, stream(), "192.0.2.1").await;
    let second = answer(&endpoint, listen(), "192.0.2.1").await;
    assert_eq!(
        (first.status().as_u16(), second.status().as_u16()),
        (200, 200)
    );
    assert_refused(&answer(&endpoint, stream(), "192.0.2.1").await, 429);
    assert_refused(&answer(&endpoint, listen(), "192.0.2.1").await, 429);
    assert_eq!(answer(&endpoint, listen(), "192.0.2.2").await.status(), 200);
    drop(second);
    assert_eq!(answer(&endpoint, stream(), "192.0.2.1").await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn clients_behind_a_trusted_proxy_are_counted_one_by_one() {
    let mut options = HttpOptions::default();
    options.limits.max_sessions_per_peer = 1;
    let proxies = TrustedProxies::x_forwarded_for(["10.0.0.0/8"]);
    options.trusted_proxies = proxies.expect("valid");
    let (endpoint, _) = endpoint_with(options);
    for (from, client, status) in [
        ("10.0.0.1", "192.0.2.1", 200),
        ("10.0.0.2", "192.0.2.1", 429),
        ("10.0.0.1", "192.0.2.2", 200),
        ("10.0.0.1", "192.0.2.3, 192.0.2.2", 429),
        // Not a proxy, so its header is a claim.
        ("192.0.2.1", "192.0.2.4", 429),
    ] {
        let opened = initialize("2025-11-25").with("x-forwarded-for", client);
        let opened = answer(&endpoint, opened.request(), from).await;
        assert_eq!(opened.status(), status, "{from} {client}");
    }
}
