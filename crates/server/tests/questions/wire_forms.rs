//! The members of questions on the wire, in each revision, and the clients that are not asked.

use pintle_model::{
    ContentBlock, CreateMessageParams, ElicitSchema, IncludeContext, SamplingMessage, StringSchema,
    Tool as ModelTool,
};
use pintle_runtime::{AskError, Context};
use pintle_server::{Resource, Server, Tool};
use serde_json::{Value, json};

use crate::questions::peer::{LEGACY, MODERN, Peer, able, accept, text, tool};

const ALL: [&str; 5] = [LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3], MODERN];

fn question() -> Vec<SamplingMessage> {
    vec![SamplingMessage::user("Say something")]
}

fn preferences() -> Value {
    json!({ "hints": [{ "name": "m" }], "speedPriority": 0.5 })
}

async fn full(cx: Context) -> Result<String, AskError> {
    let mut params = CreateMessageParams::new(question(), 100);
    params.model_preferences = serde_json::from_value(preferences()).ok();
    params.system_prompt = Some("Be brief".to_owned());
    params.include_context = Some(IncludeContext::ThisServer);
    params.temperature = Some(0.5);
    params.stop_sequences = Some(vec!["END".to_owned()]);
    params.metadata = json!({ "a": 1 }).as_object().cloned();
    cx.sample(params).await.map(|_| "said".to_owned())
}

async fn with_tools(cx: Context) -> Result<String, AskError> {
    let add: ModelTool =
        serde_json::from_value(json!({ "name": "add", "inputSchema": { "type": "object" } }))
            .expect("a tool");
    let params = CreateMessageParams::with_tools(question(), 100, vec![add]);
    cx.sample(params).await.map(|_| "said".to_owned())
}

async fn unbalanced(cx: Context) -> Result<String, AskError> {
    let result: ContentBlock = serde_json::from_value(
        json!({ "type": "tool_result", "toolUseId": "nobody's", "content": [] }),
    )
    .expect("a block");
    let messages = vec![SamplingMessage::user(result)];
    let params = CreateMessageParams::new(messages, 100);
    cx.sample(params).await.map(|_| "said".to_owned())
}

async fn form(cx: Context) -> Result<String, AskError> {
    let schema = ElicitSchema::new().required("word", StringSchema::new());
    cx.elicit_form("Say a word", schema)
        .await
        .map(|_| "said".to_owned())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Stay {
    hours: u8,
    nights: Option<i64>,
}

async fn stay(cx: Context) -> Result<String, AskError> {
    let stay = cx.elicit::<Stay>("How long?").await?.accepted();
    let stay = stay.map(|stay| format!("{} {:?}", stay.hours, stay.nights));
    Ok(stay.unwrap_or_default())
}

async fn twice(cx: Context) -> Result<String, AskError> {
    let (before, after) = (cx.list_roots().await?, cx.list_roots().await?);
    Ok(format!("{} then {}", before.len(), after.len()))
}

fn server() -> Server {
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("full").handler(full))
        .add_tool(Tool::new("tools").handler(with_tools))
        .add_tool(Tool::new("unbalanced").handler(unbalanced))
        .add_tool(Tool::new("form").handler(form))
        .add_tool(Tool::new("stay").handler(stay))
        .add_tool(Tool::new("twice").handler(twice))
        .add_resource(Resource::new("form://", "form").reader(form))
}

fn model_answer(_: &str, _: &Value) -> Value {
    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "hm" } })
}

// spec: 2025-11-25 SAMP-07, SAMP-08, SAMP-09
// spec: 2026-07-28 N-SAMP-03, N-SAMP-10
#[tokio::test(start_paused = true)]
async fn a_model_is_asked_with_everything_but_context_that_was_not_declared() {
    let with_context = json!({ "sampling": { "context": {} } });
    for revision in ALL {
        for (capabilities, has_context) in [(able(), false), (with_context.clone(), true)] {
            let mut peer = Peer::connect(server(), revision, capabilities).await;
            let answered = peer
                .complete("tools/call", tool("full"), model_answer)
                .await;
            assert_eq!(text(&answered), "said");
            let params = &peer.asked[0].1;
            assert_eq!(params["messages"][0]["content"]["text"], "Say something");
            for (name, value) in [
                ("maxTokens", json!(100)),
                ("modelPreferences", preferences()),
                ("systemPrompt", json!("Be brief")),
                ("temperature", json!(0.5)),
                ("stopSequences", json!(["END"])),
                ("metadata", json!({ "a": 1 })),
            ] {
                assert_eq!(params[name], value, "{revision}");
            }
            // Before there was anything to declare, it was not asked for.
            let may_have =
                has_context || matches!(revision, "2024-11-05" | "2025-03-26" | "2025-06-18");
            assert_eq!(params["includeContext"].is_string(), may_have, "{revision}");
        }
    }
}

// spec: 2025-11-25 SAMP-05, SAMP-09
// spec: 2026-07-28 N-SAMP-02, N-SAMP-03
#[tokio::test(start_paused = true)]
async fn tools_are_offered_to_no_model_that_takes_none() {
    let plain = json!({ "sampling": {} });
    for revision in LEGACY {
        let mut peer = Peer::connect(server(), revision, plain.clone()).await;
        let answered = peer.request("tools/call", tool("tools")).await;
        assert_eq!(
            text(&answered),
            "the client does not support sampling with tools"
        );
    }
    let mut peer = Peer::connect(server(), MODERN, plain).await;
    let refused = peer.request("tools/call", tool("tools")).await;
    assert_eq!(refused["error"]["code"], -32021);
    for revision in ["2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        peer.complete("tools/call", tool("tools"), model_answer)
            .await;
        assert_eq!(peer.asked[0].1["tools"][0]["name"], "add");
    }
}

// spec: 2025-11-25 SAMP-31, SAMP-15
#[tokio::test(start_paused = true)]
async fn a_conversation_that_makes_no_sense_is_not_sent() {
    for revision in ["2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answered = peer.request("tools/call", tool("unbalanced")).await;
        assert!(
            text(&answered).starts_with("the question cannot be asked"),
            "{answered}"
        );
    }
}

// spec: 2025-11-25 ELIC-12, ELIC-13, ELIC-15
// spec: 2026-07-28 N-ELIC-03
#[tokio::test(start_paused = true)]
async fn a_form_says_its_mode_where_there_are_others() {
    let word = |_: &str, _: &Value| accept(json!({ "word": "a" }));
    for (revision, mode) in [
        ("2025-06-18", Value::Null),
        ("2025-11-25", json!("form")),
        (MODERN, json!("form")),
    ] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        peer.complete("tools/call", tool("form"), word).await;
        let params = &peer.asked[0].1;
        assert_eq!(params["mode"], mode, "{revision}");
        assert_eq!(params["message"], "Say a word");
        assert_eq!(params["requestedSchema"]["type"], "object");
        assert_eq!(
            params["requestedSchema"]["properties"]["word"]["type"],
            "string"
        );
        assert_eq!(params["requestedSchema"]["required"], json!(["word"]));
    }
}

// spec: 2025-11-25 ELIC-69
// spec: 2026-07-28 N-ELIC-19
#[tokio::test(start_paused = true)]
async fn an_integer_in_an_answer_may_be_written_with_a_fraction_of_zero() {
    for revision in ["2025-06-18", "2025-11-25", MODERN] {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let answer = |_: &str, _: &Value| accept(json!({ "hours": 3.0, "nights": -2.0 }));
        let answered = peer.complete("tools/call", tool("stay"), answer).await;
        assert_eq!(text(&answered), "3 Some(-2)", "{revision}");
        assert_eq!(peer.asked.len(), 1, "{revision}");
    }
}

// spec: 2025-11-25 ROOT-13, ROOT-12 (changes)
// spec: 2026-07-28 N-ROOT-02
#[tokio::test(start_paused = true)]
async fn roots_are_asked_for_anew_each_time() {
    for revision in ALL {
        let mut peer = Peer::connect(server(), revision, able()).await;
        let mut roots = json!([]);
        let answered = peer
            .complete("tools/call", tool("twice"), |method, _| {
                assert_eq!(method, "roots/list");
                let now = roots.clone();
                roots = json!([{ "uri": "file:///a" }]);
                json!({ "roots": now })
            })
            .await;
        assert_eq!(text(&answered), "0 then 1", "{revision}");
    }
}

// spec: 2026-07-28 N-MRTR-27, N-MRTR-30
#[tokio::test(start_paused = true)]
async fn questions_are_never_cached_and_nonsense_is_an_error() {
    let mut peer = Peer::connect(server(), MODERN, able()).await;
    let asked = peer
        .request("resources/read", json!({ "uri": "form://" }))
        .await;
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&Value::Null, &Value::Null)
    );
    for responses in [json!(7), json!([]), json!("x")] {
        let mut nonsense = tool("form");
        nonsense["inputResponses"] = responses;
        let rejected = peer.request("tools/call", nonsense).await;
        assert_eq!(rejected["error"]["code"], -32602, "{rejected}");
    }
}
