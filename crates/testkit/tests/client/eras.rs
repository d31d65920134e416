//! Detection of the era of a server from its answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_client::{Client, ConnectError, EraMode};
use pintle_model::Revision;
use pintle_proto::TransportErrorKind;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};

use crate::client::{connect, within};

fn welcome(out: &mut HostileReply, message: &Value) {
    let version = message["params"]["protocolVersion"].clone();
    out.reply(message, json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } }));
}

async fn refused(server: &HostileServer, mode: EraMode) -> ConnectError {
    let builder = Client::builder().mode(mode);
    within(builder.connect(server.clone()))
        .await
        .expect_err("no conversation")
}

fn revision(client: &Client) -> Revision {
    client.server().expect("a server").revision
}

// spec: 2026-07-28 N-ERA-03, N-VER-01
// spec: 2025-11-25 LIFE-01
#[tokio::test(start_paused = true)]
async fn the_first_word_is_a_probe_with_a_name_of_its_own() {
    let server = HostileServer::legacy(|_, _| {});
    let client = connect(&server).await;
    assert_eq!(revision(&client), Revision::LATEST_LEGACY);
    let received = server.received();
    let methods: Vec<_> = received
        .iter()
        .map(|message| message["method"].clone())
        .collect();
    assert_eq!(
        methods,
        ["server/discover", "initialize", "notifications/initialized"]
    );
    assert!(received[0]["id"].is_string());
    let meta = &received[0]["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "pintle");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
    assert_eq!(received[1]["params"]["protocolVersion"], "2025-11-25");
}

// spec: 2026-07-28 N-ERA-06, N-ERA-07, N-ERA-14 (process)
// hardening: H-163 (pipe)
#[tokio::test(start_paused = true)]
async fn a_server_that_ends_at_the_probe_is_met_again_as_a_legacy_one() {
    for loss in [
        TransportErrorKind::ProcessExited,
        TransportErrorKind::Disconnected,
    ] {
        let server = HostileServer::new(move |out, message| match message["method"].as_str() {
            Some("server/discover") => out.lose_all(loss),
            Some("initialize") => welcome(out, message),
            _ => {}
        });
        let client = connect(&server).await;
        assert_eq!(revision(&client), Revision::LATEST_LEGACY);
        assert_eq!(
            (server.conversations(), server.count("server/discover")),
            (2, 1)
        );
    }
}

// spec: 2026-07-28 N-ERA-06, N-CANC-09
// spec: 2025-11-25 CANC-03, CANC-09, CANC-10
// hardening: H-163 (silence)
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_the_probe_in_time_is_a_legacy_server() {
    let server = HostileServer::new(|out, message| match message["method"].as_str() {
        Some("server/discover") => {
            let found = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {} });
            let late = json!({ "jsonrpc": "2.0", "id": message["id"], "result": found });
            out.send_after(Duration::from_secs(11), late);
        }
        Some("initialize") => {
            let version = message["params"]["protocolVersion"].clone();
            let result = json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } });
            out.send_after(
                Duration::from_secs(5),
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
            );
        }
        Some("ping") => out.reply(message, json!({})),
        _ => {}
    });
    let began = tokio::time::Instant::now();
    let client = connect(&server).await;
    assert_eq!(began.elapsed(), Duration::from_secs(10 + 5));
    assert_eq!(revision(&client), Revision::LATEST_LEGACY);
    within(client.ping()).await.expect("it is there");
    assert_eq!(
        server.count("notifications/cancelled"),
        0,
        "no opening is cancelled"
    );
}

// spec: 2026-07-28 N-ERA-08, N-ERA-17
#[tokio::test(start_paused = true)]
async fn a_modern_client_makes_no_handshake() {
    let server = HostileServer::legacy(|_, _| {});
    for mode in [EraMode::ModernOnly, EraMode::Pinned(Revision::LATEST)] {
        let error = refused(&server, mode).await;
        assert!(
            matches!(error, ConnectError::HandshakeRequired { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("2026-07-28"));
    }
    assert_eq!(
        (server.count("server/discover"), server.count("initialize")),
        (2, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_handshake_waits_longer_and_then_times_out() {
    let slow = HostileServer::new(|out, message| {
        let found = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {} });
        let late = json!({ "jsonrpc": "2.0", "id": message["id"], "result": found });
        out.send_after(Duration::from_secs(29), late);
    });
    let silent = HostileServer::new(|_, _| {});
    for mode in [EraMode::ModernOnly, EraMode::Pinned(Revision::LATEST)] {
        let connecting = Client::builder().mode(mode).connect(slow.clone());
        let client = within(connecting).await.expect("it was only slow");
        assert_eq!(revision(&client), Revision::LATEST);
        let error = refused(&silent, mode).await;
        assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
    }
}

// spec: 2026-07-28 N-VER-03, N-ERA-05
#[tokio::test(start_paused = true)]
async fn a_modern_server_without_a_common_revision_is_named_with_both_lists() {
    let supported = |dates: Value| {
        HostileServer::new(move |out, message| {
            let error = json!({ "code": -32022, "message": "no", "data": { "supported": dates } });
            out.send(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
        })
    };
    let server = supported(json!(["2099-01-01"]));
    let error = refused(&server, EraMode::Auto).await.to_string();
    assert!(
        error.contains("2099-01-01") && error.contains("2025-11-25"),
        "{error}"
    );
    assert_eq!(server.count("initialize"), 0);
    // The server lists the version that it refuses, so the client retries once with a new id.
    let server = supported(json!(["2026-07-28"]));
    refused(&server, EraMode::Auto).await;
    let received = server.received();
    assert_eq!((received.len(), server.count("initialize")), (2, 0));
    assert_ne!(received[0]["id"], received[1]["id"]);
}

// spec: 2026-07-28 N-ERA-11, N-ERA-12, N-ERA-19, A-05
// hardening: H-163 (HTTP)
#[tokio::test(start_paused = true)]
async fn over_http_only_evidence_leads_to_a_handshake() {
    let losing = |loss| {
        let server = HostileServer::new(move |out, message| match message["method"].as_str() {
            Some("server/discover") => out.lose(message, loss),
            Some("initialize") => welcome(out, message),
            _ => {}
        });
        server.over_http()
    };
    for status in [400, 404, 405] {
        let server = losing(TransportErrorKind::Status(status));
        assert_eq!(revision(&connect(&server).await), Revision::LATEST_LEGACY);
        assert_eq!(server.conversations(), 1);
    }
    for loss in [
        TransportErrorKind::Unauthorized(401),
        TransportErrorKind::Unauthorized(403),
        TransportErrorKind::Status(503),
        TransportErrorKind::InvalidMessage,
    ] {
        let server = losing(loss);
        let error = refused(&server, EraMode::Auto).await;
        assert_eq!(server.count("initialize"), 0, "{loss}");
        let is_authorization = matches!(error, ConnectError::Unauthorized(_));
        assert_eq!(
            is_authorization,
            matches!(loss, TransportErrorKind::Unauthorized(_)),
            "{error}"
        );
    }
    let silent = HostileServer::new(|_, _| {}).over_http();
    let error = refused(&silent, EraMode::Auto).await;
    assert!(matches!(error, ConnectError::TimedOut { .. }), "{error}");
    for code in [-32020, -32021] {
        let server = HostileServer::new(move |out, message| out.fail(message, code, "no"));
        let error = refused(&server, EraMode::Auto).await;
        assert!(matches!(error, ConnectError::Rejected(_)), "{error}");
        assert_eq!(server.count("initialize"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_turns_out_to_be_modern_is_probed_once_more() {
    let probes = AtomicUsize::new(0);
    let server = HostileServer::new(move |out, message| match message["method"].as_str() {
        Some("server/discover") if probes.fetch_add(1, Ordering::SeqCst) == 0 => {}
        Some("server/discover") => {
            let found = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {} });
            out.reply(message, found);
        }
        Some("initialize") => {
            let data = json!({ "supported": ["2026-07-28"] });
            let error = json!({ "code": -32022, "message": "no", "data": data });
            out.send(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
        }
        _ => {}
    });
    assert_eq!(revision(&connect(&server).await), Revision::LATEST);
    assert_eq!(
        (server.count("server/discover"), server.count("initialize")),
        (2, 1)
    );
}

// spec: 2025-11-25 LIFE-12, LIFE-23
// hardening: H-175
#[tokio::test(start_paused = true)]
async fn a_handshake_that_agrees_on_nothing_ends_the_conversation() {
    for version in ["2026-07-28", "1999-01-01", ""] {
        let server = HostileServer::new(move |out, message| {
            if message["method"] == "initialize" {
                out.reply(message, json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } }));
            } else {
                out.fail(message, -32601, "no");
            }
        });
        let error = refused(&server, EraMode::Auto).await;
        assert!(
            matches!(error, ConnectError::NoCommonRevision { .. }),
            "{error}"
        );
        assert_eq!(server.count("notifications/initialized"), 0);
    }
    let server = HostileServer::legacy(|_, _| {});
    let client = within(
        Client::builder()
            .mode(EraMode::Pinned(Revision::V2025_03_26))
            .connect(server.clone()),
    );
    assert_eq!(
        revision(&client.await.expect("it agrees")),
        Revision::V2025_03_26
    );
    assert_eq!(server.count("server/discover"), 0);
}

// spec: 2025-11-25 TIME-01, LIFE-23
#[tokio::test(start_paused = true)]
async fn a_server_that_never_opens_is_given_up() {
    let server = HostileServer::new(|_, _| {});
    let error = refused(&server, EraMode::Auto).await;
    assert!(
        matches!(
            error,
            ConnectError::TimedOut {
                what: "initialize",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(server.count("notifications/cancelled"), 0);
}

// spec: 2026-07-28 N-STDIO-03, N-BASE-13
// spec: 2025-11-25 PING-02
#[tokio::test(start_paused = true)]
async fn whatever_else_comes_before_the_verdict_is_dropped() {
    let noise = |out: &mut HostileReply| {
        out.send_text("Server starting…");
        out.send_text([0xff, 0xfe, b'{']);
        out.notify("notifications/tools/list_changed", json!({}));
        out.send(json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }));
        out.send(json!({ "jsonrpc": "2.0", "id": 8, "method": "roots/list" }));
        out.send(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        out.send(json!({ "jsonrpc": "2.0", "id": "discover-01", "result": {} }));
    };
    let server = HostileServer::new(move |out, message| match message["method"].as_str() {
        Some("server/discover") => {
            noise(out);
            out.fail(message, -32601, "no");
        }
        Some("initialize") => {
            out.send(json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" }));
            welcome(out, message);
        }
        _ => {}
    });
    let client = connect(&server).await;
    assert_eq!(revision(&client), Revision::LATEST_LEGACY);
    let answers: Vec<_> = server
        .received()
        .into_iter()
        .filter(|message| message.get("result").is_some())
        .collect();
    assert_eq!(
        answers,
        [json!({ "jsonrpc": "2.0", "id": 9, "result": {} })]
    );
}
