//! Tools, their results and their errors.

use serde_json::{Value, json};

use crate::answered;
use crate::desk::Desk;
use crate::peer::{MODERN, Peer, REVISIONS};

#[tokio::test]
async fn the_identity_is_that_of_the_handler() {
    for revision in REVISIONS {
        let peer = Peer::of(pintle_rmcp::server(Desk::new()), revision).await;
        let welcome = &peer.welcome;
        assert_eq!(welcome["instructions"], "Ask before you sit down.");
        let identity = match peer.is_modern() {
            true => &welcome["_meta"]["io.modelcontextprotocol/serverInfo"],
            false => &welcome["serverInfo"],
        };
        assert_eq!(identity["name"], "desk", "{revision}: {welcome}");
        assert_eq!(identity["version"], "2.1.0", "{revision}");
        assert!(welcome["capabilities"]["tools"].is_object(), "{revision}");
        assert!(welcome["capabilities"].get("prompts").is_none());
    }
}

#[tokio::test]
async fn tools_are_listed_and_called_in_every_revision() {
    for revision in REVISIONS {
        let mut peer = Peer::of(pintle_rmcp::server(Desk::new()), revision).await;
        let list = peer.result("tools/list", json!({})).await;
        let tools = list["tools"].as_array().expect("a list");
        let add = tools
            .iter()
            .find(|tool| tool["name"] == "add")
            .expect("add");
        let schema = &add["inputSchema"]["properties"]["a"];
        assert_eq!(schema["description"], "The first addend.", "{revision}");
        let sum = peer.call("add", json!({ "a": 40, "b": 2 })).await;
        assert_eq!(sum["content"][0]["text"], r#"{"sum":42}"#, "{revision}");
        let structured = match peer.is_since("2025-06-18") {
            true => json!({ "sum": 42 }),
            false => Value::Null,
        };
        assert_eq!(sum["structuredContent"], structured, "{revision}");
        let client = peer.call("client", json!({})).await;
        assert_eq!(client["content"][0]["text"], format!("t {revision}"));
    }
}

#[tokio::test]
async fn failures_and_errors_reach_the_client() {
    for revision in REVISIONS {
        let mut peer = Peer::of(pintle_rmcp::server(Desk::new()), revision).await;
        let failed = peer.call("fail", json!({})).await;
        assert_eq!(failed["isError"], true, "{revision}");
        assert_eq!(failed["content"][0]["text"], "no ink", "{revision}");
        let refused = peer.error("tools/call", json!({ "name": "refuse" })).await;
        let expected = json!({ "code": -32602, "message": "no desk", "data": { "desk": 3 } });
        assert_eq!(refused, expected, "{revision}");
        let unknown = peer.error("tools/call", json!({ "name": "hull" })).await;
        assert_eq!(unknown["code"], -32602, "{revision}: {unknown}");
    }
}

#[tokio::test]
async fn progress_of_a_handler_reaches_its_client() {
    for revision in REVISIONS {
        let mut peer = Peer::of(pintle_rmcp::server(Desk::new()), revision).await;
        let call = json!({ "name": "count", "_meta": { "progressToken": "p" } });
        let counted = peer.result("tools/call", call).await;
        assert_eq!(counted["content"][0]["text"], "three", "{revision}");
        for step in 1..=3 {
            let notice = peer.receive_method("notifications/progress").await;
            assert_eq!(notice["params"]["progress"], f64::from(step), "{revision}");
            assert_eq!(notice["params"]["progressToken"], "p", "{revision}");
        }
        let silent = peer.call("count", json!({})).await;
        assert_eq!(silent["content"][0]["text"], "no token", "{revision}");
    }
}

#[tokio::test]
async fn a_handler_asks_its_client() {
    let able = json!({ "elicitation": {} });
    for revision in ["2025-06-18", "2025-11-25", MODERN] {
        let server = pintle_rmcp::server(Desk::new());
        let mut peer = Peer::able(server, revision, able.clone()).await;
        let call = json!({ "name": "reserve", "arguments": {} });
        let answer = json!({ "action": "accept", "content": { "row": 7 } });
        let reserved = answered(&mut peer, call, "elicitation/create", answer).await;
        assert_eq!(reserved["content"][0]["text"], "row 7", "{revision}");
    }
}
