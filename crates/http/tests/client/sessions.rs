//! Sessions: opened, lost, ended.

use std::time::Duration;

use pintle_model::Revision;
use pintle_proto::TransportErrorKind;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::origin::{BodyPart, FakeServer, courtesy, empty, json, result, stream, welcome_to};
use super::user::{User, loss, user};

const SECOND: Duration = Duration::from_secs(1);

// spec: 2025-11-25 TRANS-HTTP-07, TRANS-HTTP-09, TRANS-SESS-05, TRANS-SESS-10, TRANS-VER-01, TRANS-VER-02
#[tokio::test(start_paused = true)]
async fn a_session_is_named_from_its_welcome_to_its_end() {
    let origin =
        FakeServer::new(|seen, _| courtesy(seen).unwrap_or_else(|| json(200, &result(seen))));
    let user = User::in_session(origin.clone()).await;
    user.list().await.expect("a result");
    user.close().await.expect("a good end");
    let seen = origin.seen();
    let (first, later) = seen.split_first().expect("requests");
    assert_eq!(first.header("mcp-session-id"), None);
    assert_eq!(first.header("mcp-protocol-version"), None);
    assert_eq!(later.len(), 4, "initialized, GET, the call, DELETE");
    for seen in later {
        assert_eq!(seen.header("mcp-session-id"), Some("s-1"), "{seen:?}");
        assert_eq!(
            seen.header("mcp-protocol-version"),
            Some("2025-11-25"),
            "{seen:?}"
        );
        assert_eq!(seen.header("mcp-method"), None);
    }
    assert_eq!(later.last().expect("one").verb, "DELETE");
}

#[tokio::test(start_paused = true)]
async fn without_a_session_there_is_nothing_to_end() {
    let origin = FakeServer::new(|seen, _| match seen {
        seen if seen.is("initialize") => welcome_to(seen, &[]),
        seen => courtesy(seen).unwrap_or_else(|| json(200, &result(seen))),
    });
    let user = User::in_session(origin.clone()).await;
    user.list().await.expect("a result");
    user.close().await.expect("a good end");
    assert_eq!(origin.count("DELETE"), 0);
    assert!(
        origin
            .seen()
            .iter()
            .all(|seen| seen.header("mcp-session-id").is_none())
    );
}

// spec: 2026-07-28 N-COMPAT-02
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_names_a_session_has_none() {
    let origin = FakeServer::new(|seen, _| {
        let headers = [
            ("mcp-session-id", "s-1"),
            ("content-type", "application/json"),
        ];
        super::origin::with(200, &headers, result(seen).to_string())
    });
    let user = User::modern(origin.clone()).await;
    user.list().await.expect("a result");
    user.list().await.expect("a result");
    user.close().await.expect("a good end");
    assert_eq!(origin.seen().len(), 2);
    assert!(
        origin
            .seen()
            .iter()
            .all(|seen| seen.header("mcp-session-id").is_none())
    );
}

// spec: 2025-11-25 TRANS-SESS-04
#[tokio::test(start_paused = true)]
async fn a_session_with_an_impossible_name_is_not_opened() {
    for bad in ["", "two words", "tab\tinside", "caf\u{e9}"] {
        let origin = FakeServer::new(move |seen, _| welcome_to(seen, &[("mcp-session-id", bad)]));
        let outcome = user(origin)
            .await
            .shake_hands(Revision::LATEST_LEGACY)
            .await;
        assert_eq!(
            loss(&outcome),
            TransportErrorKind::InvalidMessage,
            "{bad:?}"
        );
    }
    let twice = FakeServer::new(|seen, _| {
        welcome_to(seen, &[("mcp-session-id", "a"), ("mcp-session-id", "b")])
    });
    let outcome = user(twice).await.shake_hands(Revision::LATEST_LEGACY).await;
    assert_eq!(loss(&outcome), TransportErrorKind::InvalidMessage);
}

// spec: 2025-11-25 TRANS-SESS-09
// hardening: H-160
#[tokio::test(start_paused = true)]
async fn a_lost_session_ends_the_conversation_and_all_its_calls() {
    let origin = FakeServer::new(|seen, _| match seen {
        seen if seen.is("tools/list") => {
            let mut answer = stream(&[]);
            answer.push(BodyPart::Hang);
            answer
        }
        seen if seen.is("prompts/list") => empty(404),
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    user.peer
        .with_engine_mut(|engine| engine.set_server_capabilities(std::sync::Arc::new(offers())));
    let open = user.call("tools/list", json!({}));
    sleep(SECOND).await;
    let forgotten = user.call("prompts/list", json!({})).outcome().await;
    assert_eq!(loss(&forgotten), TransportErrorKind::SessionLost);
    // The server may have acted on this one before.
    assert_eq!(
        loss(&open.outcome().await),
        TransportErrorKind::Disconnected
    );
    let end = user
        .driver
        .await
        .expect("no panic")
        .expect_err("it was lost");
    assert_eq!(end.kind(), TransportErrorKind::SessionLost);
    assert!(!end.may_have_acted());
    assert_eq!(
        origin.count("initialize"),
        1,
        "another conversation is for the client to open"
    );
    assert_eq!(origin.count("DELETE"), 0, "there is nothing to end");
}

fn offers() -> pintle_model::ServerCapabilities {
    serde_json::from_value(json!({ "tools": {}, "prompts": {}, "logging": {} }))
        .expect("capabilities")
}

// hardening: H-173
#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_take_the_end_of_a_session_is_left() {
    for (answer, time) in [
        (vec![BodyPart::Hang], 5 * SECOND),
        (empty(405), Duration::ZERO),
        (empty(404), Duration::ZERO),
        (empty(500), Duration::ZERO),
        (vec![BodyPart::Cut], Duration::ZERO),
    ] {
        let origin = FakeServer::new(move |seen, _| match seen.verb.as_str() {
            "DELETE" => answer.clone(),
            _ => courtesy(seen).expect("nothing else"),
        });
        let user = User::in_session(origin.clone()).await;
        sleep(SECOND).await;
        let began = Instant::now();
        user.close().await.expect("a good end");
        assert_eq!(began.elapsed(), time);
        assert_eq!(origin.count("DELETE"), 1);
    }
}
