//! Layers, limits, hidden arguments and tags of single tools.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use pintle::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::server::peer::{MODERN, Peer, REVISIONS};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Search {
    query: String,
    tenant: String,
    limit: Option<u8>,
}

fn search() -> Tool {
    Tool::new("search").handler(async |search: Search| {
        let limit = search.limit.unwrap_or(20);
        format!("{} of {}, {limit}", search.query, search.tenant)
    })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

#[tokio::test]
async fn layers_of_a_tool_are_inside_those_of_its_server() {
    for revision in REVISIONS {
        let order = Arc::new(Mutex::new(Vec::new()));
        let layer = |name| {
            let order = Arc::clone(&order);
            move |request, next: pintle::server::Next<_, _>| {
                order.lock().expect("no panic").push(name);
                next.run(request)
            }
        };
        let tool = |name| Tool::new(name).handler(async || "done");
        let layered = tool("layered").layer(layer("first")).layer(layer("second"));
        let server = Server::new("s", "1")
            .on_tool_call(layer("server"))
            .add_tool(layered)
            .add_tool(tool("other"));
        let mut peer = Peer::of(server, revision).await;
        peer.call("other", json!({})).await;
        peer.call("layered", json!({})).await;
        let expected = ["server", "server", "first", "second"];
        assert_eq!(*order.lock().expect("no panic"), expected, "{revision}");
    }
}

#[tokio::test]
async fn no_more_calls_than_the_limit_run_at_the_same_time() {
    let (started, may_end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (start, end) = (Arc::clone(&started), Arc::clone(&may_end));
    let tool = Tool::new("work").handler(move || {
        let (start, end) = (Arc::clone(&start), Arc::clone(&end));
        async move {
            start.add_permits(1);
            end.acquire().await.expect("open").forget();
        }
    });
    let tool = tool.max_concurrent(NonZeroUsize::new(2).expect("not 0"));
    let other = Tool::new("other").handler(async || "done");
    let server = Server::new("s", "1").add_tool(tool).add_tool(other);
    let mut peer = Peer::of(server, MODERN).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(peer.request("tools/call", json!({ "name": "work" })).await);
    }
    started.acquire_many(2).await.expect("open").forget();
    // The third call has arrived before this one, which another tool answers.
    peer.call("other", json!({})).await;
    assert_eq!(started.available_permits(), 0, "a third call runs");
    may_end.add_permits(1);
    started.acquire().await.expect("open").forget();
    may_end.add_permits(2);
    for id in ids {
        peer.first(|message| message["id"] == id).await;
    }
}

#[tokio::test]
async fn a_hidden_argument_is_not_listed_and_has_its_value() {
    for revision in REVISIONS {
        let tool = search()
            .fixed_argument("tenant", "harbour")
            .hidden_argument("limit", |cx| json!(cx.request().method.as_str().len()));
        let mut peer = Peer::of(Server::new("s", "1").add_tool(tool), revision).await;
        let listed = peer.result("tools/list", json!({})).await;
        let schema = &listed["tools"][0]["inputSchema"];
        assert_eq!(schema["required"], json!(["query"]), "{revision}");
        let names: Vec<_> = schema["properties"]
            .as_object()
            .expect("properties")
            .keys()
            .collect();
        assert_eq!(names, ["query"], "{revision}");

        let called = peer.call("search", json!({ "query": "boats" })).await;
        assert_eq!(text(&called), "boats of harbour, 10", "{revision}");
    }
}

#[tokio::test]
async fn a_client_cannot_set_a_hidden_argument() {
    let tool = search().fixed_argument("tenant", "harbour");
    let mut peer = Peer::of(Server::new("s", "1").add_tool(tool), MODERN).await;
    for arguments in [
        json!({ "query": "a", "tenant": "b" }),
        json!({ "tenant": null, "query": "a" }),
    ] {
        let called = peer.call("search", arguments).await;
        assert_eq!(called["isError"], true, "{called}");
        assert_eq!(text(&called), "the tool has no argument `tenant`");
    }
    let params = json!({ "name": "search", "arguments": ["a", "b"] });
    assert_eq!(peer.error("tools/call", params).await["code"], -32602);
}

#[test]
fn a_hidden_argument_that_the_tool_does_not_have_is_an_error_at_start() {
    let server = Server::new("s", "1").add_tool(search().fixed_argument("city", "x"));
    let error = server.build().expect_err("the argument is absent");
    let source = std::error::Error::source(&error).map(ToString::to_string);
    let text = format!("{error} {source:?}");
    assert!(text.contains("`city` cannot be hidden"), "{text}");
}

/// Returns a server with tags, and one that is mounted on it.
fn tagged() -> Server {
    let tool = |name| Tool::new(name).handler(async || "done");
    let mounted = Server::new("m", "1")
        .add_tool(tool("read").tag("public"))
        .add_tool(tool("erase").tag("public").tag("admin"));
    let page = |name: &str, tag| {
        let page = Resource::new(format!("page://{name}"), name);
        page.reader(async || "text").tag(tag)
    };
    Server::new("s", "1")
        .add_tool(tool("plain"))
        .add_tool(tool("reset").tag("admin"))
        .add_resource(page("a", "public"))
        .add_resource(page("b", "admin"))
        .mount("m", mounted)
}

async fn names(server: Server) -> (Vec<String>, Vec<String>) {
    let mut peer = Peer::of(server, MODERN).await;
    let mut of = async |method: &str, key: &str| -> Vec<String> {
        let listed = peer.result(method, json!({})).await;
        let items = listed[key].as_array().expect("a list").iter();
        items
            .map(|it| it["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    (
        of("tools/list", "tools").await,
        of("resources/list", "resources").await,
    )
}

#[tokio::test]
async fn tags_choose_the_items_of_a_server() {
    let (tools, resources) = names(tagged().only_tags(["public"])).await;
    assert_eq!(tools, ["m_read", "m_erase"]);
    assert_eq!(resources, ["a"]);
    let (tools, resources) = names(tagged().without_tags(["admin"])).await;
    assert_eq!(tools, ["plain", "m_read"]);
    assert_eq!(resources, ["a"]);
    let chosen = tagged()
        .only_tags(["public", "admin"])
        .without_tags(["admin"]);
    assert_eq!(names(chosen).await.0, ["m_read"]);
}

#[tool(tags("admin", "slow"))]
/// Removes all documents of the archive.
async fn erase() {}

#[test]
fn the_attribute_sets_tags() {
    use pintle::server::IntoTool as _;
    let tags: Vec<String> = erase::into_tool()
        .tags()
        .iter()
        .map(|it| it.to_string())
        .collect();
    assert_eq!(tags, ["admin", "slow"]);
}
