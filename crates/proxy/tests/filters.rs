//! Filters of tools, and results that are cut.

use std::time::Duration;

use pintle::client::{Approvals, CallError, Client};
use pintle::model::{CallToolResult, ContentBlock, Revision};
use pintle_proxy::{ProxyError, ProxyOptions, ToolFilter};
use serde_json::{Value, json};

use crate::server::{Chain, chain_of, pairs, text};

async fn filtered(pair: (Revision, Revision), filter: ToolFilter) -> Chain {
    chain_of(Client::builder(), pair, ProxyOptions::default(), filter)
        .await
        .expect("a valid filter")
}

async fn names(chain: &Chain) -> Vec<String> {
    let tools = chain.client.list_tools().await.expect("a list");
    tools.iter().map(|tool| tool.name.clone()).collect()
}

fn code<T: std::fmt::Debug>(result: Result<T, CallError>) -> Option<i64> {
    let error = result.expect_err("an error");
    error.answer().map(|error| error.code.0)
}

#[tokio::test(start_paused = true)]
async fn a_hidden_tool_is_neither_listed_nor_called() {
    for pair in pairs() {
        let filter = ToolFilter::default().only("*o*").without("root");
        let chain = filtered(pair, filter).await;
        assert_eq!(names(&chain).await, ["echo", "book", "count"], "{pair:?}");
        for hidden in ["root", "wait"] {
            assert_eq!(code(chain.client.call_tool(hidden, ()).await), Some(-32602));
        }
        assert_eq!(chain.counts.cancelled(), 0);
        let echoed = chain
            .client
            .call_tool("echo", json!({ "text": "hi" }))
            .await;
        assert_eq!(text(&echoed.expect("a result")), "hi");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repeated_name_does_not_pass_a_filter() {
    let chain = filtered(pairs()[3], ToolFilter::default().only("echo")).await;
    for params in [
        r#"{"name":"echo","name":"wait"}"#,
        r#"{"name":"echo","n\u0061me":"wait"}"#,
        r#"{"name":["wait"]}"#,
        "{}",
    ] {
        let call = chain.client.forward("tools/call", params);
        assert_eq!(code(call.await), Some(-32602), "{params}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_renamed_tool_has_only_its_new_name() {
    for pair in pairs() {
        let filter = ToolFilter::default()
            .rename("echo", "say")
            .rename("root", "wait");
        let chain = filtered(pair, filter).await;
        assert_eq!(
            names(&chain).await,
            ["say", "book", "count", "wait", "ship"],
            "{pair:?}"
        );
        let said = chain.client.call_tool("say", json!({ "text": "hi" })).await;
        assert_eq!(text(&said.expect("a result")), "hi");
        let old = chain
            .client
            .call_tool("echo", json!({ "text": "hi" }))
            .await;
        assert_eq!(code(old), Some(-32602));
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_name_belongs_to_one_tool() {
    let filter = ToolFilter::default()
        .rename("echo", "a")
        .rename("root", "a");
    let chain = chain_of(
        Client::builder(),
        pairs()[0],
        ProxyOptions::default(),
        filter,
    );
    assert!(matches!(chain.await, Err(ProxyError::Names { name }) if name == "a"));
}

#[tokio::test(start_paused = true)]
async fn a_fixed_argument_replaces_that_of_the_client() {
    for pair in pairs() {
        let filter = ToolFilter::default()
            .rename("echo", "say")
            .fixed_argument("echo", "text", "fixed")
            .hidden_argument("ship", "region");
        let chain = filtered(pair, filter).await;
        let tools = chain.client.list_tools().await.expect("a list");
        let say = tools
            .iter()
            .find(|tool| tool.name == "say")
            .expect("a tool");
        assert_eq!(say.input_schema["properties"], json!({}));
        assert_ne!(say.input_schema.get("required"), Some(&json!(["text"])));
        for arguments in [json!({}), json!({ "text": "own" })] {
            let said = chain.client.call_tool("say", arguments).await;
            assert_eq!(text(&said.expect("a result")), "fixed", "{pair:?}");
        }
        assert!(chain.proxy_headers("ship").is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn only_approved_definitions_are_listed_and_called() {
    for pair in pairs() {
        let approvals = Approvals::default();
        let plain = filtered(pair, ToolFilter::default()).await;
        let tools = plain.client.list_tools().await.expect("a list");
        for tool in tools.iter().filter(|tool| tool.name != "wait") {
            let mut approved = tool.clone();
            if tool.name == "root" {
                approved.description = Some("Another text.".to_owned());
            }
            approvals.approve(&approved);
        }
        let chain = filtered(pair, ToolFilter::default().approved(approvals)).await;
        assert_eq!(
            names(&chain).await,
            ["echo", "book", "count", "ship"],
            "{pair:?}"
        );
        for refused in ["wait", "root"] {
            assert_eq!(
                code(chain.client.call_tool(refused, ()).await),
                Some(-32602)
            );
        }
        let echoed = chain
            .client
            .call_tool("echo", json!({ "text": "hi" }))
            .await;
        assert_eq!(text(&echoed.expect("a result")), "hi");
    }
}

/// Returns a chain whose results have at most 100 bytes.
async fn cutting(pair: (Revision, Revision), set: impl FnOnce(&mut ProxyOptions)) -> Chain {
    let mut options = ProxyOptions::default();
    options.max_result_bytes = Some(100);
    set(&mut options);
    let chain = chain_of(Client::builder(), pair, options, ToolFilter::default());
    chain.await.expect("a server")
}

async fn echo(chain: &Chain, long: &str) -> CallToolResult {
    let echoed = chain.client.call_tool("echo", json!({ "text": long }));
    echoed.await.expect("a result")
}

fn link(result: &CallToolResult) -> Option<String> {
    let mut blocks = result.content.iter().rev();
    blocks.find_map(|block| match block {
        ContentBlock::ResourceLink(link) => Some(link.uri.clone()),
        _ => None,
    })
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_cut_links_to_its_remainder() {
    for pair in pairs() {
        let chain = cutting(pair, |_| {}).await;
        assert_eq!(text(&echo(&chain, "short").await), "short");
        let long: String = "ä\"b".repeat(100);
        let result = echo(&chain, &long).await;
        let head = text(&result);
        assert_eq!(head.len(), "ä\"b".repeat(20).len(), "{pair:?}");
        let uri = link(&result).expect("a link");
        let read = chain
            .client
            .read_resource(&uri)
            .await
            .expect("the remainder");
        let read = serde_json::to_value(&read.contents).expect("JSON");
        let tail = read[0]["text"].as_str().expect("text");
        assert_eq!(format!("{head}{tail}"), long);
        assert_eq!(read[0]["uri"], Value::from(&*uri));
        // The resources of the server are there as well.
        assert!(chain.client.read_resource("memo:///a").await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn a_remainder_belongs_to_its_session_and_expires() {
    let chain = cutting(pairs()[0], |_| {}).await;
    let uri = link(&echo(&chain, &"x".repeat(500)).await).expect("a link");
    let other = chain.another_client().await;
    assert_eq!(code(other.read_resource(&uri).await), Some(-32002));
    assert!(chain.client.read_resource(&uri).await.is_ok());
    tokio::time::sleep(Duration::from_secs(601)).await;
    assert_eq!(code(chain.client.read_resource(&uri).await), Some(-32002));
}

#[tokio::test(start_paused = true)]
async fn remainders_have_a_limit_of_number_and_of_bytes() {
    let chain = cutting(pairs()[3], |options| {
        options.max_remainders = 2;
        options.max_remainder_bytes = 1_000;
    })
    .await;
    let mut uris = Vec::new();
    for _ in 0..3 {
        uris.push(link(&echo(&chain, &"x".repeat(300)).await).expect("a link"));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(
        code(chain.client.read_resource(&uris[0]).await),
        Some(-32602)
    );
    assert!(chain.client.read_resource(&uris[1]).await.is_ok());
    let last = link(&echo(&chain, &"x".repeat(800)).await).expect("a link");
    assert_eq!(
        code(chain.client.read_resource(&uris[2]).await),
        Some(-32602)
    );
    assert!(chain.client.read_resource(&last).await.is_ok());
    assert_eq!(link(&echo(&chain, &"x".repeat(2_000)).await), None);
}

#[tokio::test(start_paused = true)]
async fn tools_whose_results_may_be_cut_have_no_output_schema() {
    let chain = cutting(pairs()[3], |_| {}).await;
    let tools = chain.client.list_tools().await.expect("a list");
    assert!(tools.iter().all(|tool| tool.output_schema.is_none()));
}
