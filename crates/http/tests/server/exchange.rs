//! Requests that stand alone: 2026-07-28, and earlier revisions without sessions.

use std::time::Duration;

use crate::common::{
    Ask, CAPABILITIES, VERSION, body_json, endpoint, endpoint_with, initialize, legacy, messages,
    modern, modern_tool, notice, piece,
};
use http::StatusCode;
use pintle_http::{HttpOptions, LegacyMode};
use serde_json::json;
use tokio::time::Instant;

fn sessionless() -> HttpOptions {
    let mut options = HttpOptions::default();
    options.legacy = LegacyMode::Sessionless;
    options
}

// spec: 2026-07-28 N-HTTP-10, N-COMPAT-02
#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_first_is_json() {
    let response = modern_tool(7, "echo", json!({ "a": 1 }))
        .with("mcp-session-id", "x")
        .of(&endpoint())
        .await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert!(!response.headers().contains_key("mcp-session-id"));
    let body = body_json(response).await;
    assert_eq!(
        (&body["id"], &body["result"]["resultType"]),
        (&json!(7), &json!("complete"))
    );
    assert_eq!(body["result"]["content"][0]["text"], json!("{\"a\":1}"));
}

// spec: 2026-07-28 N-HTTP-10, N-HTTP-12, N-HTTP-14, N-HTTP-15, N-HTTP-18
#[tokio::test(start_paused = true)]
async fn a_message_on_the_way_makes_it_a_stream_that_ends_with_the_answer() {
    let mut ask = modern_tool(7, "progress", json!({ "steps": 100 }));
    ask.body = String::from_utf8(ask.body)
        .expect("text")
        .replace("\"_meta\":{", "\"_meta\":{\"progressToken\":\"t\",")
        .into();
    let response = ask.of(&endpoint()).await;
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    let mut body = response.into_body();
    let mut text = String::new();
    while let Some(piece) = piece(&mut body).await {
        text.push_str(&piece);
    }
    assert!(!text.contains("\nid:") && !text.starts_with("id:"));
    let said = messages(&text);
    assert_eq!(said.len(), 101);
    assert!(
        said[..100]
            .iter()
            .all(|message| message["method"] == "notifications/progress")
    );
    assert_eq!(said[100]["id"], json!(7));
}

// spec: 2026-07-28 N-HTTP-16, N-HTTP-29, A-19
#[tokio::test(start_paused = true)]
async fn fifteen_seconds_of_silence_commit_to_a_stream() {
    let endpoint = endpoint();
    let began = Instant::now();
    let quick = modern_tool(1, "slow", json!({ "seconds": 14 }))
        .of(&endpoint)
        .await;
    assert_eq!(quick.headers()["content-type"], "application/json");
    assert_eq!(began.elapsed(), Duration::from_secs(14));
    let slow = modern_tool(1, "slow", json!({ "seconds": 40 }))
        .of(&endpoint)
        .await;
    assert_eq!(slow.headers()["content-type"], "text/event-stream");
    let mut body = slow.into_body();
    assert_eq!(piece(&mut body).await.as_deref(), Some(":\n\n"));
    assert_eq!(piece(&mut body).await.as_deref(), Some(":\n\n"));
    let answer = messages(&piece(&mut body).await.expect("the answer"));
    assert_eq!(answer[0]["id"], json!(1));
    assert_eq!(piece(&mut body).await, None);
}

// spec: 2026-07-28 N-HTTP-20, N-CANC-03, A-26
// hardening: H-138
#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_drops_the_handler() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    for tool in ["hang", "chat"] {
        let waiting = modern_tool(1, tool, json!({ "seconds": 1000 })).of(&endpoint);
        let left = tokio::time::timeout(Duration::from_secs(5), waiting).await;
        drop(left);
    }
    assert_eq!(
        (calls.started(), calls.dropped(), calls.finished()),
        (2, 2, 0)
    );
}

// spec: 2026-07-28 N-HTTP-21, N-HTTP-22, N-HTTP-23, N-HTTP-24, N-ERR-01, A-08
// hardening: H-54, H-56, H-57, H-58, H-109, H-110, H-112
#[tokio::test(start_paused = true)]
async fn errors_have_their_status_and_the_id() {
    let regional = |region: &str| modern_tool(3, "regional", json!({ "region": region }));
    let without = |pointer: &str| {
        let mut ask = modern(3, "tools/list", json!({}));
        let mut body: serde_json::Value = serde_json::from_slice(&ask.body).expect("JSON");
        body["params"]["_meta"]
            .as_object_mut()
            .expect("an object")
            .remove(pointer);
        ask.body = body.to_string().into();
        ask
    };
    let claiming = |version: &str| {
        let mut ask = modern(3, "tools/list", json!({})).having("mcp-protocol-version", version);
        ask.body = String::from_utf8(ask.body)
            .expect("text")
            .replace("2026-07-28", version)
            .into();
        ask
    };
    let rows: Vec<(Ask, u16, i64)> = vec![
        (modern(3, "no/such", json!({})), 404, -32601),
        (modern(3, "ping", json!({})), 404, -32601),
        (modern(3, "logging/setLevel", json!({})), 404, -32601),
        (modern(3, "resources/subscribe", json!({})), 404, -32601),
        (
            modern(3, "notifications/initialized", json!({})),
            404,
            -32601,
        ),
        (modern(3, "prompts/list", json!({})), 404, -32601),
        (without(VERSION), 400, -32602),
        (without(CAPABILITIES), 400, -32602),
        (claiming("1900-01-01"), 400, -32022),
        (claiming("2025-11-25"), 400, -32022),
        (modern_tool(3, "needy", json!({})), 400, -32021),
        (modern_tool(3, "no such tool", json!({})), 200, -32602),
        (modern_tool(3, "__proto__", json!({})), 200, -32602),
        (
            modern(3, "resources/read", json!({ "uri": "no uri" })),
            200,
            -32602,
        ),
        (modern_tool(3, "panic", json!({})), 200, -32603),
        (regional("north"), 400, -32020),
        (
            regional("north").with("mcp-param-region", "south"),
            400,
            -32020,
        ),
        (
            regional("north")
                .with("mcp-param-region", "north")
                .with("mcp-param-region", "north"),
            400,
            -32020,
        ),
        (
            modern_tool(3, "regional", json!({})).with("mcp-param-region", "north"),
            400,
            -32020,
        ),
    ];
    let endpoint = endpoint();
    for (ask, status, code) in rows {
        let said = format!("{ask:?}");
        let (got, body) = ask.json(&endpoint).await;
        assert_eq!(
            (got, body["error"]["code"].as_i64()),
            (status, Some(code)),
            "{said}: {body}"
        );
        assert_eq!(body["id"], json!(3), "{said}: {body}");
        assert!(!body.to_string().contains("/secret/path"), "{body}");
    }
    let (status, _) = regional("north")
        .with("Mcp-Param-Region", "=?base64?bm9ydGg=?=")
        .json(&endpoint)
        .await;
    assert_eq!(status, 200);
}

// spec: 2026-07-28 N-HTTP-26
// hardening: H-141
#[tokio::test(start_paused = true)]
async fn a_listener_receives_an_acknowledgement_then_changes_then_its_result() {
    let endpoint = endpoint();
    let mut bodies = Vec::new();
    for id in 0..32 {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let response = modern(id, "subscriptions/listen", filter)
            .of(&endpoint)
            .await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        bodies.push(response.into_body());
    }
    for (id, body) in bodies.iter_mut().enumerate() {
        let said = messages(&piece(body).await.expect("an acknowledgement"));
        assert_eq!(
            said[0]["method"],
            "notifications/subscriptions/acknowledged"
        );
        assert_eq!(
            said[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            json!(id)
        );
    }
    let (status, _) = modern_tool("t", "change", json!({})).json(&endpoint).await;
    assert_eq!(status, 200);
    for body in &mut bodies {
        let said = messages(&piece(body).await.expect("a change"));
        assert_eq!(said[0]["method"], "notifications/tools/list_changed");
    }
    endpoint.close();
    for (id, body) in bodies.iter_mut().enumerate() {
        let said = messages(&piece(body).await.expect("a result"));
        assert_eq!(said[0]["id"], json!(id));
        assert_eq!(piece(body).await, None);
    }
    assert_eq!(
        modern(1, "tools/list", json!({}))
            .of(&endpoint)
            .await
            .status(),
        StatusCode::SERVICE_UNAVAILABLE
    );
}

#[tokio::test(start_paused = true)]
async fn one_listener_too_many_is_refused_before_its_acknowledgement() {
    let mut options = HttpOptions::default();
    options.limits.max_streams = 1;
    let (endpoint, _) = endpoint_with(options);
    let listen = || modern(1, "subscriptions/listen", json!({ "notifications": {} }));
    let first = listen().of(&endpoint).await;
    let second = listen().of(&endpoint).await;
    assert_eq!(
        (first.status().as_u16(), second.status().as_u16()),
        (200, 503)
    );
    assert!(second.headers().contains_key("retry-after"));
    drop(first);
    assert_eq!(listen().of(&endpoint).await.status(), StatusCode::OK);
}

// spec: 2026-07-28 N-HTTP-09, N-HTTP-25
// hardening: H-108
#[tokio::test(start_paused = true)]
async fn a_notification_is_accepted_without_a_body() {
    let (status, body) = notice("notifications/x")
        .with("mcp-protocol-version", "2026-07-28")
        .json(&endpoint())
        .await;
    assert_eq!((status, body), (202, json!(null)));
}

// spec: 2025-11-25 TRANS-VER-03
// hardening: H-60
#[tokio::test(start_paused = true)]
async fn without_sessions_the_handshake_era_is_served_request_by_request() {
    let (endpoint, _) = endpoint_with(sessionless());
    let response = initialize("2025-06-18").of(&endpoint).await;
    assert!(!response.headers().contains_key("mcp-session-id"));
    assert_eq!(
        body_json(response).await["result"]["protocolVersion"],
        "2025-06-18"
    );
    let (status, body) = notice("notifications/initialized").json(&endpoint).await;
    assert_eq!((status, body), (202, json!(null)));
    let (status, body) = legacy(1, "tools/list", json!({})).json(&endpoint).await;
    assert_eq!((status, &body["result"]), (200, &json!({ "tools": [] })));
    let (status, body) = legacy(1, "no/such", json!({})).json(&endpoint).await;
    assert_eq!((status, &body["error"]["code"]), (200, &json!(-32601)));
    let (status, _) = legacy(1, "ping", json!({}))
        .with("mcp-protocol-version", "2025-11-25")
        .json(&endpoint)
        .await;
    assert_eq!(status, 200);
}

// spec: 2026-07-28 N-HTTP-16
#[tokio::test(start_paused = true)]
async fn silence_on_a_stream_is_broken_every_fifteen_seconds() {
    let listen = modern(1, "subscriptions/listen", json!({ "notifications": {} }));
    let mut body = listen.of(&endpoint()).await.into_body();
    piece(&mut body).await.expect("an acknowledgement");
    let began = Instant::now();
    for nth in 1..=3 {
        assert_eq!(piece(&mut body).await.as_deref(), Some(":\n\n"));
        assert_eq!(began.elapsed(), Duration::from_secs(15 * nth));
    }
}
