//! Detection of the era of a server over HTTP.

use pintle_client::{Client, ConnectError, EraCache, EraMode};
use pintle_model::Revision;
use pintle_testkit::HostileServer;
use pintle_testkit::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, courtesy, empty, error, json, with,
};
use serde_json::{Value, json};

use crate::hostile::{revision, visit, visit_as, within};

/// A legacy server that answers the probe like this.
fn probed(answer: impl Fn(&SeenRequest) -> FakeResponse + Send + Sync + 'static) -> FakeServer {
    FakeServer::new(move |seen, _| {
        if seen.is("server/discover") {
            return answer(seen);
        }
        courtesy(seen).unwrap_or_else(|| empty(404))
    })
}

// spec: 2026-07-28 N-ERA-14 (origin)
#[tokio::test(start_paused = true)]
async fn an_origin_is_probed_once_by_clients_that_share_a_memory() {
    let origin = probed(|_| empty(404));
    let eras = EraCache::new();
    for _ in 0..2 {
        let builder = Client::builder().eras(eras.clone());
        let client = visit_as(builder, &origin).await.expect("a conversation");
        assert_eq!(revision(&client), Revision::LATEST_LEGACY);
    }
    assert_eq!(
        (origin.count("server/discover"), origin.count("initialize")),
        (1, 2)
    );
}

// spec: 2026-07-28 N-ERA-09, N-ERR-03 (client at the probe), N-ERR-10
// hardening: H-163 (HTTP)
#[tokio::test(start_paused = true)]
async fn an_answer_that_no_modern_server_sends_leads_to_a_handshake() {
    let cases: [fn(&SeenRequest) -> FakeResponse; 9] = [
        |_| empty(400),
        |_| empty(404),
        |_| empty(405),
        |_| {
            with(
                404,
                &[("content-type", "text/html")],
                "<!doctype html><p>not found",
            )
        },
        |_| with(400, &[("content-type", "text/plain")], "no session"),
        |seen| json(200, &error(seen.id(), -32601)),
        |_| json(400, &error(Value::Null, -32000)),
        |seen| json(400, &error(seen.id(), -32001)),
        |seen| json(400, &error(seen.id(), -32004)),
    ];
    for (at, answer) in cases.into_iter().enumerate() {
        let origin = probed(answer);
        let client = visit(&origin)
            .await
            .unwrap_or_else(|why| panic!("{at}: {why}"));
        assert_eq!(revision(&client), Revision::LATEST_LEGACY, "{at}");
        assert_eq!(
            (origin.count("server/discover"), origin.count("initialize")),
            (1, 1)
        );
    }
}

// hardening: H-163 (HTTP)
#[tokio::test(start_paused = true)]
async fn an_answer_that_proves_no_era_leads_to_an_error() {
    type Case = (fn(&SeenRequest) -> FakeResponse, fn(&ConnectError) -> bool);
    let cases: [Case; 8] = [
        (
            |_| empty(401),
            |why| matches!(why, ConnectError::Unauthorized(_)),
        ),
        (
            |_| empty(403),
            |why| matches!(why, ConnectError::Unauthorized(_)),
        ),
        (
            |_| empty(500),
            |why| matches!(why, ConnectError::Unreachable(_)),
        ),
        (
            |_| with(503, &[("retry-after", "1")], ""),
            |why| matches!(why, ConnectError::Unreachable(_)),
        ),
        (
            |seen| json(400, &error(seen.id(), -32020)),
            |why| matches!(why, ConnectError::Rejected(_)),
        ),
        (
            |seen| json(400, &error(seen.id(), -32021)),
            |why| matches!(why, ConnectError::Rejected(_)),
        ),
        (
            |_| vec![BodyPart::Cut],
            |why| matches!(why, ConnectError::Unreachable(_)),
        ),
        (
            |_| vec![BodyPart::Hang],
            |why| matches!(why, ConnectError::TimedOut { .. }),
        ),
    ];
    for (at, (answer, is_expected)) in cases.into_iter().enumerate() {
        let origin = probed(answer);
        let why = visit(&origin).await.expect_err("no conversation");
        assert!(is_expected(&why), "{at}: {why}");
        assert_eq!(origin.count("initialize"), 0, "{at}");
    }
}

// hardening: H-175
#[tokio::test(start_paused = true)]
async fn a_server_of_other_revisions_is_left_with_both_lists() {
    let modern = FakeServer::new(|seen, _| {
        let error =
            json!({ "code": -32022, "message": "no", "data": { "supported": ["2099-01-01"] } });
        json(
            400,
            &json!({ "jsonrpc": "2.0", "id": seen.id(), "error": error }),
        )
    });
    let why = visit(&modern)
        .await
        .expect_err("no conversation")
        .to_string();
    assert!(
        why.contains("2099-01-01") && why.contains("2026-07-28"),
        "{why}"
    );
    assert_eq!(modern.count("initialize"), 0);
    let legacy = HostileServer::new(|out, message| match message["method"].as_str() {
        Some("initialize") => {
            let server = json!({ "name": "s", "version": "1" });
            out.reply(message, json!({ "protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": server }));
        }
        _ => out.fail(message, -32601, "no"),
    });
    let over_http = visit(&legacy.origin()).await.expect_err("no conversation");
    let over_a_pipe = within(Client::connect(legacy.over_pipe()))
        .await
        .expect_err("no conversation");
    for why in [over_http, over_a_pipe] {
        let ConnectError::NoCommonRevision { ours, theirs } = why else {
            panic!("{why}")
        };
        assert!(ours.contains(&"2025-11-25".to_owned()), "{ours:?}");
        assert_eq!(theirs, ["1999-01-01"]);
    }
    assert_eq!(legacy.count("notifications/initialized"), 0);
}

// hardening: H-174
#[tokio::test(start_paused = true)]
async fn later_messages_of_a_server_do_not_change_the_revision() {
    let server = HostileServer::legacy(|out, message| {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        out.notify(
            "notifications/message",
            json!({ "level": "info", "data": 1, "_meta": meta }),
        );
        let unsupported =
            json!({ "code": -32022, "message": "no", "data": { "supported": ["2026-07-28"] } });
        out.send(json!({ "jsonrpc": "2.0", "id": message["id"], "error": unsupported }));
    });
    let pinned = || Client::builder().mode(EraMode::Pinned(Revision::LATEST_LEGACY));
    let over_http = visit_as(pinned(), &server.origin())
        .await
        .expect("a conversation");
    let over_a_pipe = within(pinned().connect(server.over_pipe()))
        .await
        .expect("a conversation");
    for client in [over_http, over_a_pipe] {
        for _ in 0..2 {
            let error = within(client.call_tool("t", ())).await.unwrap_err();
            assert_eq!(
                error.answer().map(|error| error.code.0),
                Some(-32022),
                "{error}"
            );
            assert_eq!(revision(&client), Revision::LATEST_LEGACY);
        }
    }
    let calls = server.received();
    let mut calls = calls
        .iter()
        .filter(|message| message["method"] == "tools/call");
    assert!(calls.all(|message| message["params"].get("_meta").is_none()));
}

/// The description of a modern server with these hints for caches.
fn described(seen: &SeenRequest, hints: Value) -> FakeResponse {
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": [Revision::LATEST.as_str()],
        "capabilities": { "tools": {} },
    });
    let hints = hints.as_object().expect("an object").clone();
    result.as_object_mut().expect("an object").extend(hints);
    let answer = json!({ "jsonrpc": "2.0", "id": seen.id(), "result": result });
    json(200, &answer)
}

fn listed(seen: &SeenRequest) -> FakeResponse {
    let result =
        json!({ "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private" });
    json(
        200,
        &json!({ "jsonrpc": "2.0", "id": seen.id(), "result": result }),
    )
}

/// A modern server whose description has these hints for caches.
fn modern(hints: Value) -> FakeServer {
    FakeServer::new(move |seen, _| match seen.is("server/discover") {
        true => described(seen, hints.clone()),
        false => listed(seen),
    })
}

// spec: 2026-07-28 N-VER-04, N-DISC-08 (client), N-CACHE-01 (client)
#[tokio::test(start_paused = true)]
async fn a_description_is_reused_as_its_hints_allow() {
    for (hints, discoveries) in [
        (json!({ "ttlMs": 60_000, "cacheScope": "public" }), 1),
        (json!({ "ttlMs": 0, "cacheScope": "public" }), 2),
        // The clients have no authorization, so their private results belong to no principal.
        (json!({ "ttlMs": 60_000, "cacheScope": "private" }), 2),
        (json!({}), 2),
        (
            json!({ "ttlMs": 60_000, "cacheScope": "public", "instructions": "x".repeat(70_000) }),
            2,
        ),
    ] {
        let text = hints.to_string();
        let (origin, eras) = (modern(hints), EraCache::new());
        for _ in 0..2 {
            let builder = Client::builder().eras(eras.clone());
            let client = visit_as(builder, &origin).await.expect("a conversation");
            assert_eq!(revision(&client), Revision::LATEST);
            within(client.list_tools()).await.expect("a list");
        }
        let count = origin.count("server/discover");
        assert_eq!(count, discoveries, "{text:.80}");
    }
}

// spec: 2026-07-28 N-VER-04
#[tokio::test(start_paused = true)]
async fn a_server_that_changed_its_era_is_discovered_again() {
    let refusals: [fn(&SeenRequest) -> FakeResponse; 3] = [
        |seen| json(400, &error(seen.id(), -32022)),
        |_| empty(404),
        |_| with(400, &[("content-type", "text/plain")], "no session"),
    ];
    for (at, refuse) in refusals.into_iter().enumerate() {
        let is_new = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let is_modern = std::sync::Arc::clone(&is_new);
        let origin = FakeServer::new(move |seen, _| {
            let is_modern = is_modern.load(std::sync::atomic::Ordering::SeqCst);
            match (is_modern, seen.is("server/discover")) {
                (true, true) => described(seen, json!({ "ttlMs": 60_000, "cacheScope": "public" })),
                (true, false) => listed(seen),
                (false, true) => empty(404),
                (false, false) if seen.header("mcp-protocol-version") == Some("2026-07-28") => {
                    refuse(seen)
                }
                (false, false) => courtesy(seen).unwrap_or_else(|| legacy_list(seen)),
            }
        });
        let eras = EraCache::new();
        let builder = || Client::builder().eras(eras.clone());
        visit_as(builder(), &origin).await.expect("a conversation");
        is_new.store(false, std::sync::atomic::Ordering::SeqCst);
        let client = visit_as(builder(), &origin)
            .await
            .expect("the cache describes it");
        within(client.list_tools())
            .await
            .unwrap_or_else(|why| panic!("{at}: {why}"));
        assert_eq!(revision(&client), Revision::LATEST_LEGACY, "{at}");
        assert_eq!(origin.count("initialize"), 1, "{at}");
    }
}

fn legacy_list(seen: &SeenRequest) -> FakeResponse {
    json(
        200,
        &json!({ "jsonrpc": "2.0", "id": seen.id(), "result": { "tools": [] } }),
    )
}
