//! Handlers that return their questions themselves.

use pintle_model::{
    CallToolResult, CreateMessageParams, ElicitParams, ElicitSchema, IncludeContext, InputRequest,
    InputRequests, InputRequired, Outcome, SamplingMessage, StringSchema,
};
use pintle_runtime::Context;
use pintle_server::{Server, Tool};
use serde_json::{Value, json};

use crate::questions::peer::{MODERN, Peer, able, accept, text, tool};

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

/// Returns one question, as it is.
fn asking(request: impl Into<InputRequest>) -> Outcome<CallToolResult> {
    let requests = InputRequests::from_iter([("one", request.into())]);
    Outcome::InputRequired(InputRequired::asking(requests))
}

fn nested() -> ElicitParams {
    let address = json!({ "type": "object", "properties": { "street": { "type": "string" } } });
    let schema = json!({ "type": "object", "properties": { "address": address } });
    ElicitParams::form("Where?", serde_json::from_value(schema).expect("a form"))
}

fn with_context() -> CreateMessageParams {
    let mut params = CreateMessageParams::new(vec![SamplingMessage::user("?")], 1);
    params.include_context = Some(IncludeContext::AllServers);
    params
}

fn server() -> Server {
    let endless = async |_cx: Context| ask("more", "again");
    let nothing = async |_cx: Context| Outcome::InputRequired(InputRequired::default());
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("nothing").handler(nothing))
        .add_tool(Tool::new("steps").handler(steps))
        .add_tool(Tool::new("endless").handler(endless))
        .add_tool(Tool::new("nested").handler(async |_cx: Context| asking(nested())))
        .add_tool(Tool::new("context").handler(async |_cx: Context| asking(with_context())))
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

// spec: 2026-07-28 N-MRTR-04, N-MRTR-27
#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_no_question_and_no_state_fails() {
    for revision in ["2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answered = peer.complete("tools/call", tool("nothing"), repeat).await;
        assert_eq!(answered["error"]["code"], -32603, "{revision}: {answered}");
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

// spec: 2025-11-25 ELIC-16
// spec: 2026-07-28 N-ELIC-05
#[tokio::test(start_paused = true)]
async fn a_returned_form_with_a_nested_field_is_not_sent() {
    for revision in ["2025-06-18", "2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answered = peer.request("tools/call", tool("nested")).await;
        let expected = "the question cannot be asked: the field \"address\" is not a text, \
                        number, yes or no, choice, or list of choices";
        assert_eq!(text(&answered), expected, "{revision}");
    }
}

// spec: 2026-07-28 N-SAMP-10
#[tokio::test(start_paused = true)]
async fn a_returned_sampling_request_asks_for_no_undeclared_context() {
    for (capabilities, has_context) in [
        (json!({ "sampling": {} }), false),
        (json!({ "sampling": { "context": {} } }), true),
    ] {
        let mut peer = Peer::connect(server(), MODERN, capabilities).await;
        let asked = peer.request("tools/call", tool("context")).await;
        let params = &asked["result"]["inputRequests"]["one"]["params"];
        assert_eq!(params["maxTokens"], 1, "{asked}");
        assert_eq!(params["includeContext"].is_string(), has_context, "{asked}");
    }
}
