//! Batches, in the revisions that have them.

use pintle_model::{Feature, Revision};
use pintle_proto::Limits;
use pintle_testkit::{Endpoint, envelope, everything, initialize, request};
use serde_json::{Value, json};

/// The messages that the server sends for a batch: one array.
fn messages_for(server: &mut Endpoint, batch: &Value) -> Vec<Value> {
    server.receive(&batch.to_string());
    server.sent()
}

/// The answers in the one array that the server sends.
fn answers(server: &mut Endpoint, batch: &Value) -> Vec<Value> {
    let sent = messages_for(server, batch);
    assert_eq!(sent.len(), 1, "{sent:?}");
    sent[0].as_array().expect("an array").clone()
}

fn code(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or_default()
}

fn with_batches() -> impl Iterator<Item = Revision> {
    Revision::ALL
        .into_iter()
        .filter(|revision| revision.has(Feature::Batches))
}

// spec: 2025-11-25 D0326-01, AMB-110
// hardening: H-96
#[test]
fn each_message_of_a_batch_is_taken_in_as_if_it_had_come_alone() {
    for revision in with_batches() {
        let mut server = Endpoint::server_at(revision);
        let sent = answers(
            &mut server,
            &json!([
                request(1, "tools/list", Value::Null),
                { "jsonrpc": "2.0", "method": "notifications/roots/list_changed" },
                request("2", "ping", Value::Null),
                7,
                { "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": [] },
            ]),
        );
        let answered = |id: Value| sent.iter().filter(|message| message["id"] == id).count();
        assert_eq!(
            [json!(1), json!("2"), json!(3), Value::Null].map(answered),
            [1; 4]
        );
        assert_eq!(sent.len(), 4);
        assert_eq!(server.notified().len(), 1);
    }
}

// spec: 2025-11-25 D0326-01
// hardening: H-96
#[test]
fn a_batch_that_is_empty_or_too_long_or_opens_a_session_is_refused() {
    for revision in with_batches() {
        let mut server = Endpoint::server_at(revision);
        let ping = request(1, "ping", Value::Null);
        let refused = |server: &mut Endpoint, batch: Value| {
            let sent = messages_for(server, &batch);
            assert_eq!((sent.len(), code(&sent[0])), (1, -32600));
            sent[0].get("id").cloned()
        };
        assert_eq!(refused(&mut server, json!([])), None);
        assert_eq!(refused(&mut server, json!(vec![ping.clone(); 101])), None);
        let refused_inside = |server: &mut Endpoint, batch: Value| {
            let sent = answers(server, &batch);
            assert_eq!((sent.len(), code(&sent[0])), (1, -32600));
            sent[0].get("id").cloned()
        };
        let opening = json!([initialize(9, "2025-03-26")]);
        assert_eq!(refused_inside(&mut server, opening), Some(json!(9)));
        assert_eq!(refused_inside(&mut server, json!([[ping]])), None);
        let many: Vec<_> = (0..100)
            .map(|id| request(id, "ping", Value::Null))
            .collect();
        assert_eq!(answers(&mut server, &json!(many)).len(), 100);
    }
}

fn call(id: i64) -> Value {
    request(id, "tools/call", json!({ "name": "t" }))
}

fn ids(array: &Value) -> Vec<&Value> {
    let answers = array.as_array().expect("an array").iter();
    answers.map(|answer| &answer["id"]).collect()
}

// spec: 2025-11-25 D0326-01
#[test]
fn the_answers_to_a_batch_leave_together_when_the_last_is_there() {
    for revision in with_batches() {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        let batch = json!([call(1), request(2, "ping", Value::Null), call(3)]);
        assert_eq!(messages_for(&mut server, &batch), [] as [Value; 0]);
        // Another request is not part of the batch.
        server.request(4, "ping", json!({}));
        assert_eq!(server.sent()[0]["id"], 4);
        let open = server.open();
        assert!(server.answer_usually(open[1]));
        assert_eq!(server.sent(), [] as [Value; 0]);
        assert!(server.answer_usually(open[0]));
        let sent = server.sent();
        assert_eq!(sent.len(), 1);
        assert_eq!(ids(&sent[0]), [2, 3, 1]);
        assert_eq!(server.exchange(5, "ping", json!({}))[0]["id"], 5);
    }
}

// spec: 2025-11-25 D0326-01
#[test]
fn a_batch_does_not_wait_for_a_request_that_is_cancelled() {
    let mut server = Endpoint::server_at(Revision::V2025_03_26);
    server.answers_by_hand();
    messages_for(&mut server, &json!([call(1), call(2)]));
    let open = server.open();
    assert!(server.answer_usually(open[0]));
    server.notification("notifications/cancelled", json!({ "requestId": 2 }));
    assert_eq!(ids(&server.sent()[0]), [1]);
    // A batch whose requests are all cancelled has no answer.
    messages_for(&mut server, &json!([call(3)]));
    server.notification("notifications/cancelled", json!({ "requestId": 3 }));
    assert_eq!(server.sent(), [] as [Value; 0]);
}

// spec: 2025-11-25 D0326-01
#[test]
fn a_batch_without_requests_has_no_answer() {
    let mut server = Endpoint::server_at(Revision::V2025_03_26);
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    let late = json!({ "jsonrpc": "2.0", "id": 9, "result": {} });
    assert_eq!(
        messages_for(&mut server, &json!([notice, late])),
        [] as [Value; 0]
    );
}

#[test]
fn answers_that_wait_for_a_batch_are_bounded() {
    let mut limits = Limits::default();
    limits.max_outgoing_bytes = 1_000;
    let mut server = Endpoint::server_with(everything(), limits).opened_at(Revision::V2025_03_26);
    server.answers_by_hand();
    messages_for(&mut server, &json!([call(1), call(2), call(3)]));
    let open = server.open();
    let long = json!({ "content": [{ "type": "text", "text": "x".repeat(600) }] });
    assert!(server.answer(open[0], &long));
    assert_eq!(server.sent(), [] as [Value; 0]);
    assert!(server.answer(open[1], &long));
    assert_eq!(ids(&server.sent()[0]), [1, 2]);
    assert!(server.answer(open[2], &long));
    assert_eq!(ids(&server.sent()[0]), [3]);
}

// spec: 2026-07-28 N-ERA-02
#[test]
fn a_request_with_terms_of_its_own_does_not_delay_the_batch_around_it() {
    let mut server = Endpoint::server_at(Revision::V2025_03_26);
    server.answers_by_hand();
    let meta = envelope(Revision::LATEST);
    let modern = request(1, "tools/call", json!({ "name": "t", "_meta": meta }));
    let sent = answers(
        &mut server,
        &json!([modern, request(2, "ping", Value::Null)]),
    );
    assert_eq!(sent[0]["id"], 2);
    let open = server.open();
    assert!(server.answer_usually(open[0]));
    assert_eq!(server.sent()[0]["id"], 1);
}

// spec: 2025-11-25 MSG-18, AMB-112
// hardening: H-96, H-124
#[test]
fn a_batch_is_invalid_without_the_feature_and_before_the_handshake() {
    let batch = json!([request(1, "ping", Value::Null)]);
    let without = Revision::ALL
        .into_iter()
        .filter(|revision| !revision.has(Feature::Batches));
    let latest = Endpoint::server();
    for mut server in without.map(Endpoint::server_at).chain([latest]) {
        for batch in [&batch, &json!([]), &json!([1, 2]), &json!([batch])] {
            let sent = messages_for(&mut server, batch);
            assert_eq!(
                (sent.len(), code(&sent[0]), sent[0].get("id")),
                (1, -32600, None)
            );
        }
    }
}
