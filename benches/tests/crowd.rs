//! Ten thousand sessions, a thousand of them with an open stream: their cost in bytes of live heap.
//! All of them still exist after ten minutes. Heap and a paused clock do not depend on the machine,
//! so both are asserted.

use std::alloc::System;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use pintle::http::{HttpOptions, HttpService, ResponseBody};
use pintle::prelude::*;
use pintle::runtime::IntoService;
use pintle::server::App;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::time::{Instant, sleep};
use tower_service::Service;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SESSIONS: usize = 10_000;
const STREAMS: usize = 1_000;
/// Limit of the cost of a session, and of a stream, in bytes.
const EACH: usize = 32 << 10;
/// How long all sessions are idle.
const LONG: Duration = Duration::from_secs(10 * 60);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"crowd","version":"1.0.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn send(
    service: &HttpService<App>,
    method: Method,
    session: Option<&str>,
    body: &'static str,
) -> Response<ResponseBody> {
    let accept = match method {
        Method::GET => "text/event-stream",
        _ => "application/json, text/event-stream",
    };
    let mut request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("host", "127.0.0.1:8000")
        .header("content-type", "application/json")
        .header("accept", accept);
    if let Some(id) = session {
        request = request
            .header("mcp-session-id", id)
            .header("mcp-protocol-version", "2025-11-25");
    }
    let request = request.body(Full::new(Bytes::from_static(body.as_bytes())));
    let answer = service.clone().call(request.expect("a request")).await;
    let answer = answer.expect("never fails");
    assert!(answer.status().is_success(), "{}", answer.status());
    answer
}

/// Opens a session and confirms it; gives its id.
async fn open(service: &HttpService<App>) -> String {
    let (head, body) = send(service, Method::POST, None, INITIALIZE)
        .await
        .into_parts();
    body.collect().await.expect("never fails");
    let id = head.headers["mcp-session-id"].to_str();
    let id = id.expect("an id of visible characters").to_owned();
    send(service, Method::POST, Some(&id), INITIALIZED).await;
    id
}

/// Heap in use that was not in use when the region began, in bytes.
fn live(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.bytes_allocated - change.bytes_deallocated
}

/// Everything that comes on a stream in ten minutes; it must not end.
async fn signs_of_life(mut stream: ResponseBody) -> usize {
    let end = Instant::now() + LONG;
    let mut signs = 0;
    while let Ok(frame) = tokio::time::timeout_at(end, stream.frame()).await {
        let frame = frame.expect("it goes on").expect("never fails");
        signs += frame.into_data().expect("data").len() / ":\n\n".len();
    }
    signs
}

// hardening: H-196
#[tokio::test(start_paused = true)]
async fn a_crowd_costs_little_and_loses_no_session() {
    let server = Server::new("crowd", "1.0.0");
    let app = server.into_service().expect("a good server");
    let service = HttpService::new(app, HttpOptions::default());
    // The first pays for what a server makes once.
    let first = open(&service).await;
    send(&service, Method::DELETE, Some(&first), "").await;
    let region = Region::new(ALLOCATOR);
    let mut ids = Vec::with_capacity(SESSIONS);
    for _ in 0..SESSIONS {
        ids.push(open(&service).await);
    }
    let each = live(&region) / SESSIONS;
    assert!(each <= EACH, "{each} bytes each session");

    let region = Region::new(ALLOCATOR);
    let mut streams = Vec::with_capacity(STREAMS);
    for id in &ids[..STREAMS] {
        streams.push(send(&service, Method::GET, Some(id), "").await.into_body());
    }
    let each = live(&region) / STREAMS;
    assert!(each <= EACH, "{each} bytes each stream");

    let idling = streams.into_iter().map(signs_of_life).map(tokio::spawn);
    let idling: Vec<_> = idling.collect();
    sleep(LONG / 2).await;
    for id in &ids {
        let answer = send(&service, Method::POST, Some(id), PING).await;
        answer.into_body().collect().await.expect("never fails");
    }
    for stream in idling {
        let signs = stream.await.expect("no stream is lost");
        assert!(signs >= 39, "{signs} signs of life in ten minutes");
    }
    let one_more = open(&service).await;
    assert_eq!(
        one_more.len(),
        first.len(),
        "whoever is idle for long gives way"
    );
}
