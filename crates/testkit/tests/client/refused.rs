//! Requests of a server that a client rejects or changes around its handlers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_client::{Client, ClientBuilder, SamplingError};
use pintle_model::{IncludeContext, JsonObject};
use pintle_runtime::Answer;
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use crate::client::{good, within};

const SECOND: Duration = Duration::from_secs(1);

/// Connects to a server that asks in the middle of a call, and returns the answer to that.
async fn answer_to(builder: ClientBuilder, method: &'static str, params: Value) -> Value {
    let offered = "2025-11-25";
    answer_in(offered, builder, method, params).await
}

/// Returns the answer to a request of the server in a session of one revision.
async fn answer_in(
    revision: &'static str,
    builder: ClientBuilder,
    method: &'static str,
    params: Value,
) -> Value {
    let server = HostileServer::new(move |out, incoming| match incoming["method"].as_str() {
        Some("initialize") => {
            let server = json!({ "name": "s", "version": "1" });
            let result = json!({ "protocolVersion": revision, "capabilities": { "tools": {} }, "serverInfo": server });
            out.reply(incoming, result);
        }
        Some("server/discover") => out.fail(incoming, -32601, "no"),
        Some("tools/call") => {
            out.send(json!({ "jsonrpc": "2.0", "id": "q", "method": method, "params": params }));
            out.send_after(
                SECOND,
                json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": good() }),
            );
        }
        _ => {}
    });
    let client = within(builder.connect(server.clone())).await;
    let client = client.expect("it opens");
    within(client.call_tool("t", ())).await.expect("a result");
    let received = server.received().into_iter();
    let mut answers: Vec<_> = received.filter(|incoming| incoming["id"] == "q").collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

fn form_with(schema: Value) -> Value {
    json!({ "message": "?", "requestedSchema": schema })
}

// spec: 2025-11-25 JSCH-07
#[tokio::test(start_paused = true)]
async fn a_form_of_an_unknown_dialect_is_rejected_before_it_is_shown() {
    for (dialect, is_known) in [
        ("urn:unknown:dialect", false),
        ("http://json-schema.org/draft-04/schema#", false),
        ("https://json-schema.org/draft/2020-12/schema", true),
        ("http://json-schema.org/draft-07/schema#", true),
    ] {
        let schema = json!({ "$schema": dialect, "type": "object", "properties": {} });
        let builder = Client::builder().on_elicit(move |form| async move {
            assert!(is_known, "the form is shown");
            Answer::Accepted(form.defaults)
        });
        let answer = answer_to(builder, "elicitation/create", form_with(schema)).await;
        if is_known {
            assert_eq!(answer["result"]["action"], "accept", "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            let message = answer["error"]["message"].as_str().expect("a message");
            assert!(message.contains(dialect), "{message}");
        }
    }
}

// spec: 2025-11-25 ELIC-16
#[tokio::test(start_paused = true)]
async fn a_form_with_a_nested_field_is_rejected_before_it_is_shown() {
    let nested = json!({ "type": "object", "properties": { "street": { "type": "string" } } });
    let list = json!({ "type": "array", "items": nested });
    for field in [nested, list] {
        let schema = json!({ "type": "object", "properties": { "address": field } });
        let builder = Client::builder().on_elicit(async |_| panic!("the form is shown"));
        let answer = answer_to(builder, "elicitation/create", form_with(schema)).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("\"address\""), "{message}");
    }
}

// spec: 2025-11-25 SAMP-06, ELIC-11
#[tokio::test(start_paused = true)]
async fn a_request_without_its_capability_is_unknown_or_has_invalid_params() {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let sampling = json!({ "messages": [], "maxTokens": 1, "tools": [tool] });
    let url =
        json!({ "mode": "url", "message": "?", "url": "https://a.example", "elicitationId": "1" });
    let form = form_with(json!({ "type": "object", "properties": {} }));
    let odd = json!({ "mode": "odd", "message": "?" });
    let none = Client::builder;
    let asked = || Client::builder().on_elicit(async |_| panic!("the form is shown"));
    let visits = || Client::builder().on_elicit_url(async |_| panic!("the URL is shown"));
    let samples = || Client::builder().on_sample(async |_| panic!("the model is asked"));
    for (builder, method, params, code) in [
        (none(), "sampling/createMessage", sampling.clone(), -32601),
        (samples(), "sampling/createMessage", sampling, -32602),
        (none(), "elicitation/create", form.clone(), -32601),
        (visits(), "elicitation/create", form, -32602),
        (none(), "elicitation/create", url.clone(), -32601),
        (asked(), "elicitation/create", url, -32602),
        (none(), "elicitation/create", odd.clone(), -32601),
        (asked(), "elicitation/create", odd, -32602),
        (none(), "elicitation/create", json!({}), -32601),
        (none(), "roots/list", json!({}), -32601),
    ] {
        let answer = answer_to(builder, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}");
    }
}

// spec: 2026-07-28 N-SAMP-10
#[tokio::test(start_paused = true)]
async fn context_that_was_not_declared_is_not_asked_of_the_model() {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "?" } });
    let params = json!({ "messages": [message], "maxTokens": 1, "includeContext": "allServers" });
    for version in ["2025-06-18", "2025-11-25"] {
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let sees = Arc::clone(&seen);
        let builder = Client::builder().on_sample(move |params| {
            sees.lock().expect("no panic").push(params.include_context);
            async { Err(SamplingError::Refused) }
        });
        let method = "sampling/createMessage";
        let answer = answer_in(version, builder, method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -1, "{answer}");
        // 2025-06-18 has no capability for the context, so a server may request it.
        let expected = (version == "2025-06-18").then_some(IncludeContext::AllServers);
        assert_eq!(*seen.lock().expect("no panic"), [expected], "{version}");
    }
}

// spec: 2025-11-25 AMB-77
#[tokio::test(start_paused = true)]
async fn defaults_fill_the_fields_that_an_answer_leaves_out_unless_that_is_off() {
    let colour = json!({ "type": "string", "default": "red" });
    let schema = json!({ "type": "object", "properties": { "colour": colour } });
    for (fills, expected) in [(true, json!({ "colour": "red" })), (false, json!({}))] {
        let builder = Client::builder()
            .fill_form_defaults(fills)
            .on_elicit(async |form| {
                assert_eq!(form.defaults["colour"], "red", "the handler shows it");
                Answer::Accepted(JsonObject::new())
            });
        let answer = answer_to(builder, "elicitation/create", form_with(schema.clone())).await;
        assert_eq!(answer["result"]["content"], expected, "{answer}");
    }
}
