//! Servers from recordings and from files, with clients of every revision.

use pintle_tap::{Mock, Recording, Replay};
use pintle_testkit::BothEras;
use serde_json::{Value, json};

/// A recording of messages, of which the first is for the server.
fn recording(messages: &[(&str, Value)]) -> Recording {
    let line = |(to, message): &(&str, Value)| {
        json!({ "ms": 1, "to": to, "message": message }).to_string()
    };
    let lines: Vec<String> = messages.iter().map(line).collect();
    Recording::read(lines.join("\n").as_bytes()).expect("a recording")
}

fn call(id: u64, tool: &str, arguments: Value) -> (&'static str, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    (
        "server",
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }),
    )
}

fn text(id: u64, text: &str) -> (&'static str, Value) {
    let result = json!({ "content": [{ "type": "text", "text": text }] });
    (
        "client",
        json!({ "jsonrpc": "2.0", "id": id, "result": result }),
    )
}

fn question() -> Value {
    let schema = json!({ "type": "object", "properties": { "yes": { "type": "boolean" } } });
    json!({ "message": "Sure?", "requestedSchema": schema })
}

#[test]
fn a_recorded_answer_is_the_same_in_every_revision() {
    let recording = recording(&[call(1, "echo", json!({ "text": "a" })), text(1, "recorded")]);
    let agreed = BothEras::new(|_| Replay::server(&recording).0)
        .calling("echo", json!({ "text": "a" }))
        .run();
    assert_eq!(agreed.text(), "recorded");
    assert!(agreed.skipped().is_empty());
}

#[test]
fn a_recorded_question_is_asked_in_every_revision() {
    let legacy = [
        call(1, "ask", json!({})),
        (
            "client",
            json!({ "jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": question() }),
        ),
        (
            "server",
            json!({ "jsonrpc": "2.0", "id": 9, "result": { "action": "accept", "content": { "yes": true } } }),
        ),
        text(1, "done"),
    ];
    let questions = json!({ "q": { "method": "elicitation/create", "params": question() } });
    let answers = json!({ "q": { "action": "accept", "content": { "yes": true } } });
    let parked =
        json!({ "resultType": "input_required", "requestState": "s", "inputRequests": questions });
    let retry = json!({ "name": "ask", "requestState": "s", "inputResponses": answers });
    let modern = [
        call(1, "ask", json!({})),
        (
            "client",
            json!({ "jsonrpc": "2.0", "id": 1, "result": parked }),
        ),
        (
            "server",
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": retry }),
        ),
        text(2, "done"),
    ];
    for messages in [&legacy[..], &modern[..]] {
        let recording = recording(messages);
        let agreed = BothEras::new(|_| Replay::server(&recording).0)
            .calling("ask", json!({}))
            .answering("Sure?", json!({ "yes": true }))
            .run();
        assert_eq!(agreed.text(), "done");
        assert_eq!(agreed.skipped().len(), 2, "two revisions have no forms");
    }
}

#[test]
fn a_miss_is_an_error_that_names_the_difference() {
    let recording = recording(&[call(1, "echo", json!({ "text": "a" })), text(1, "recorded")]);
    let agreed = BothEras::new(|_| Replay::server(&recording).0)
        .calling("echo", json!({ "text": "b" }))
        .run();
    let error = agreed.response()["error"]["message"]
        .as_str()
        .expect("an error")
        .to_owned();
    assert!(
        error.contains(r#"arguments.text is "b", "a" was recorded"#),
        "{error}"
    );
}

#[tokio::test]
async fn the_first_miss_is_reported() {
    use pintle_runtime::{IntoService as _, PipeOptions, serve_pipe};
    use std::sync::Arc;
    use tokio::io::AsyncWriteExt as _;

    let recording = recording(&[call(1, "echo", json!({})), text(1, "recorded")]);
    let (server, mut misses) = Replay::server(&recording);
    let app = Arc::new(server.into_service().expect("it starts"));
    let (mut client, end) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(end);
    let served = tokio::spawn(serve_pipe(app, reader, writer, PipeOptions::default()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    for tool in ["echo", "other"] {
        let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        let call =
            json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params });
        client
            .write_all(format!("{call}\n").as_bytes())
            .await
            .expect("room");
    }
    let miss = misses.first().await;
    assert_eq!(misses.first_so_far(), Some(miss.clone()));
    assert_eq!(
        miss.differences,
        [r#"name is "other", "echo" was recorded"#]
    );
    drop(client);
    served.await.expect("no panic").expect("it ends");
}

const MOCK: &str = r#"
name = "weather"

[[tool]]
name = "forecast"
text = "sunny"
delay_ms = 60000

[[tool.case]]
when = { city = "Bergen" }
structured = { sky = "rain" }

[[tool.case]]
when = { city = "Atlantis" }
error = "no such city"

[[tool]]
name = "delete"
text = "deleted"
[tool.question]
message = "Really?"
fields = { reason = { type = "string" } }

[[resource]]
uri = "note://a"
text = "A note"

[[prompt]]
name = "greet"
arguments = ["name"]
text = "Hello {name}"
"#;

fn mock() -> pintle_server::Server {
    MOCK.parse::<Mock>().expect("a server").server()
}

#[test]
fn a_mock_answers_in_every_revision() {
    let agreed = |arguments| {
        BothEras::new(|_| mock())
            .calling("forecast", arguments)
            .run()
    };
    assert_eq!(agreed(json!({ "city": "Oslo" })).text(), "sunny");
    assert_eq!(
        agreed(json!({ "city": "Bergen" })).response()["result"]["structuredContent"],
        json!({ "sky": "rain" })
    );
    let failed = agreed(json!({ "city": "Atlantis" }));
    assert_eq!(
        (failed.text(), &failed.response()["result"]["isError"]),
        ("no such city", &json!(true))
    );
    let read = BothEras::new(|_| mock()).reading("note://a").run();
    assert_eq!(read.response()["result"]["contents"][0]["text"], "A note");
    let prompt = BothEras::new(|_| mock())
        .getting("greet", json!({ "name": "Ada" }))
        .run();
    assert_eq!(
        prompt.response()["result"]["messages"][0]["content"]["text"],
        "Hello Ada"
    );
}

#[test]
fn a_mock_asks_before_it_answers() {
    let asked = || BothEras::new(|_| mock()).calling("delete", json!({}));
    let accepted = asked()
        .answering("Really?", json!({ "reason": "old" }))
        .run();
    assert_eq!(accepted.text(), "deleted");
    assert_eq!(asked().declining("Really?").run().text(), "declined");
}
