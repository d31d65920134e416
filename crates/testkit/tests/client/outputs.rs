//! Outputs of tools, checked against their output schemas.

use pintle_client::{CallError, Client, OutputCheck, OutputError, OutputErrorKind};
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

use super::within;

/// A server whose tools have the output schema `promised`; the name of a tool describes its output.
fn server(promised: Value) -> HostileServer {
    HostileServer::legacy(move |out, message| {
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": promised });
        match (
            message["method"].as_str(),
            message["params"]["name"].as_str(),
        ) {
            (Some("tools/list"), _) if message["params"]["cursor"].is_null() => {
                let first: Vec<_> = ["good", "bad", "none"].map(tool).to_vec();
                out.reply(message, json!({ "tools": first, "nextCursor": "2" }));
            }
            (Some("tools/list"), _) => {
                let plain = json!({ "name": "plain", "inputSchema": { "type": "object" } });
                out.reply(message, json!({ "tools": [tool("failed"), plain] }));
            }
            (_, Some("good")) => {
                out.reply(
                    message,
                    json!({ "content": [], "structuredContent": { "a": 1 } }),
                );
            }
            (_, Some("failed")) => out.reply(message, json!({ "content": [], "isError": true })),
            (_, Some("none" | "plain")) => out.reply(message, json!({ "content": [] })),
            (_, Some("change")) => {
                out.notify("notifications/tools/list_changed", json!({}));
                out.reply(message, json!({ "content": [] }));
            }
            _ => out.reply(
                message,
                json!({ "content": [], "structuredContent": { "a": "1" } }),
            ),
        }
    })
}

fn promise() -> Value {
    json!({ "type": "object", "properties": { "a": { "type": "integer" } } })
}

async fn client(server: &HostileServer, check: OutputCheck) -> Client {
    let builder = Client::builder().check_output(check);
    within(builder.connect(server.clone()))
        .await
        .expect("it opens")
}

/// The fault of a tool's output; none if the output is valid.
async fn unfit(client: &Client, tool: &str) -> Option<OutputError> {
    match within(client.call_tool(tool, ())).await {
        Ok(_) => None,
        Err(error) => Some(error.unfit_output().expect("no other fault").clone()),
    }
}

// spec: 2025-11-25 TOOL-23, AMB-57
// spec: 2026-07-28 N-TOOL-11
#[tokio::test(start_paused = true)]
async fn the_output_of_a_listed_tool_is_checked_against_its_schema() {
    let server = server(promise());
    let client = client(&server, OutputCheck::default()).await;
    assert_eq!(unfit(&client, "bad").await, None, "nothing is known of it");
    within(client.list_tools()).await.expect("a list");
    for name in ["good", "failed", "plain", "unlisted"] {
        assert_eq!(unfit(&client, name).await, None, "{name}");
    }
    let bad = unfit(&client, "bad").await.expect("it is unfit");
    let OutputErrorKind::Violations(violations) = &bad.fault else {
        panic!("{bad}");
    };
    assert_eq!((&*bad.tool, &*violations[0].pointer), ("bad", "/a"));
    assert_eq!(violations[0].expected, "an integer");
    assert_eq!(bad.result.structured_content, Some(json!({ "a": "1" })));
    let none = unfit(&client, "none").await.expect("it is unfit");
    assert_eq!(none.fault, OutputErrorKind::Missing);
    assert_eq!(server.count("tools/list"), 2, "nothing was asked for it");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_stays_text_passes_the_same_checks() {
    let server = server(promise());
    let client = client(&server, OutputCheck::default()).await;
    let call = |name: &str| {
        let params = json!({ "name": name }).to_string();
        within(client.request_checked("tools/call", &params))
    };
    let list = client.list_raw("tools/list").expect("a list");
    within(list).await.expect("a list");
    let good = call("good").await.expect("a result");
    assert_eq!(
        good.get(),
        "{\"content\":[],\"structuredContent\":{\"a\":1}}"
    );
    let bad = call("bad").await.expect_err("it violates the schema");
    assert!(bad.unfit_output().is_some(), "{bad}");
    let params = json!({ "uri": "x:y" }).to_string();
    let read = within(client.request_checked("resources/read", &params)).await;
    assert!(
        matches!(read, Err(CallError::Misbehaved { .. })),
        "{read:?}"
    );
    let other = within(client.request_checked("x/other", "{}")).await;
    assert!(other.is_ok(), "{other:?}");
}

// spec: 2025-11-25 TOOL-23
// spec: 2026-07-28 N-TOOL-11
#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_looked_up_if_outputs_are_always_checked() {
    let server = server(promise());
    let client = client(&server, OutputCheck::Always).await;
    assert!(unfit(&client, "bad").await.is_some());
    assert_eq!(server.count("tools/list"), 1, "as far as the tool");
    assert!(unfit(&client, "bad").await.is_some());
    assert_eq!(server.count("tools/list"), 1, "once");
    assert_eq!(
        unfit(&client, "change").await,
        None,
        "it is not in the list"
    );
    let before = server.count("tools/list");
    assert!(unfit(&client, "bad").await.is_some());
    assert_eq!(server.count("tools/list"), before + 1, "the tools changed");
}

#[tokio::test(start_paused = true)]
async fn schemas_are_discarded_when_the_tools_have_changed() {
    let server = server(promise());
    let client = client(&server, OutputCheck::Listed).await;
    within(client.list_tools()).await.expect("a list");
    assert!(unfit(&client, "bad").await.is_some());
    assert_eq!(unfit(&client, "change").await, None);
    assert_eq!(unfit(&client, "bad").await, None);
    within(client.list_tools()).await.expect("a list");
    assert!(unfit(&client, "bad").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn outputs_are_not_checked_where_that_is_turned_off() {
    let server = server(json!({ "type": 7 }));
    let client = client(&server, OutputCheck::Off).await;
    within(client.list_tools()).await.expect("a list");
    assert_eq!(unfit(&client, "bad").await, None);
}

// spec: 2026-07-28 N-SCH-03, N-SCH-04, N-SCH-05, N-SCH-07, N-SCH-08
// hardening: H-80
// spec: 2025-11-25 JSCH-07
#[tokio::test(start_paused = true)]
async fn a_tool_whose_promise_cannot_be_read_is_not_called() {
    let deep = (0..65).fold(json!({}), |inner, _| json!({ "not": inner }));
    for promised in [
        json!({ "$schema": "urn:own" }),
        json!({ "type": 7 }),
        json!({ "$ref": "https://a.example/s.json" }),
        deep,
    ] {
        let server = server(promised.clone());
        let client = client(&server, OutputCheck::Listed).await;
        within(client.list_tools()).await.expect("a list");
        let error = within(client.call_tool("good", ())).await;
        let error = error.expect_err("it makes no sense");
        assert!(
            matches!(&error, CallError::UnusableOutputSchema { tool, .. } if tool == "good"),
            "{promised}"
        );
        assert!(error.is_retryable());
        assert_eq!(server.count("tools/call"), 0, "{promised}");
    }
}

// spec: 2026-07-28 N-SCH-02
#[tokio::test(start_paused = true)]
async fn keywords_that_cannot_be_enforced_reject_no_output() {
    let server = server(json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/O", "type": "null",
        "definitions": { "O": { "unevaluatedProperties": false, "patternProperties": { "^(?=x)": false },
            "propertyNames": { "format": "own", "pattern": "(?<=b)$" }, "x-own": [] } },
    }));
    let client = client(&server, OutputCheck::Listed).await;
    within(client.list_tools()).await.expect("a list");
    assert_eq!(unfit(&client, "good").await, None);
    assert_eq!(
        unfit(&client, "none").await.map(|unfit| unfit.fault),
        Some(OutputErrorKind::Missing)
    );
}
