//! Prompts: their list, their messages, and faulty uses.

use serde_json::json;

use crate::server::help_desk::server;
use crate::server::peer::{Peer, REVISIONS};

// spec: 2025-11-25 PROM-01, PROM-02, PROM-04
// spec: 2026-07-28 N-PROMPT-01, N-PROMPT-02
#[tokio::test]
async fn a_prompt_lists_its_arguments() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        assert_eq!(
            peer.welcome["capabilities"]["prompts"],
            json!({ "listChanged": true })
        );
        let listed = peer.result("prompts/list", json!({})).await;
        let triage = &listed["prompts"][0];
        assert_eq!(
            (&triage["name"], &triage["description"]),
            (&json!("triage"), &json!("Sorts a ticket."))
        );
        let report = &triage["arguments"][0];
        assert_eq!(
            (&report["name"], &report["required"]),
            (&json!("report"), &json!(true))
        );
        assert_eq!(report["description"], "The problem as reported.");
        assert_ne!(triage["arguments"][1]["required"], true);
    }
}

// spec: 2025-11-25 PROM-02, PROM-05, PROM-07
// spec: 2026-07-28 N-PROMPT-06, N-PROMPT-09
#[tokio::test]
async fn a_prompt_makes_messages_of_its_arguments() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let arguments = json!({ "report": "no paper", "urgency": "high" });
        let got = peer
            .result(
                "prompts/get",
                json!({ "name": "triage", "arguments": arguments }),
            )
            .await;
        let messages = &got["messages"];
        assert_eq!(
            messages[0],
            json!({ "role": "user", "content": { "type": "text", "text": "no paper (High, anybody)" } })
        );
        let resource = &messages[1]["content"]["resource"];
        assert_eq!(resource["mimeType"], "text/plain");
        assert!(
            resource["uri"].is_string() && resource["text"].is_string(),
            "{resource}"
        );
        let image = json!({ "type": "image", "data": "AQID", "mimeType": "image/png" });
        assert_eq!(
            (&messages[2]["role"], &messages[2]["content"]),
            (&json!("assistant"), &image),
            "{revision}"
        );
        assert!(got.get("ttlMs").is_none(), "{revision}");
    }
}

// spec: 2025-11-25 PROM-08, PROM-09, PROM-12 (server inputs)
// spec: 2026-07-28 N-PROMPT-03, N-PROMPT-07 (arguments), N-PROMPT-08 (server inputs)
#[tokio::test]
async fn a_wrong_use_is_an_error_that_names_the_fault() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        for (params, word) in [
            (json!({ "name": "sail" }), "sail"),
            (json!({ "name": "triage" }), "report"),
            (json!({ "name": "triage", "arguments": {} }), "report"),
            (
                json!({ "name": "triage", "arguments": { "report": "x", "urgency": "panic" } }),
                "urgency",
            ),
        ] {
            let error = peer.error("prompts/get", params).await;
            assert_eq!(error["code"], -32602, "{revision}: {error}");
            assert!(
                error["message"].as_str().expect("text").contains(word),
                "{revision}: {word} in {error}"
            );
        }
    }
}

// spec: 2025-11-25 PROM-08
// spec: 2026-07-28 N-PROMPT-03
#[tokio::test]
async fn the_cause_of_a_failed_prompt_stays_secret() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let error = peer
            .error("prompts/get", json!({ "name": "escalate" }))
            .await;
        assert_eq!(error["code"], -32603, "{revision}");
        assert!(!error.to_string().contains("12345"), "{revision}: {error}");
    }
}
