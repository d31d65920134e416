//! The same answers as rmcp on its own transport, and answers over HTTP.

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::desk::Desk;
use crate::guest::{Guest, REVISIONS};
use crate::library::Library;
use crate::peer::{LEGACY, Peer};

/// Sends requests to a handler on the transport of rmcp, and returns the messages that answer them.
async fn on_rmcp<H: rmcp::ServerHandler>(handler: H, requests: &[(&str, Value)]) -> Vec<Value> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, mut writer) = tokio::io::split(near);
    let mut lines = BufReader::new(reader).lines();
    let service = tokio::spawn(handler.serve(far));
    let client = json!({ "name": "t", "version": "1" });
    let hello = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    let mut answers = Vec::new();
    for (method, params) in std::iter::once(&("initialize", hello)).chain(requests) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writer
            .write_all(format!("{request}\n").as_bytes())
            .await
            .expect("it reads");
        let line = lines.next_line().await.expect("it writes").expect("a line");
        answers.push(serde_json::from_str(&line).expect("JSON"));
    }
    drop(service.await.expect("no panic").expect("serves"));
    answers.remove(0);
    answers
}

async fn assert_same(own: Vec<Value>, mut peer: Peer, requests: &[(&str, Value)]) {
    for ((method, params), own) in requests.iter().zip(own) {
        let answer = peer.ask(method, params.clone()).await;
        assert_eq!(answer.get("result"), own.get("result"), "{method} {params}");
        assert_eq!(answer.get("error"), own.get("error"), "{method} {params}");
    }
}

#[tokio::test]
async fn tools_answer_as_on_the_transport_of_rmcp() {
    let requests = [
        ("tools/list", json!({})),
        (
            "tools/call",
            json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }),
        ),
        ("tools/call", json!({ "name": "fail" })),
        ("tools/call", json!({ "name": "refuse" })),
        ("tools/call", json!({ "name": "client" })),
        ("tools/call", json!({ "name": "hull" })),
    ];
    let own = on_rmcp(Desk::new(), &requests).await;
    let peer = Peer::of(pintle_rmcp::server(Desk::new()), LEGACY).await;
    assert_same(own, peer, &requests).await;
}

#[tokio::test]
async fn resources_and_prompts_answer_as_on_the_transport_of_rmcp() {
    let reference = json!({ "type": "ref/prompt", "name": "review" });
    let requests = [
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "book://1" })),
        ("resources/read", json!({ "uri": "book://3" })),
        ("prompts/list", json!({})),
        (
            "prompts/get",
            json!({ "name": "review", "arguments": { "book": "Emma" } }),
        ),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "book", "value": "M" } }),
        ),
    ];
    let own = on_rmcp(Library, &requests).await;
    let peer = Peer::of(pintle_rmcp::server(Library), LEGACY).await;
    assert_same(own, peer, &requests).await;
}

#[tokio::test]
async fn a_handler_is_served_over_http() {
    for revision in REVISIONS {
        let mut guest = Guest::of(pintle_rmcp::server(Desk::new()), revision).await;
        let messages = guest.call("count", json!({})).await;
        let (answer, notices) = messages.split_last().expect("an answer");
        assert_eq!(
            answer["result"]["content"][0]["text"], "three",
            "{revision}"
        );
        assert_eq!(notices.len(), 3, "{revision}: {notices:?}");
        let headers = guest.call("headers", json!({})).await;
        let answer = headers.last().expect("an answer");
        assert_eq!(answer["result"]["content"][0]["text"], "application/json");
    }
}
