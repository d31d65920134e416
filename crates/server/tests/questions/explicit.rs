//! Handlers that return their questions themselves.

use pintle_model::{
    CallToolResult, ElicitParams, ElicitSchema, InputRequest, InputRequests, InputRequired,
    Outcome, StringSchema,
};
use pintle_runtime::Context;
use pintle_server::{Server, Tool};
use serde_json::{Value, json};

use crate::peer::{MODERN, Peer, able, accept, text, tool};

fn ask(name: &str, state: &str) -> Outcome<CallToolResult> {
    let schema = ElicitSchema::new().required("word", StringSchema::new());
    let request = InputRequest::from(ElicitParams::form(format!("Say {name}"), schema));
    let requests = InputRequests::from_iter([(name, request)]);
    Outcome::InputRequired(InputRequired::asking(requests).with_state(state))
}

/// Two rounds, told apart by the state that the client carries.
async fn steps(cx: Context) -> Outcome<CallToolResult> {
    let word = |name: &str| {
        cx.input_responses().get(name)?["content"]["word"]
            .as_str()
            .map(str::to_owned)
    };
    match cx.request_state().as_deref() {
        None => ask("first", "one:"),
        Some("one:") => ask(
            "second",
            &format!("two:{}", word("first").unwrap_or_default()),
        ),
        Some(state) => {
            let words = format!("{state} {}", word("second").unwrap_or_default());
            Outcome::Complete(CallToolResult::text(words))
        }
    }
}

fn server() -> Server {
    let endless = async |_cx: Context| ask("more", "again");
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("steps").handler(steps))
        .add_tool(Tool::new("endless").handler(endless))
}

fn repeat(_: &str, params: &Value) -> Value {
    accept(json!({ "word": params["message"] }))
}

// spec: 2026-07-28 N-MRTR-14
#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_its_questions_is_driven_for_every_client() {
    for revision in ["2025-06-18", "2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answered = peer.complete("tools/call", tool("steps"), repeat).await;
        assert_eq!(text(&answered), "two:Say first Say second", "{revision}");
        assert_eq!(peer.rounds, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_ended_after_ten_rounds_for_every_client() {
    for revision in ["2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answered = peer.complete("tools/call", tool("endless"), repeat).await;
        assert_eq!(text(&answered), "the handler asked for more than 10 rounds");
        assert_eq!(peer.rounds, 10);
    }
}

// spec: 2026-07-28 N-MRTR-07, N-MRTR-09
#[tokio::test(start_paused = true)]
async fn its_questions_are_checked_and_its_state_is_sealed() {
    let mut peer = Peer::connect(server(), MODERN, json!({})).await;
    let refused = peer.request("tools/call", tool("steps")).await;
    assert_eq!(refused["error"]["code"], -32021);

    let mut peer = Peer::connect(server(), MODERN, able()).await;
    let mut forged = tool("steps");
    forged["requestState"] = json!("two:forged");
    let rejected = peer.request("tools/call", forged).await;
    assert_eq!(rejected["error"]["code"], -32602);

    let mut peer = Peer::connect(server(), "2025-11-25", json!({})).await;
    let refused = peer.request("tools/call", tool("steps")).await;
    assert_eq!(refused["result"]["isError"], true);
    assert_eq!(
        text(&refused),
        "the client does not support elicitation by a form"
    );
}
