//! Log messages: the level of a session, and the level of a request.

use serde_json::{Value, json};

use crate::server::help_desk::server;
use crate::server::peer::{MODERN, Peer, REVISIONS};

// spec: 2025-11-25 LOG-01, LOG-03, LOG-04, LOG-06
#[tokio::test]
async fn a_session_sets_its_level() {
    for revision in REVISIONS.into_iter().filter(|revision| *revision != MODERN) {
        let mut peer = Peer::of(server(), revision).await;
        assert_eq!(
            peer.welcome["capabilities"]["logging"],
            json!({}),
            "{revision}"
        );
        peer.result("logging/setLevel", json!({ "level": "notice" }))
            .await;
        let warning = json!({ "level": "warning", "logger": "desk", "data": { "paper": "low" } });
        assert_eq!(logged(&mut peer, json!({})).await, [warning], "{revision}");
        peer.result("logging/setLevel", json!({ "level": "debug" }))
            .await;
        assert_eq!(logged(&mut peer, json!({})).await.len(), 2, "{revision}");
        peer.result("logging/setLevel", json!({ "level": "emergency" }))
            .await;
        assert_eq!(
            logged(&mut peer, json!({})).await,
            [Value::Null; 0],
            "{revision}"
        );
    }
}

// spec: 2025-11-25 LOG-02, LOG-07
#[tokio::test]
async fn there_are_eight_levels_and_no_other() {
    for revision in REVISIONS.into_iter().filter(|revision| *revision != MODERN) {
        let mut peer = Peer::of(server(), revision).await;
        for level in [
            "debug",
            "info",
            "notice",
            "warning",
            "error",
            "critical",
            "alert",
            "emergency",
        ] {
            peer.result("logging/setLevel", json!({ "level": level }))
                .await;
        }
        let error = peer
            .error("logging/setLevel", json!({ "level": "loud" }))
            .await;
        assert_eq!(error["code"], -32602, "{revision}");
    }
}

// spec: 2026-07-28 N-LOG-01, N-LOG-02, N-LOG-03
#[tokio::test]
async fn a_request_sets_its_own_level() {
    let mut peer = Peer::of(server(), MODERN).await;
    assert_eq!(peer.welcome["capabilities"]["logging"], json!({}));
    let level = "io.modelcontextprotocol/logLevel";
    assert_eq!(logged(&mut peer, json!({ level: "info" })).await.len(), 1);
    assert_eq!(logged(&mut peer, json!({ level: "debug" })).await.len(), 2);
    assert_eq!(logged(&mut peer, json!({})).await, [Value::Null; 0]);
}

// spec: 2026-07-28 N-LOG-05
#[tokio::test]
async fn a_request_with_an_unknown_level_is_refused() {
    let mut peer = Peer::of(server(), MODERN).await;
    let meta = json!({ "io.modelcontextprotocol/logLevel": "loud" });
    let error = peer
        .error("tools/call", json!({ "name": "work", "_meta": meta }))
        .await;
    assert_eq!(error["code"], -32602);
}

/// The log messages that arrive before the answer of a tool.
async fn logged(peer: &mut Peer, meta: Value) -> Vec<Value> {
    peer.received.clear();
    peer.result("tools/call", json!({ "name": "work", "_meta": meta }))
        .await;
    let notices = peer
        .received
        .drain(..)
        .filter(|notice| notice["method"] == "notifications/message");
    notices.map(|mut notice| notice["params"].take()).collect()
}
