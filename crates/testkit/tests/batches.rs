//! Batches, in the revisions that have them.

use pintle_model::{Feature, Revision};
use pintle_testkit::{Endpoint, initialize, request};
use serde_json::{Value, json};

fn heard(server: &mut Endpoint, batch: &Value) -> Vec<Value> {
    server.hear(&batch.to_string());
    server.sent()
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
        let said = heard(
            &mut server,
            &json!([
                request(1, "tools/list", Value::Null),
                { "jsonrpc": "2.0", "method": "notifications/roots/list_changed" },
                request("2", "ping", Value::Null),
                7,
                { "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": [] },
            ]),
        );
        let answered = |id: Value| said.iter().filter(|message| message["id"] == id).count();
        assert_eq!(
            [json!(1), json!("2"), json!(3), Value::Null].map(answered),
            [1; 4]
        );
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
            let said = heard(server, &batch);
            assert_eq!((said.len(), code(&said[0])), (1, -32600));
            said[0].get("id").cloned()
        };
        assert_eq!(refused(&mut server, json!([])), None);
        assert_eq!(refused(&mut server, json!(vec![ping.clone(); 101])), None);
        assert_eq!(
            refused(&mut server, json!([initialize(9, "2025-03-26")])),
            Some(json!(9))
        );
        assert_eq!(refused(&mut server, json!([[ping]])), None);
        let many: Vec<_> = (0..100)
            .map(|id| request(id, "ping", Value::Null))
            .collect();
        assert_eq!(heard(&mut server, &json!(many)).len(), 100);
    }
}

// spec: 2025-11-25 MSG-18, AMB-112
// hardening: H-96, H-124
#[test]
fn a_batch_is_no_message_where_there_are_none_or_before_the_handshake() {
    let batch = json!([request(1, "ping", Value::Null)]);
    let without = Revision::ALL
        .into_iter()
        .filter(|revision| !revision.has(Feature::Batches));
    let fresh = Endpoint::server();
    for mut server in without.map(Endpoint::server_at).chain([fresh]) {
        for batch in [&batch, &json!([]), &json!([1, 2]), &json!([batch])] {
            let said = heard(&mut server, batch);
            assert_eq!(
                (said.len(), code(&said[0]), said[0].get("id")),
                (1, -32600, None)
            );
        }
    }
}
