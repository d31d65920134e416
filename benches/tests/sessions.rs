//! What sessions cost and leave behind, in bytes of live heap. That does not depend on the machine,
//! nor on what its allocator keeps for later, so it is asserted.

use std::alloc::System;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use pintle::http::{HttpOptions, HttpService};
use pintle::prelude::*;
use pintle::runtime::IntoService;
use pintle::server::App;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::runtime::Handle;
use tower_service::Service;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SESSIONS: usize = 5_000;
/// Limit of the cost of an idle session, in bytes.
const EACH: isize = 4 * 1024;
/// Limit of the memory that all of them leave behind, in bytes.
const LEFT: isize = 64 * 1024;
/// How often all of them come and go.
const ROUNDS: usize = 10;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"sessions","version":"1.0.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Returns the argument itself.
#[tool(read_only)]
async fn echo(
    /// The returned text.
    text: String,
) -> String {
    text
}

/// A client that calls the HTTP service without a socket.
struct Peer {
    service: HttpService<App>,
}

impl Peer {
    fn new() -> Self {
        let server = Server::new("sessions", "1.0.0").tool::<echo>();
        let mut options = HttpOptions::default();
        options.limits.max_sessions = SESSIONS;
        let app = server.into_service().expect("a good server");
        Self {
            service: HttpService::new(app, options),
        }
    }

    /// Sends a request, reads its answer to the end, and gives the head of it.
    async fn send(
        &mut self,
        method: Method,
        session: Option<&str>,
        body: &'static str,
    ) -> HeaderMap {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "127.0.0.1:8000")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(id) = session {
            request = request
                .header("mcp-session-id", id)
                .header("mcp-protocol-version", "2025-11-25");
        }
        let request = request.body(Full::new(Bytes::from_static(body.as_bytes())));
        let answer = self.service.call(request.expect("a request")).await;
        let (head, body) = answer.expect("never fails").into_parts();
        assert!(head.status.is_success(), "{}", head.status);
        body.collect().await.expect("never fails");
        head.headers
    }
}

/// Heap in use that was not in use when the region began.
fn live(region: &Region<'_, System>) -> isize {
    let change = region.change();
    let taken = isize::try_from(change.bytes_allocated).expect("a size of this world");
    let freed = isize::try_from(change.bytes_deallocated).expect("a size of this world");
    taken - freed
}

// hardening: H-198
#[test]
fn sessions_that_come_and_go_leave_neither_memory_nor_tasks() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(come_and_go());
}

async fn come_and_go() {
    let mut peer = Peer::new();
    let mut ids = Vec::with_capacity(SESSIONS);
    // The first session pays for what a server makes once.
    ids.push(open(&mut peer).await);
    close_all(&mut peer, &mut ids).await;
    let region = Region::new(ALLOCATOR);
    for round in 1..=ROUNDS {
        for _ in 0..SESSIONS {
            ids.push(open(&mut peer).await);
        }
        let each = live(&region) / SESSIONS as isize;
        assert!(each <= EACH, "{each} bytes each in round {round}");
        close_all(&mut peer, &mut ids).await;
        let left = live(&region);
        assert!(left <= LEFT, "{left} bytes left after round {round}");
    }
    // The task that maintains sessions ends with the last of them.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let tasks = Handle::current().metrics().num_alive_tasks();
    assert_eq!(tasks, 0, "tasks are left");
}

/// Opens a session and confirms it; gives its id.
async fn open(peer: &mut Peer) -> String {
    let opened = peer.send(Method::POST, None, INITIALIZE).await;
    let id = opened["mcp-session-id"].to_str();
    let id = id.expect("an id of visible characters").to_owned();
    peer.send(Method::POST, Some(&id), INITIALIZED).await;
    id
}

async fn close_all(peer: &mut Peer, ids: &mut Vec<String>) {
    for id in ids.drain(..) {
        peer.send(Method::DELETE, Some(&id), "").await;
    }
}
