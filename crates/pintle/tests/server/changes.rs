//! Items that are added and removed while a server runs, and their notices.

use pintle::prelude::*;
use serde_json::{Value, json};

use crate::server::help_desk::server;
use crate::server::peer::{LEGACY, MODERN, Peer, REVISIONS};

const LISTS: [(&str, &str, &str); 3] = [
    (
        "notifications/tools/list_changed",
        "toolsListChanged",
        "tools/list",
    ),
    (
        "notifications/prompts/list_changed",
        "promptsListChanged",
        "prompts/list",
    ),
    (
        "notifications/resources/list_changed",
        "resourcesListChanged",
        "resources/list",
    ),
];

fn add_one_of_each(handle: &ServerHandle) {
    handle
        .add_tool(Tool::new("late").handler(async || "better"))
        .expect("a tool");
    handle
        .add_prompt(Prompt::new("late").handler(async || "than never"))
        .expect("a prompt");
    handle
        .add_resource(Resource::text("desk://late", "late", "text"))
        .expect("a resource");
}

fn remove_one_of_each(handle: &ServerHandle) {
    assert!(
        handle.remove_tool("late")
            && handle.remove_prompt("late")
            && handle.remove_resource("desk://late")
    );
    assert!(
        !handle.remove_tool("late")
            && !handle.remove_prompt("late")
            && !handle.remove_resource("desk://late")
    );
}

// spec: 2025-11-25 TOOL-04, PROM-03, RES-04
#[tokio::test]
async fn a_session_is_notified_of_every_list_that_changes() {
    for revision in REVISIONS.into_iter().filter(|revision| *revision != MODERN) {
        let server = server();
        let handle = server.handle();
        let mut peer = Peer::of(server, revision).await;
        add_one_of_each(&handle);
        for (method, _, _) in LISTS {
            assert!(
                peer.receive_method(method).await.get("id").is_none(),
                "{revision}"
            );
        }
        assert_eq!(
            peer.call("late", json!({})).await["content"][0]["text"],
            "better",
            "{revision}"
        );
        remove_one_of_each(&handle);
        for (method, _, _) in LISTS {
            peer.receive_method(method).await;
        }
        let gone = peer.error("tools/call", json!({ "name": "late" })).await;
        assert_eq!(gone["code"], -32602, "{revision}");
    }
}

#[tokio::test]
async fn replaced_tools_are_those_of_a_tag() {
    for revision in REVISIONS {
        let server = server();
        let handle = server.handle();
        let mut peer = Peer::of(server, revision).await;
        let before = names(&mut peer).await;
        let tool = |name: &&str| Tool::new(*name).handler(async || "done");
        let replace = |names: &[&str]| handle.replace_tools("late", names.iter().map(tool));
        assert_eq!(replace(&["one", "two"]).ok(), Some(2));
        assert_eq!(replace(&["two", "three"]).ok(), Some(2));
        let after = names(&mut peer).await;
        assert_eq!(
            after,
            [&before[..], &["two".into(), "three".into()]].concat(),
            "{revision}"
        );
        let taken = replace(&["four", &before[0]]);
        assert!(taken.is_err(), "{revision}");
        assert_eq!(names(&mut peer).await, after, "{revision}");
        assert_eq!(replace(&[]).ok(), Some(0));
        assert_eq!(names(&mut peer).await, before, "{revision}");
    }
}

/// Returns the names of all tools.
async fn names(peer: &mut Peer) -> Vec<String> {
    let listed = peer.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    tools.iter().map(name).collect()
}

// spec: 2026-07-28 N-SUBS-02, N-SUBS-03, N-SUBS-07, N-SUBS-17, N-TOOL-17, N-RSRC-11, N-PROMPT-07 (changes)
#[tokio::test]
async fn a_listener_is_notified_of_the_changes_it_requested() {
    for (method, member, _) in LISTS {
        let server = server();
        let handle = server.handle();
        let mut peer = Peer::of(server, MODERN).await;
        let id = listen(&mut peer, json!({ member: true })).await;
        add_one_of_each(&handle);
        let notice = peer.receive_method(method).await;
        assert_eq!(
            notice["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            id
        );
        // All notices were sent before this answer.
        peer.result("tools/list", json!({})).await;
        assert_eq!(peer.received, [Value::Null; 0], "{member}");
    }
}

// spec: 2026-07-28 N-SUBS-02
#[tokio::test]
async fn a_client_without_a_listener_receives_no_notices() {
    let server = server();
    let handle = server.handle();
    let mut peer = Peer::of(server, MODERN).await;
    add_one_of_each(&handle);
    handle.changes().resource("desk://hours");
    peer.result("tools/list", json!({})).await;
    assert_eq!(peer.received, [Value::Null; 0]);
}

// spec: 2025-11-25 RES-03, RES-05
#[tokio::test]
async fn a_session_is_notified_of_its_subscribed_resources() {
    for revision in REVISIONS.into_iter().filter(|revision| *revision != MODERN) {
        let server = server();
        let changes = server.handle().changes().clone();
        let mut peer = Peer::of(server, revision).await;
        peer.result("resources/subscribe", json!({ "uri": "desk://hours" }))
            .await;
        changes.resource("desk://logo");
        changes.resource("desk://hours");
        let notice = peer.receive_method("notifications/resources/updated").await;
        assert_eq!(notice["params"]["uri"], "desk://hours", "{revision}");
        peer.result("resources/unsubscribe", json!({ "uri": "desk://hours" }))
            .await;
        changes.resource("desk://hours");
        peer.result("ping", json!({})).await;
        assert_eq!(peer.received, [Value::Null; 0], "{revision}");
    }
}

// spec: 2026-07-28 N-SUBS-07, N-RSRC-10
#[tokio::test]
async fn a_listener_is_notified_of_the_resources_it_named() {
    let server = server();
    let changes = server.handle().changes().clone();
    let mut peer = Peer::of(server, MODERN).await;
    let id = listen(
        &mut peer,
        json!({ "resourceSubscriptions": ["desk://hours"] }),
    )
    .await;
    changes.resource("desk://logo");
    changes.resource("desk://hours");
    let notice = peer.receive_method("notifications/resources/updated").await;
    assert_eq!(notice["params"]["uri"], "desk://hours");
    assert_eq!(
        notice["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        id
    );
}

// spec: 2025-11-25 TOOL-04
#[tokio::test]
async fn many_changes_in_a_row_are_reported_once() {
    let server = server();
    let handle = server.handle();
    let mut peer = Peer::of(server, LEGACY).await;
    peer.result("ping", json!({})).await;
    for number in 0..50 {
        handle
            .add_tool(Tool::new(format!("late_{number}")).handler(async || "done"))
            .expect("a tool");
    }
    peer.result("tools/list", json!({})).await;
    assert_eq!(peer.received.len(), 1, "{:?}", peer.received);
}

#[tokio::test]
async fn a_late_addition_is_checked_as_at_the_start() {
    let server = server();
    let handle = server.handle();
    let _peer = Peer::of(server, LEGACY).await;
    let twin = Tool::new("greet").handler(async || "me too");
    assert!(handle.add_tool(twin).is_err());
    assert!(handle.add_tool(Tool::new("idle")).is_err());
    assert!(
        handle
            .add_resource(Resource::new("desk://{", "broken").reader(async || "x"))
            .is_err()
    );
}

#[tokio::test]
async fn an_item_of_an_undeclared_feature_is_not_added() {
    let server = Server::new("tools-only", "1").add_tool(Tool::new("one").handler(async || "1"));
    let handle = server.handle();
    let _peer = Peer::of(server, LEGACY).await;
    let prompt = Prompt::new("late").handler(async || "never seen");
    let error = handle
        .add_prompt(prompt)
        .expect_err("not offered")
        .to_string();
    assert!(
        error.contains("prompts") && error.contains(".dynamic()"),
        "{error}"
    );
    let tool = Tool::new("two").handler(async || "2");
    assert!(handle.add_tool(tool).is_ok());
}

/// Opens a subscription, and checks that it is acknowledged as requested.
async fn listen(peer: &mut Peer, filter: Value) -> Value {
    let id = peer
        .request("subscriptions/listen", json!({ "notifications": filter }))
        .await;
    let acknowledged = peer
        .receive_method("notifications/subscriptions/acknowledged")
        .await;
    assert_eq!(acknowledged["params"]["notifications"], filter);
    assert_eq!(
        acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        id
    );
    id
}
