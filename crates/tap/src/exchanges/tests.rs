use serde_json::json;

use super::*;

fn recording(lines: &[(&str, Value)]) -> Recording {
    let lines = lines
        .iter()
        .map(|(to, message)| json!({ "ms": 0, "to": to, "message": message }).to_string());
    let text = lines.collect::<Vec<_>>().join("\n");
    Recording::read(text.as_bytes()).expect("a recording")
}

fn call(id: u64, params: Value) -> (&'static str, Value) {
    (
        "server",
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }),
    )
}

fn result(id: u64, result: Value) -> (&'static str, Value) {
    (
        "client",
        json!({ "jsonrpc": "2.0", "id": id, "result": result }),
    )
}

#[test]
fn members_of_the_client_are_not_compared() {
    let params = json!({ "name": "a", "arguments": {}, "_meta": { "progressToken": 1 }, "task": {}, "requestState": "x" });
    assert_eq!(normalized(Some(&params)), json!({ "name": "a" }));
    assert_eq!(normalized(None), json!({}));
    let secret = json!({ "name": "a", "arguments": { "password": "x", "text": "y" } });
    let expected = json!({ "name": "a", "arguments": { "password": "[redacted]", "text": "y" } });
    assert_eq!(normalized(Some(&secret)), expected);
    assert_eq!(
        normalized(Some(&expected)),
        expected,
        "a redacted recording is the same"
    );
}

#[test]
fn messages_before_an_answer_belong_to_their_request() {
    let exchanges = recording(&[
        call(1, json!({ "name": "slow", "_meta": { "progressToken": "p" } })),
        call(2, json!({ "name": "fast", "_meta": { "progressToken": "q" } })),
        ("client", json!({ "method": "notifications/progress", "params": { "progressToken": "q", "progress": 1 } })),
        ("client", json!({ "method": "notifications/message", "params": { "data": "hi" } })),
        ("client", json!({ "id": 1, "method": "elicitation/create", "params": { "message": "?" } })),
        result(2, json!({ "n": 2 })),
        ("server", json!({ "id": 1, "result": { "action": "decline" } })),
        result(1, json!({ "n": 1 })),
        ("client", json!({ "method": "notifications/message", "params": { "data": "late" } })),
        call(3, json!({ "name": "unanswered" })),
    ])
    .exchanges();
    let names: Vec<_> = exchanges
        .iter()
        .map(|exchange| exchange.params["name"].as_str().expect("text"))
        .collect();
    assert_eq!(names, ["slow", "fast"]);
    assert_eq!(exchanges[1].steps.len(), 1, "progress by its token");
    let question = &exchanges[0].steps[1];
    let RecordedStep::Question { answer, .. } = question else {
        panic!("{question:?}")
    };
    assert_eq!(answer, &Some(json!({ "action": "decline" })));
}

#[test]
fn a_retry_with_answers_belongs_to_the_first_request() {
    let questions = json!({
        "resultType": "input_required", "requestState": "s",
        "inputRequests": { "k": { "method": "elicitation/create", "params": { "message": "?" } } },
    });
    let exchanges = recording(&[
        call(1, json!({ "name": "a" })),
        result(1, questions),
        call(2, json!({ "name": "a", "requestState": "s", "inputResponses": { "k": { "action": "accept" } } })),
        result(2, json!({ "done": true })),
    ])
    .exchanges();
    assert_eq!(exchanges.len(), 1);
    assert_eq!(exchanges[0].answer, Ok(json!({ "done": true })));
    assert_eq!(
        exchanges[0].steps,
        [RecordedStep::Question {
            method: "elicitation/create".to_owned(),
            params: json!({ "message": "?" }),
            answer: Some(json!({ "action": "accept" })),
        }]
    );
}

#[test]
fn the_server_is_described_by_its_opening() {
    let opening = |method| ("server", json!({ "id": 1, "method": method, "params": {} }));
    let legacy = json!({ "serverInfo": { "name": "s" }, "capabilities": { "tools": {} }, "instructions": "i" });
    let server = recording(&[opening("initialize"), result(1, legacy)])
        .server()
        .expect("a server");
    assert_eq!(
        (&server.identity["name"], server.instructions.as_deref()),
        (&json!("s"), Some("i"))
    );
    let modern = json!({ "capabilities": {}, "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "m" } } });
    let server = recording(&[opening("server/discover"), result(1, modern)])
        .server()
        .expect("a server");
    assert_eq!(server.identity["name"], "m");
    assert!(recording(&[opening("initialize")]).server().is_none());
}
