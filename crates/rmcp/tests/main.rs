//! Handlers of rmcp, called by clients of every revision.

mod desk;
#[path = "../../pintle/tests/over_http/guest.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod guest;
mod library;
mod lifetimes;
#[path = "../../pintle/tests/server/peer.rs"]
mod peer;
mod tools;
mod transports;

use peer::Peer;
use serde_json::{Value, json};

/// Calls a tool that asks one question, and answers it.
async fn answered(peer: &mut Peer, mut call: Value, method: &str, answer: Value) -> Value {
    if peer.is_modern() {
        let asked = peer.ask("tools/call", call.clone()).await;
        let questions = asked["result"]["inputRequests"].as_object();
        let questions = questions.unwrap_or_else(|| panic!("no questions: {asked}"));
        let (name, question) = questions.iter().next().expect("a question");
        assert_eq!(question["method"], method);
        call["inputResponses"] = json!({ name.as_str(): answer });
        call["requestState"] = asked["result"]["requestState"].clone();
        return peer.result("tools/call", call).await;
    }
    let id = peer.request("tools/call", call).await;
    let question = peer.receive_method(method).await;
    peer.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }))
        .await;
    let mut answered = peer.first(|message| message["id"] == id).await;
    answered["result"].take()
}
