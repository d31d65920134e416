//! The identity of a server, as its author states it.

use pintle::prelude::*;
use serde_json::json;

use crate::server::help_desk::{icon, server};
use crate::server::peer::{MODERN, Peer, REVISIONS};

// spec: 2025-11-25 LIFE-03, LIFE-09
// spec: 2026-07-28 N-DISC-01, N-DISC-03
#[tokio::test]
async fn name_and_version_are_the_authors() {
    for revision in REVISIONS {
        let peer = Peer::of(
            server().icon(icon()).website("https://example.com"),
            revision,
        )
        .await;
        let info = match revision {
            MODERN => &peer.welcome["_meta"]["io.modelcontextprotocol/serverInfo"],
            _ => &peer.welcome["serverInfo"],
        };
        assert_eq!(
            (&info["name"], &info["version"]),
            (&json!("help-desk"), &json!("4.5.6")),
            "{revision}"
        );
        assert_eq!(
            info["title"] == "Help desk",
            peer.is_since("2025-06-18"),
            "{revision}"
        );
        assert_eq!(
            info["icons"].is_array(),
            peer.is_since("2025-11-25"),
            "{revision}"
        );
        // 2024-11-05 has instructions, too.
        assert_eq!(
            peer.welcome["instructions"], "Ask for a ticket first.",
            "{revision}"
        );
        assert!(
            !peer.welcome.to_string().to_lowercase().contains("pintle"),
            "{revision}"
        );
    }
}

// spec: 2026-07-28 N-META-04
#[tokio::test]
async fn results_name_the_server_shortly_and_discovery_in_full() {
    let mut peer = Peer::of(server().icon(icon()), MODERN).await;
    let listed = peer.result("tools/list", json!({})).await;
    assert_eq!(
        listed["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({ "name": "help-desk", "title": "Help desk", "version": "4.5.6" })
    );
    let discovered = &peer.welcome["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert!(discovered["icons"].is_array());
}

// spec: 2026-07-28 N-DISC-02, N-DISC-06
#[tokio::test]
async fn discovery_names_every_revision_and_every_offer() {
    let peer = Peer::of(server(), MODERN).await;
    let mut versions: Vec<_> = peer.welcome["supportedVersions"]
        .as_array()
        .expect("a list")
        .clone();
    versions.sort_by_key(ToString::to_string);
    assert!(versions.contains(&json!(MODERN)), "{versions:?}");
    let capabilities = peer.welcome["capabilities"].as_object().expect("an object");
    let mut offers: Vec<_> = capabilities.keys().map(String::as_str).collect();
    offers.sort_unstable();
    assert_eq!(
        offers,
        ["completions", "logging", "prompts", "resources", "tools"]
    );
}

// spec: 2025-11-25 LIFE-17, GEN-03, PROM-11 (server), LIFE-14
// spec: 2026-07-28 N-DISC-06
#[tokio::test]
async fn an_absent_feature_is_neither_advertised_nor_served() {
    for revision in REVISIONS {
        let tools_only = Server::new("tools", "1").add_tool(Tool::new("one").handler(async || 1));
        let mut peer = Peer::of(tools_only, revision).await;
        assert_eq!(
            peer.welcome["capabilities"],
            json!({ "tools": { "listChanged": true } }),
            "{revision}"
        );
        for method in ["resources/list", "resources/templates/list", "prompts/list"] {
            assert_eq!(
                peer.error(method, json!({})).await["code"],
                -32601,
                "{revision}: {method}"
            );
        }
    }
}

#[tokio::test]
async fn a_dynamic_server_offers_lists_that_are_empty() {
    for revision in REVISIONS {
        let mut peer = Peer::of(Server::new("empty", "1").dynamic(), revision).await;
        for (method, member) in [
            ("tools/list", "tools"),
            ("resources/list", "resources"),
            ("prompts/list", "prompts"),
        ] {
            assert_eq!(
                peer.result(method, json!({})).await[member],
                json!([]),
                "{revision}"
            );
        }
    }
}
