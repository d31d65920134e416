//! Mounted servers, and layers around them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::prelude::*;
use pintle::runtime::layers::{CatchPanicLayer, LimitLayer, TimeoutLayer, TraceLayer};
use serde_json::json;

use crate::server::help_desk;
use crate::server::peer::{Peer, REVISIONS};

/// The events, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().expect("nobody panics").push(text.into());
    }

    fn pages(&self) -> Vec<String> {
        self.0.lock().expect("nobody panics").clone()
    }
}

// spec: 2026-07-28 N-TOOL-06
#[tokio::test]
async fn a_mounted_server_keeps_its_state_under_a_prefix() {
    for revision in REVISIONS {
        let lost = Server::new("lost-property", "1")
            .mount("desk", help_desk::server())
            .tool::<find>();
        let mut peer = Peer::of(lost, revision).await;
        assert_eq!(
            peer.call("find", json!({})).await["content"][0]["text"],
            "an umbrella",
            "{revision}"
        );
        let greeted = peer.call("desk_greet", json!({ "name": "Ada" })).await;
        assert_eq!(
            greeted["content"][0]["text"], "good morning, Ada",
            "{revision}"
        );
        let got = peer
            .result(
                "prompts/get",
                json!({ "name": "desk_triage", "arguments": { "report": "x" } }),
            )
            .await;
        assert_eq!(got["messages"][0]["role"], "user", "{revision}");
        let read = peer
            .result("resources/read", json!({ "uri": "desk://tickets/1" }))
            .await;
        assert_eq!(read["contents"][0]["uri"], "desk://tickets/1", "{revision}");
        let unprefixed = peer.error("tools/call", json!({ "name": "greet" })).await;
        assert_eq!(unprefixed["code"], -32602, "{revision}");
        assert_eq!(
            peer.welcome["capabilities"]["logging"],
            json!({}),
            "{revision}"
        );
    }
}

/// Finds a lost item.
#[tool]
async fn find() -> &'static str {
    "an umbrella"
}

#[tokio::test]
async fn two_servers_of_one_prefix_do_not_start() {
    let twice = Server::new("twice", "1")
        .mount("desk", help_desk::server())
        .mount("desk", help_desk::server());
    let error = twice.build().expect_err("names are taken");
    assert!(error.to_string().contains("desk_"), "{error}");
}

#[tokio::test]
async fn the_first_typed_layer_is_the_outermost() {
    for revision in REVISIONS {
        let diary = Diary::default();
        let mut server = help_desk::server();
        for layer in ["outer", "inner"] {
            let diary = diary.clone();
            server = server.on_tool_call(move |request, next| {
                let diary = diary.clone();
                async move {
                    diary.note(format!("{layer} lets {} in", request.name));
                    let reply = next.run(request).await;
                    diary.note(format!("{layer} lets it out"));
                    reply
                }
            });
        }
        let mut peer = Peer::of(server, revision).await;
        peer.call("is_open", json!({})).await;
        let pages = [
            "outer lets is_open in",
            "inner lets is_open in",
            "inner lets it out",
            "outer lets it out",
        ];
        assert_eq!(diary.pages(), pages, "{revision}");
    }
}

#[tokio::test]
async fn layers_go_around_reads_and_prompts_too() {
    for revision in REVISIONS {
        let diary = Diary::default();
        let (reads, gets) = (diary.clone(), diary.clone());
        let server = help_desk::server()
            .on_resource_read(move |request, next| {
                reads.note(&request.uri);
                next.run(request)
            })
            .on_prompt_get(move |request, next| {
                gets.note(&*request.name);
                next.run(request)
            });
        let mut peer = Peer::of(server, revision).await;
        peer.result("resources/read", json!({ "uri": "desk://hours" }))
            .await;
        peer.result("resources/read", json!({ "uri": "desk://tickets/1" }))
            .await;
        peer.result(
            "prompts/get",
            json!({ "name": "triage", "arguments": { "report": "x" } }),
        )
        .await;
        assert_eq!(
            diary.pages(),
            ["desk://hours", "desk://tickets/1", "triage"],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_layer_may_refuse() {
    for revision in REVISIONS {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let server = help_desk::server().on_tool_call(move |_request, _next| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Err(pintle::model::Error::invalid_request("the desk is closed")) }
        });
        let mut peer = Peer::of(server, revision).await;
        let refused = peer.error("tools/call", json!({ "name": "is_open" })).await;
        assert_eq!(refused["message"], "the desk is closed", "{revision}");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn service_layers_go_around_every_request() {
    for revision in REVISIONS {
        let layered = help_desk::server()
            .layer(TraceLayer)
            .layer(LimitLayer::new(8, 8))
            .layer(TimeoutLayer::new(Duration::from_secs(600)))
            .layer(CatchPanicLayer);
        let mut peer = Peer::of(layered, revision).await;
        assert_eq!(
            peer.call("count", json!({ "to": 3 })).await["content"][0]["text"],
            "3",
            "{revision}"
        );
        let closed = Peer::of(help_desk::server().layer(LimitLayer::new(0, 0)), revision);
        let error = closed.await.error("tools/list", json!({})).await;
        assert_eq!(error["code"], -32603, "{revision}");
    }
}

#[tokio::test]
async fn a_mounted_server_changes_as_it_runs() {
    for revision in REVISIONS {
        let desk = help_desk::server();
        let handle = desk.handle();
        let mut peer = Peer::of(Server::new("lost", "1").mount("desk", desk), revision).await;
        let late = Tool::new("late").handler(async || "better");
        handle.add_tool(late).expect("a tool");
        let called = peer.call("desk_late", json!({})).await;
        assert_eq!(called["content"][0]["text"], "better", "{revision}");
        if !peer.is_modern() {
            peer.receive_method("notifications/tools/list_changed")
                .await;
        }
        assert!(handle.remove_tool("late") && !handle.remove_tool("desk_late"));
    }
}

#[tokio::test]
async fn a_mounted_server_that_is_dynamic_has_its_lists_offered() {
    for revision in REVISIONS {
        let empty = Server::new("empty", "1").dynamic();
        let mut peer = Peer::of(Server::new("outer", "1").mount("in", empty), revision).await;
        let listed = peer.result("tools/list", json!({})).await;
        assert_eq!(listed["tools"], json!([]), "{revision}");
    }
}

#[test]
fn a_mounted_server_has_no_layers_that_would_not_run() {
    let inner = help_desk::server().layer(TraceLayer);
    let outer = Server::new("outer", "1").mount("desk", inner).build();
    let error = outer.expect_err("does not start").to_string();
    assert!(
        error.contains("desk_") && error.contains("on_tool_call"),
        "{error}"
    );
}
