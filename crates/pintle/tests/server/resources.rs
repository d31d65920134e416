//! Resources: fixed, binary and templated.

use serde_json::json;

use crate::server::help_desk::server;
use crate::server::peer::{Peer, REVISIONS};

// spec: 2025-11-25 RES-01, RES-02, RES-06
// spec: 2026-07-28 N-RSRC-01, N-RSRC-02, N-RSRC-09
#[tokio::test]
async fn resources_and_templates_are_listed_apart() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        assert_eq!(
            peer.welcome["capabilities"]["resources"],
            json!({ "subscribe": true, "listChanged": true })
        );
        let listed = peer.result("resources/list", json!({})).await;
        let uris: Vec<_> = listed["resources"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["uri"].clone())
            .collect();
        assert_eq!(uris, ["desk://hours", "desk://logo"], "{revision}");
        assert_eq!(listed["resources"][0]["mimeType"], "text/plain");
        assert_eq!(
            listed["resources"][0]["title"] == "Hours",
            peer.is_since("2025-06-18"),
            "{revision}"
        );
        let templates = peer.result("resources/templates/list", json!({})).await;
        assert_eq!(
            templates["resourceTemplates"][0]["uriTemplate"],
            "desk://tickets/{number}"
        );
    }
}

// spec: 2025-11-25 RES-08, RES-19
// spec: 2026-07-28 N-RSRC-08, N-RSRC-14
#[tokio::test]
async fn text_is_read_as_text_and_bytes_as_base64() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let hours = peer
            .result("resources/read", json!({ "uri": "desk://hours" }))
            .await;
        let text = json!({ "uri": "desk://hours", "mimeType": "text/plain", "text": "9 to 5" });
        assert_eq!(hours["contents"], json!([text]), "{revision}");
        let logo = peer
            .result("resources/read", json!({ "uri": "desk://logo" }))
            .await;
        let blob = json!({ "uri": "desk://logo", "mimeType": "image/png", "blob": "AQID" });
        assert_eq!(logo["contents"], json!([blob]), "{revision}");
    }
}

// spec: 2025-11-25 RES-06, RES-16, RES-17, MSG-17 (missing resource)
// spec: 2026-07-28 N-RSRC-03, N-RSRC-14, N-ERR-05 (resources)
#[tokio::test]
async fn a_template_reads_only_the_uris_it_matches() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let page = peer
            .result("resources/read", json!({ "uri": "desk://tickets/2" }))
            .await;
        assert_eq!(
            page["contents"][0]["text"],
            r#"{"number":2,"urgency":"low"}"#
        );
        let code = if peer.is_modern() { -32602 } else { -32002 };
        for uri in [
            "desk://tickets/3",
            "desk://tickets/x",
            "desk://tickets/../hours",
            "desk://nothing",
            "",
        ] {
            let missing = peer.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!(missing["code"], code, "{revision}: {uri}: {missing}");
            assert_eq!(missing["data"]["uri"], uri, "{revision}: {missing}");
        }
    }
}
