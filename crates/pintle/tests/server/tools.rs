//! Tools: their list, and their results in each revision.

use serde_json::{Value, json};

use crate::server::help_desk::server;
use crate::server::peer::{Peer, REVISIONS};

// spec: 2025-11-25 TOOL-02, TOOL-03, TOOL-05, TOOL-06
// spec: 2026-07-28 N-TOOL-01, N-TOOL-02, N-TOOL-07
#[tokio::test]
async fn a_tool_is_listed_as_far_as_the_revision_knows() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let tools = peer.result("tools/list", json!({})).await;
        let greet = &tools["tools"][0];
        assert_eq!(greet["name"], "greet");
        assert_eq!(greet["description"], "Welcomes a person by name.");
        assert_eq!(greet["inputSchema"]["properties"]["name"]["maxLength"], 20);
        assert_eq!(greet["inputSchema"]["required"], json!(["name"]));
        assert_eq!(
            greet["annotations"]["readOnlyHint"] == true,
            peer.is_since("2025-03-26"),
            "{revision}"
        );
        assert_eq!(
            greet["title"] == "Greet",
            peer.is_since("2025-06-18"),
            "{revision}"
        );
        assert_eq!(
            greet["icons"].is_array(),
            peer.is_since("2025-11-25"),
            "{revision}"
        );
    }
}

// spec: 2025-11-25 TOOL-17
// spec: 2026-07-28 N-TOOL-09
#[tokio::test]
async fn plain_values_are_text() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        assert_eq!(
            text(&peer.call("greet", json!({ "name": "Ada" })).await),
            "good morning, Ada"
        );
        assert_eq!(text(&peer.call("count", json!({ "to": 7 })).await), "7");
        assert_eq!(text(&peer.call("is_open", json!({})).await), "true");
        assert_eq!(peer.call("close", json!({})).await["content"], json!([]));
    }
}

// spec: 2025-11-25 TOOL-21, TOOL-22
// spec: 2026-07-28 N-TOOL-10, N-TOOL-12, N-TOOL-09
#[tokio::test]
async fn data_is_structured_and_has_a_copy_as_text() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let data = json!({ "number": 1, "urgency": "high" });
        let result = peer.call("ticket", json!({ "urgency": "high" })).await;
        assert_eq!(
            serde_json::from_str::<Value>(text(&result)).expect("JSON"),
            data
        );
        let expected = if peer.is_since("2025-06-18") {
            data
        } else {
            Value::Null
        };
        assert_eq!(result["structuredContent"], expected, "{revision}");
    }
}

// spec: 2025-11-25 TOOL-07
// spec: 2026-07-28 N-TOOL-10, N-TOOL-12
#[tokio::test]
async fn a_list_as_data_is_wrapped_in_revisions_with_objects_only() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let tools = peer.result("tools/list", json!({})).await;
        let listed = tools["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|tool| tool["name"] == "tickets");
        let schema = &listed.expect("listed")["outputSchema"]["type"];
        let result = peer.call("tickets", json!({})).await;
        let (kind, data) = match revision {
            "2026-07-28" => (json!("array"), json!([1, 2])),
            "2025-06-18" | "2025-11-25" => (json!("object"), json!({ "result": [1, 2] })),
            _ => (Value::Null, Value::Null),
        };
        assert_eq!(
            (schema, &result["structuredContent"]),
            (&kind, &data),
            "{revision}"
        );
        assert_eq!(text(&result), "[1,2]");
    }
}

// spec: 2025-11-25 TOOL-17, TOOL-18, TOOL-19
// spec: 2026-07-28 N-TOOL-09
#[tokio::test]
async fn content_is_converted_for_the_revision() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let photo = peer.call("photo", json!({})).await;
        assert_eq!(
            photo["content"][0],
            json!({ "type": "image", "data": "AQID", "mimeType": "image/png" })
        );
        let recording = peer.call("recording", json!({})).await;
        let expected = if peer.is_since("2025-03-26") {
            "audio"
        } else {
            "text"
        };
        assert_eq!(recording["content"][0]["type"], expected, "{revision}");
        let everything = peer.call("everything", json!({})).await;
        let kinds: Vec<_> = (0..3)
            .map(|place| everything["content"][place]["type"].clone())
            .collect();
        let link = if peer.is_since("2025-06-18") {
            "resource_link"
        } else {
            "text"
        };
        assert_eq!(kinds, ["text", "resource", link], "{revision}");
        assert_eq!(
            everything["content"][0]["annotations"]["audience"],
            json!(["user"])
        );
        assert_eq!(
            everything["content"][1]["resource"]["uri"],
            "desk://tickets/1"
        );
    }
}

// spec: 2025-11-25 TOOL-25, TOOL-26
// spec: 2026-07-28 N-TOOL-14, N-TOOL-09
#[tokio::test]
async fn an_error_of_a_handler_is_for_the_model() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let failed = peer.call("fail", json!({})).await;
        assert_eq!(failed["isError"], true, "{revision}");
        assert_eq!(text(&failed), "the printer is out of paper");
    }
}

// spec: 2025-11-25 TOOL-24
// spec: 2026-07-28 N-TOOL-13
// hardening: H-135
#[tokio::test]
async fn unknown_tools_and_protocol_errors_are_errors() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let unknown = peer.error("tools/call", json!({ "name": "sail" })).await;
        assert_eq!(unknown["code"], -32602, "{revision}");
        assert!(unknown["message"].as_str().expect("text").contains("sail"));
        let refused = peer.error("tools/call", json!({ "name": "refuse" })).await;
        assert_eq!(
            (&refused["code"], &refused["message"]),
            (&json!(-32602), &json!("not today"))
        );
        let listed = peer
            .error("tools/call", json!({ "name": "greet", "arguments": [] }))
            .await;
        assert_eq!(listed["code"], -32602, "{revision}");
    }
}

// spec: 2025-11-25 TOOL-29
// spec: 2026-07-28 N-TOOL-18 (inputs)
#[tokio::test]
async fn the_error_of_a_bad_argument_names_its_place_and_type() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        for (tool, arguments, place) in [
            ("greet", json!({}), "/name"),
            ("greet", json!({ "name": "" }), "/name"),
            ("greet", json!({ "name": 7 }), "/name"),
            ("count", json!({ "to": 11 }), "/to"),
            ("count", json!({ "to": -1 }), "/to"),
            ("ticket", json!({ "urgency": "panic" }), "/urgency"),
        ] {
            let refused = peer.call(tool, arguments).await;
            assert_eq!(refused["isError"], true, "{revision}: {refused}");
            assert!(
                text(&refused).contains(place),
                "{revision}: {place} in {refused}"
            );
            assert!(text(&refused).contains("expected"), "{revision}: {refused}");
        }
    }
}

// spec: 2025-11-25 PROG-01, PROG-05, PROG-06, PROG-07
// spec: 2026-07-28 N-PROG-03, N-PROG-04, N-PROG-05
#[tokio::test]
async fn progress_only_rises_and_needs_a_token() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let asked = json!({ "name": "work", "_meta": { "progressToken": "mine" } });
        assert_eq!(text(&peer.result("tools/call", asked).await), "done");
        let notices: Vec<_> = peer
            .received
            .drain(..)
            .filter(|notice| notice["method"] == "notifications/progress")
            .collect();
        let steps: Vec<_> = notices
            .iter()
            .map(|notice| notice["params"]["progress"].as_f64())
            .collect();
        assert_eq!(steps, [Some(1.0), Some(2.5)], "{revision}");
        assert!(
            notices
                .iter()
                .all(|notice| notice["params"]["progressToken"] == "mine")
        );
        assert_eq!(
            notices[0]["params"]["message"] == "begun",
            peer.is_since("2025-03-26"),
            "{revision}"
        );
        peer.call("work", json!({})).await;
        assert!(
            peer.received
                .iter()
                .all(|notice| notice["method"] != "notifications/progress"),
            "{revision}"
        );
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
