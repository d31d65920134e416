//! Since 2026-07-28: questions are results, and a retry brings the answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_runtime::{AskError, Context};
use pintle_server::{Json, Prompt, Resource, Server, Tool};
use serde_json::{Value, json};

use crate::questions::peer::{MODERN, Peer, able, accept, text, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    #[allow(dead_code, reason = "it is there to tell two calls apart")]
    style: Option<String>,
}

async fn hello(cx: Context) -> Result<String, AskError> {
    let name = cx.elicit::<Name>("Who?").named("who").await?;
    let name = name.accepted().map(|name| name.name);
    Ok(format!("hello {}", name.as_deref().unwrap_or("nobody")))
}

fn server() -> Server {
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("hello").handler(async |cx: Context, _: Greeting| hello(cx).await))
        .add_tool(Tool::new("swallow").handler(async |cx: Context| {
            // Whatever a handler makes of a question that is open, the client is asked.
            let asked = tokio::spawn(async move { hello(cx).await });
            asked.await.map_err(|_| "lost")?.map_err(|_| "swallowed")
        }))
        .add_prompt(Prompt::new("hello").handler(hello))
        .add_resource(Resource::new("hello://", "hello").reader(hello))
}

async fn peer() -> Peer {
    Peer::connect(server(), MODERN, able()).await
}

fn retry(params: &Value, asked: &Value, responses: Value) -> Value {
    let mut retry = params.clone();
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] = responses;
    retry
}

fn is_question(answer: &Value) -> bool {
    answer["result"]["resultType"] == "input_required"
        && answer["result"]["inputRequests"]["who"]["method"] == "elicitation/create"
}

// spec: 2026-07-28 N-MRTR-02, N-MRTR-06, N-TOOL-23, N-RSRC-07, N-PROMPT-05
#[tokio::test(start_paused = true)]
async fn tools_prompts_and_resources_may_ask() {
    let ada = |_: &str, _: &Value| accept(json!({ "name": "Ada" }));
    let mut peer = peer().await;
    let answered = peer.complete("tools/call", tool("hello"), ada).await;
    assert_eq!(text(&answered), "hello Ada");
    let answered = peer
        .complete("prompts/get", json!({ "name": "hello" }), ada)
        .await;
    assert_eq!(
        answered["result"]["messages"][0]["content"]["text"],
        "hello Ada"
    );
    let read = json!({ "uri": "hello://" });
    let answered = peer.complete("resources/read", read, ada).await;
    assert_eq!(answered["result"]["contents"][0]["text"], "hello Ada");
    assert_eq!(peer.rounds, 3);
}

#[tokio::test(start_paused = true)]
async fn a_question_from_a_task_of_the_handler_is_asked_too() {
    let mut peer = peer().await;
    let ada = |_: &str, _: &Value| accept(json!({ "name": "Ada" }));
    let answered = peer.complete("tools/call", tool("swallow"), ada).await;
    assert_eq!(text(&answered), "hello Ada");
}

// spec: 2026-07-28 N-MRTR-24, N-MRTR-25, N-MRTR-26, N-ELIC-09 (failures)
#[tokio::test(start_paused = true)]
async fn an_invalid_answer_is_asked_again() {
    let mut peer = peer().await;
    let params = tool("hello");
    let asked = peer.request("tools/call", params.clone()).await;
    assert!(is_question(&asked));
    for responses in [
        json!({}),
        Value::Null,
        json!({ "who": 12345 }),
        json!({ "who": { "roots": [] } }),
        json!({ "who": { "action": "accept", "content": { "name": 7 } } }),
        json!({ "somebody": accept(json!({ "name": "Eve" })) }),
    ] {
        let again = peer
            .request("tools/call", retry(&params, &asked, responses))
            .await;
        assert!(is_question(&again), "{again}");
    }
    let also = json!({ "who": accept(json!({ "name": "Ada" })), "x": { "action": "accept" } });
    let answered = peer
        .request("tools/call", retry(&params, &asked, also))
        .await;
    assert_eq!(text(&answered), "hello Ada");
}

// spec: 2026-07-28 N-ELIC-19, N-MRTR-26
#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_asked_for_again_three_times() {
    for fits_at in [2, 3, 4] {
        let mut peer = peer().await;
        let mut messages = Vec::new();
        let answered = peer
            .complete("tools/call", tool("hello"), |_, params| {
                messages.push(params["message"].as_str().expect("a message").to_owned());
                let name = if messages.len() == fits_at {
                    json!("Ada")
                } else {
                    json!(7)
                };
                accept(json!({ "name": name }))
            })
            .await;
        let reason = "the client's answer does not fit the question: \
                      the field \"name\" is not a text";
        let again = format!("Who?\n\nThe previous answer was not accepted: {reason}");
        let again = again.replace("the client's answer does not fit the question: ", "");
        let asked = fits_at.min(3);
        assert_eq!(messages[0], "Who?");
        assert_eq!(messages[1..], vec![again; asked - 1]);
        match fits_at {
            4 => assert_eq!(text(&answered), reason),
            _ => assert_eq!(text(&answered), "hello Ada"),
        }
    }
}

// spec: 2026-07-28 N-MRTR-25
#[tokio::test(start_paused = true)]
async fn a_client_that_knows_the_question_may_answer_at_once() {
    let mut peer = peer().await;
    let mut params = tool("hello");
    params["inputResponses"] = json!({ "who": accept(json!({ "name": "Ada" })), "x": {} });
    let answered = peer.request("tools/call", params).await;
    assert_eq!(text(&answered), "hello Ada");
}

// spec: 2026-07-28 N-MRTR-08, N-MRTR-09, N-MRTR-11, N-STATE-05
// hardening: H-23
#[tokio::test(start_paused = true)]
async fn a_state_that_is_not_ours_or_of_another_request_is_rejected() {
    let mut peer = peer().await;
    let params = tool("hello");
    let asked = peer.request("tools/call", params.clone()).await;
    let answers = json!({ "who": accept(json!({ "name": "Ada" })) });
    let good = retry(&params, &asked, answers);

    let mut tampered = good.clone();
    let state = good["requestState"].as_str().expect("a state");
    tampered["requestState"] = json!(format!("{state}-TAMPERED"));
    let mut elsewhere = good.clone();
    elsewhere["arguments"] = json!({ "style": "loud" });
    let mut invented = good.clone();
    invented["requestState"] = json!("e30");
    for bad in [tampered, elsewhere, invented] {
        let rejected = peer.request("tools/call", bad).await;
        assert_eq!(rejected["error"]["code"], -32602, "{rejected}");
        assert_eq!(
            rejected["error"]["message"],
            "requestState is invalid or has expired"
        );
    }
    let answered = peer.request("tools/call", good).await;
    assert_eq!(text(&answered), "hello Ada");
}

// spec: 2026-07-28 N-MRTR-07, N-ELIC-02
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_learns_which_capability_it_lacks() {
    let url_only = json!({ "elicitation": { "url": {} } });
    for capabilities in [json!({}), json!({ "sampling": {} }), url_only] {
        let mut peer = Peer::connect(server(), MODERN, capabilities).await;
        for (method, params) in [
            ("tools/call", tool("hello")),
            ("prompts/get", json!({ "name": "hello" })),
            ("resources/read", json!({ "uri": "hello://" })),
        ] {
            let refused = peer.request(method, params).await;
            assert_eq!(refused["error"]["code"], -32021, "{refused}");
            assert_eq!(
                refused["error"]["data"]["requiredCapabilities"],
                json!({ "elicitation": { "form": {} } })
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_do_without_what_the_client_lacks() {
    let tool_of_many = Tool::new("many").handler(async |cx: Context| match cx.list_roots().await {
        Ok(roots) => format!("{} roots", roots.len()),
        Err(error) => format!("anyway: {error}"),
    });
    let server = Server::new("asks", "1.0.0").add_tool(tool_of_many);
    let mut peer = Peer::connect(server, MODERN, json!({})).await;
    let answered = peer.request("tools/call", tool("many")).await;
    assert_eq!(text(&answered), "anyway: the client does not support roots");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_asks_something_else_than_before_gets_a_named_error() {
    let runs = AtomicUsize::new(0);
    let fickle = Tool::new("fickle").handler(move |cx: Context| {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        async move {
            cx.elicit::<Name>(format!("Question {run}"))
                .await
                .map(|_| "done")
        }
    });
    let server = Server::new("asks", "1.0.0").add_tool(fickle);
    let mut peer = Peer::connect(server, MODERN, able()).await;
    let ada = |_: &str, _: &Value| accept(json!({ "name": "Ada" }));
    let answered = peer.complete("tools/call", tool("fickle"), ada).await;
    assert_eq!(answered["error"]["code"], -32603);
    let message = answered["error"]["message"].as_str().expect("a message");
    assert!(message.contains("asked something else"), "{message}");
}

// spec: 2026-07-28 A-20
#[tokio::test(start_paused = true)]
async fn a_handler_that_always_asks_ends_after_ten_rounds() {
    let endless = Tool::new("endless").handler(async |cx: Context| -> Result<String, AskError> {
        loop {
            cx.elicit::<Name>("More?").await?;
        }
    });
    let server = Server::new("asks", "1.0.0").add_tool(endless);
    let mut peer = Peer::connect(server, MODERN, able()).await;
    let ada = |_: &str, _: &Value| accept(json!({ "name": "Ada" }));
    let answered = peer.complete("tools/call", tool("endless"), ada).await;
    assert_eq!(peer.rounds, 10);
    assert_eq!(answered["result"]["isError"], true);
    assert_eq!(text(&answered), "the handler asked for more than 10 rounds");
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_to_carry_is_stored_and_beyond_that_an_error_says_so() {
    async fn remember(cx: Context, bytes: usize) -> Result<usize, AskError> {
        let text = cx.once("text", async { "x".repeat(bytes) }).await;
        cx.list_roots().await?;
        Ok(text.len())
    }
    let server = Server::new("asks", "1.0.0")
        .add_tool(Tool::new("large").handler(async |cx: Context| remember(cx, 20_000).await))
        .add_tool(Tool::new("huge").handler(async |cx: Context| remember(cx, 1 << 20).await));
    let mut peer = Peer::connect(server, MODERN, able()).await;
    let asked = peer.request("tools/call", tool("large")).await;
    let state = asked["result"]["requestState"].as_str().expect("a state");
    assert!(state.len() < 256, "its name travels");
    let roots = |_: &str, _: &Value| json!({ "roots": [] });
    let answered = peer.complete("tools/call", tool("large"), roots).await;
    assert_eq!(text(&answered), "20000");
    let answered = peer.request("tools/call", tool("huge")).await;
    assert_eq!(
        answered["error"]["message"],
        "what must be remembered between rounds is larger than 1048576 bytes"
    );
}

// spec: 2026-07-28 N-MRTR-12
#[tokio::test(start_paused = true)]
async fn a_state_may_be_good_for_one_retry_only() {
    for is_single_use in [false, true] {
        let runs = Arc::new(AtomicUsize::new(0));
        let done = Arc::clone(&runs);
        let pay = Tool::new("pay").handler(move |cx: Context| {
            let runs = Arc::clone(&runs);
            async move {
                cx.elicit::<Name>("Sure?").named("who").await?;
                Ok::<_, AskError>(runs.fetch_add(1, Ordering::SeqCst))
            }
        });
        let mut server = Server::new("asks", "1.0.0").add_tool(pay);
        if is_single_use {
            server = server.single_use_states();
        }
        let mut peer = Peer::connect(server, MODERN, able()).await;
        let asked = peer.request("tools/call", tool("pay")).await;
        let answers = json!({ "who": accept(json!({ "name": "Ada" })) });
        let retry = retry(&tool("pay"), &asked, answers);
        peer.request("tools/call", retry.clone()).await;
        let again = peer.request("tools/call", retry).await;
        assert_eq!(again["error"]["code"] == -32602, is_single_use, "{again}");
        let expected = if is_single_use { 1 } else { 2 };
        assert_eq!(done.load(Ordering::SeqCst), expected);
    }
}

// spec: 2026-07-28 N-MRTR-03
#[tokio::test(start_paused = true)]
async fn a_handler_that_asks_nothing_is_answered_at_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let runs = Arc::clone(&count);
    let plain = Tool::new("plain").handler(move || {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        async move { Json(json!({ "run": run })) }
    });
    let server = Server::new("asks", "1.0.0").add_tool(plain);
    let mut peer = Peer::connect(server, MODERN, able()).await;
    let answered = peer.request("tools/call", tool("plain")).await;
    assert_eq!(answered["result"]["resultType"], "complete");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
