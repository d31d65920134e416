//! Several messages in one body.

use std::time::Duration;

use pintle_http::{HttpOptions, LegacyMode};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::common::{
    Ask, Endpoint, endpoint, endpoint_with, initialize, list, open_speaking, post,
};

fn batch(messages: &[Value]) -> Ask {
    post(json!(messages).to_string())
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn ping(id: impl Into<Value>) -> Value {
    request(id, "ping", json!({}))
}

fn tool(id: i64, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": id } });
    request(id, "tools/call", params)
}

fn ids(answers: &Value) -> Vec<String> {
    let answers = answers.as_array().expect("an array");
    let mut ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    ids.sort();
    ids
}

async fn refused(ask: Ask, endpoint: &Endpoint) {
    let said = format!("{ask:?}");
    let (status, body) = ask.json(endpoint).await;
    assert_eq!(
        (status, &body["error"]["code"]),
        (400, &json!(-32600)),
        "{said}"
    );
    assert!(body.get("id").is_none(), "{said}");
}

// spec: 2025-11-25 D0326-01, D0326-02, AMB-110, AMB-111
// hardening: H-96
#[tokio::test(start_paused = true)]
async fn each_request_of_a_batch_is_answered_in_one_array() {
    for revision in ["2025-03-26", "2024-11-05"] {
        let (endpoint, calls) = endpoint_with(HttpOptions::default());
        let session = open_speaking(&endpoint, revision).await;
        let messages = [
            ping(1),
            tool(2, "echo", json!({ "a": 1 })),
            json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }),
            request("x", "no/such", json!({})),
            json!(7),
            request(9, "initialize", json!({ "protocolVersion": "2025-03-26" })),
        ];
        let (status, answers) = batch(&messages).in_session(&session).json(&endpoint).await;
        assert_eq!(status, 200);
        assert_eq!(ids(&answers), ["\"x\"", "1", "2", "9", "null"]);
        let of = |id: Value| {
            let answers = answers.as_array().expect("an array");
            let answer = answers.iter().find(|answer| answer["id"] == id);
            answer.expect("an answer").clone()
        };
        assert!(of(json!(2))["result"]["content"].is_array());
        assert_eq!(of(json!("x"))["error"]["code"], -32601);
        for refused in [json!(9), Value::Null] {
            assert_eq!(of(refused)["error"]["code"], -32600);
        }
        assert_eq!(calls.notified(), 1);
    }
}

// spec: 2025-11-25 D0326-02, AMB-111
#[tokio::test(start_paused = true)]
async fn a_batch_that_needs_no_answer_is_accepted() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let session = open_speaking(&endpoint, "2025-03-26").await;
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    let response = json!({ "jsonrpc": "2.0", "id": 4, "result": {} });
    for messages in [[notice.clone(), notice], [response.clone(), response]] {
        let answer = batch(&messages).in_session(&session).json(&endpoint).await;
        assert_eq!(answer, (202, Value::Null));
    }
    assert_eq!(calls.notified(), 2);
}

// spec: 2025-11-25 AMB-111
// hardening: H-96
#[tokio::test(start_paused = true)]
async fn a_batch_has_one_to_a_hundred_messages_of_one_kind() {
    let endpoint = endpoint();
    let session = open_speaking(&endpoint, "2025-03-26").await;
    let many: Vec<Value> = (0..101).map(ping).collect();
    let (status, answers) = batch(&many[..100])
        .in_session(&session)
        .json(&endpoint)
        .await;
    assert_eq!((status, ids(&answers).len()), (200, 100));
    let response = json!({ "jsonrpc": "2.0", "id": 4, "result": {} });
    for messages in [&many[..], &[], &[ping(1), response]] {
        refused(batch(messages).in_session(&session), &endpoint).await;
    }
}

// spec: 2025-11-25 TRANS-HTTP-09, AMB-112
// spec: 2026-07-28 N-HTTP-08
// hardening: H-96
#[tokio::test(start_paused = true)]
async fn a_batch_is_rejected_in_revisions_without_batches() {
    let endpoint = endpoint();
    for revision in ["2025-06-18", "2025-11-25"] {
        let session = open_speaking(&endpoint, revision).await;
        refused(batch(&[ping(1)]).in_session(&session), &endpoint).await;
    }
    refused(batch(&[ping(1)]), &endpoint).await;
    let handshake: Value = serde_json::from_slice(&initialize("2025-03-26").body).expect("JSON");
    refused(batch(&[handshake]), &endpoint).await;
    let modern: Value = serde_json::from_slice(&list().body).expect("JSON");
    let named = batch(std::slice::from_ref(&modern)).with("mcp-protocol-version", "2026-07-28");
    refused(named, &endpoint).await;
    let session = open_speaking(&endpoint, "2025-03-26").await;
    refused(batch(&[ping(1), modern]).in_session(&session), &endpoint).await;
    let forged = batch(&[ping(1)]).in_session("0123456789abcdef0123456789abcdef");
    assert_eq!(forged.of(&endpoint).await.status(), 404);
}

// spec: 2025-11-25 D0326-02
#[tokio::test(start_paused = true)]
async fn a_batch_with_notices_is_answered_by_a_stream() {
    let endpoint = endpoint();
    let session = open_speaking(&endpoint, "2025-03-26").await;
    let messages = [
        ping(1),
        tool(2, "progress", json!({ "steps": 2 })),
        tool(3, "slow", json!({ "seconds": 60 })),
    ];
    let said = batch(&messages)
        .in_session(&session)
        .events(&endpoint)
        .await;
    let answers: Vec<_> = said.iter().filter_map(|said| said.get("id")).collect();
    assert_eq!(answers, [&json!(1), &json!(2), &json!(3)]);
    assert_eq!(said.len(), 5);
    let place = |wanted: &dyn Fn(&Value) -> bool| said.iter().rposition(wanted);
    let progress = place(&|said| said["params"]["progressToken"] == 2);
    assert!(
        progress < place(&|said| said["id"] == 2),
        "in order: {said:?}"
    );
}

// spec: 2025-11-25 AMB-25
#[tokio::test(start_paused = true)]
async fn a_client_that_takes_json_alone_waits_for_the_whole_batch() {
    let endpoint = endpoint();
    let session = open_speaking(&endpoint, "2025-03-26").await;
    let began = Instant::now();
    let messages = [
        tool(1, "chat", json!({ "seconds": 100 })),
        tool(2, "progress", json!({ "steps": 2 })),
    ];
    let ask = batch(&messages).having("accept", "application/json");
    let response = ask.in_session(&session).of(&endpoint).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(ids(&crate::common::body_json(response).await), ["1", "2"]);
    assert_eq!(began.elapsed(), Duration::from_secs(100));
}

// spec: 2025-11-25 AMB-29
#[tokio::test(start_paused = true)]
async fn a_batch_without_sessions_is_served_message_by_message() {
    let mut options = HttpOptions::default();
    options.legacy = LegacyMode::Sessionless;
    let (endpoint, _) = endpoint_with(options);
    let messages = [ping(1), tool(2, "echo", json!({}))];
    let (status, answers) = batch(&messages).json(&endpoint).await;
    assert_eq!((status, ids(&answers)), (200, vec!["1".into(), "2".into()]));
    let named = batch(&messages).with("mcp-protocol-version", "2025-11-25");
    refused(named, &endpoint).await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_too_much_for_its_session_is_refused_message_by_message() {
    let mut options = HttpOptions::default();
    let mut limits = pintle_proto::Limits::default();
    limits.max_running_requests = 2;
    options.conversation_limits = limits.into();
    let (endpoint, _) = endpoint_with(options);
    let session = open_speaking(&endpoint, "2025-03-26").await;
    let messages: Vec<Value> = (0..3).map(|id| tool(id, "slow", json!({}))).collect();
    let (_, answers) = batch(&messages).in_session(&session).json(&endpoint).await;
    let refused = |answer: &&Value| answer["error"]["code"] == -32603;
    let answers = answers.as_array().expect("an array");
    assert_eq!(
        (answers.len(), answers.iter().filter(refused).count()),
        (3, 1)
    );
}
