//! Known defects of other servers, over real connections.

use std::time::Duration;

use pintle_http::{HttpOptions, LegacyMode};
use pintle_proto::frame::sse::Decoder;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::port::Port;
use crate::common::{
    Ask, ask, endpoint, endpoint_with, get, initialize, legacy, list, listen, modern, modern_tool,
    open, piece,
};

const PATIENCE: Duration = Duration::from_secs(10);

fn tool(id: i64, name: &str, arguments: Value) -> Ask {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "t" } });
    legacy(id, "tools/call", params)
}

/// The messages of a stream of events that came in one answer.
fn events(body: &str) -> Vec<Value> {
    let mut decoder = Decoder::default();
    let mut rest = body.as_bytes();
    let mut messages = Vec::new();
    while let Some(event) = decoder.decode(&mut rest).expect("short events") {
        messages.push(serde_json::from_slice(&event.data).expect("JSON"));
    }
    messages
}

// One task for each notice, elsewhere: 85 of 2,000 came out of order, and 33 after the answer.
#[tokio::test]
async fn two_thousand_notices_come_in_order_and_before_the_answer() {
    let port = Port::open().await;
    let session = port.session().await;
    let call = tool(1, "progress", json!({ "steps": 2_000 })).in_session(&session);
    let said = events(&port.ask(call).await.body);
    let (answer, notices) = said.split_last().expect("messages");
    assert_eq!(answer["id"], 1);
    let steps: Vec<f64> = notices
        .iter()
        .filter_map(|notice| notice["params"]["progress"].as_f64())
        .collect();
    assert_eq!(steps.len(), notices.len());
    assert!(steps.is_sorted_by(|one, next| one < next));
    assert_eq!(steps.last(), Some(&2_000.0));
}

// In other servers, the worker of a session waits for one reader and blocks all other streams.
#[tokio::test]
async fn an_unread_stream_does_not_block_other_calls_of_its_session() {
    let port = Port::open().await;
    let session = port.session().await;
    let mut unread: Vec<TcpStream> = Vec::new();
    let progress = tool(1, "progress", json!({ "steps": 5_000 })).in_session(&session);
    for ask in [get().in_session(&session), progress] {
        let mut socket = port.connect().await;
        socket
            .write_all(&ask.bytes(port.address))
            .await
            .expect("sent");
        unread.push(socket);
    }
    for id in 2..50 {
        let call = tool(id, "change", json!({})).in_session(&session);
        let came = timeout(PATIENCE, port.ask(call)).await.expect("in time");
        assert_eq!((came.status, &came.json()["id"]), (200, &json!(id)));
    }
}

// Elsewhere the second request with an id takes the place of the first, which is never answered.
// spec: 2025-11-25 AMB-05
#[tokio::test]
async fn a_request_whose_id_is_in_flight_does_not_take_the_place_of_the_first() {
    let port = Port::open().await;
    let session = port.session().await;
    let slow = tool(7, "slow", json!({ "seconds": 1 })).in_session(&session);
    let mut first = port.connect().await;
    let slow = slow.with("connection", "close").bytes(port.address);
    first.write_all(&slow).await.expect("sent");
    while port.calls.started() == 0 {
        tokio::task::yield_now().await;
    }
    let second = port
        .ask(tool(7, "echo", json!({})).in_session(&session))
        .await;
    assert_eq!((second.status, second.code()), (200, Some(-32600)));
    let mut answer = String::new();
    let read = timeout(PATIENCE, first.read_to_string(&mut answer));
    read.await.expect("in time").expect("text");
    assert!(answer.contains(r#""text":"done""#), "{answer}");
}

// Elsewhere a session ends with its stream.
#[tokio::test(start_paused = true)]
async fn a_session_outlives_its_streams() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    for _ in 0..3 {
        drop(listen(&endpoint, &session).await);
        let list = legacy(2, "tools/list", json!({})).in_session(&session);
        assert_eq!(list.of(&endpoint).await.status(), 200);
    }
}

// Elsewhere each look at a server leaves a session behind.
// hardening: H-19, H-198
#[tokio::test(start_paused = true)]
async fn only_a_handshake_leaves_a_session() {
    let mut options = HttpOptions::default();
    options.limits.max_sessions = 1;
    let (endpoint, _) = endpoint_with(options);
    let looks: [&dyn Fn() -> Ask; 6] = [
        &|| modern(1, "server/discover", json!({})),
        &|| list(),
        &|| legacy(1, "ping", json!({})),
        &|| legacy(1, "initialize", json!({})),
        &|| get(),
        &|| ask("DELETE"),
    ];
    for look in looks {
        for _ in 0..3 {
            let response = look().of(&endpoint).await;
            assert!(!response.headers().contains_key("mcp-session-id"));
        }
    }
    for _ in 0..20 {
        let session = open(&endpoint).await;
        let end = ask("DELETE").in_session(&session);
        assert_eq!(end.of(&endpoint).await.status(), 200);
    }
}

// spec: 2025-11-25 AMB-27, LIFE-10, LIFE-11
#[tokio::test(start_paused = true)]
async fn a_handshake_is_agreed_on_in_its_body_whatever_its_header_names() {
    let endpoint = endpoint();
    for named in ["2025-11-25", "2024-11-05"] {
        let ask = initialize("2025-06-18").with("mcp-protocol-version", named);
        let (status, body) = ask.json(&endpoint).await;
        assert_eq!(status, 200, "{named}");
        assert_eq!(body["result"]["protocolVersion"], "2025-06-18", "{named}");
    }
}

// spec: 2026-07-28 N-HTTP-13, N-TRAN-01
#[tokio::test(start_paused = true)]
async fn a_modern_client_is_sent_no_request() {
    let asking = modern_tool(1, "roots", json!({}));
    let response = asking.of(&endpoint()).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = crate::common::body_json(response).await;
    assert!(body.get("method").is_none() && body["id"] == 1, "{body}");
}

// spec: 2025-11-25 AMB-24
// hardening: H-94, H-95
#[tokio::test(start_paused = true)]
async fn an_unreadable_message_has_its_status_in_a_session_too() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let rows = [("{", 400, -32700), ("7", 400, -32600), ("[]", 400, -32600)];
    for (text, status, code) in rows {
        let ask = crate::common::post(text).in_session(&session);
        let (came, body) = ask.json(&endpoint).await;
        assert_eq!(
            (came, &body["error"]["code"]),
            (status, &json!(code)),
            "{text}"
        );
    }
    let unknown = legacy(1, "no/such", json!({})).in_session(&session);
    let (status, body) = unknown.json(&endpoint).await;
    assert_eq!((status, &body["error"]["code"]), (200, &json!(-32601)));
}

// Other servers wait for their clients without limit at the end.
#[tokio::test]
async fn a_server_ends_while_streams_are_open() {
    let mut port = Port::open().await;
    let session = port.session().await;
    let mut stream = port.connect().await;
    let ask = get().in_session(&session).bytes(port.address);
    stream.write_all(&ask).await.expect("sent");
    let mut head = [0; 16];
    stream.read_exact(&mut head).await.expect("an answer");
    port.begin_end();
    port.ended().await;
}

// spec: 2025-11-25 TRANS-SESS-11
#[tokio::test(start_paused = true)]
async fn without_sessions_a_stream_is_rejected_with_the_allowed_methods() {
    let mut options = HttpOptions::default();
    options.legacy = LegacyMode::Sessionless;
    let (endpoint, _) = endpoint_with(options);
    let response = get().of(&endpoint).await;
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()["allow"], "POST");
    let text = piece(&mut response.into_body()).await;
    assert_eq!(text.as_deref(), Some("the HTTP method is not allowed"));
}
