//! The transport of 2024-11-05, for servers that have no other.

use std::sync::Mutex;
use std::time::Duration;

use pintle_model::Revision;
use pintle_proto::TransportErrorKind;
use serde_json::json;
use tokio::time::sleep;

use super::origin::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, empty, error, event, json as json_answer,
    piece, result, stream, welcoming, with,
};
use super::user::{code, loss, user};

const SECOND: Duration = Duration::from_secs(1);

/// A server whose stream sends `first`, then each answer after a moment.
fn old(status: u16, first: &'static str) -> FakeServer {
    let asked: Mutex<usize> = Mutex::new(0);
    FakeServer::new(
        move |seen, _| match (seen.verb.as_str(), seen.target.as_str()) {
            ("GET", "/mcp") => opened(first),
            ("POST", "/mcp") => with(status, &[("content-type", "text/html")], "no"),
            ("POST", "/messages?s=1") => {
                *asked.lock().expect("no panic") += 1;
                empty(202)
            }
            other => panic!("{other:?}"),
        },
    )
}

/// The stream with the answers to the second and the third request of a client.
fn opened(first: &str) -> FakeResponse {
    let initialize = SeenRequest {
        verb: "POST".into(),
        target: String::new(),
        headers: Vec::new(),
        body: json!({ "id": 1, "method": "initialize", "params": { "protocolVersion": "2024-11-05" } }).to_string(),
        at: tokio::time::Instant::now(),
    };
    let list = SeenRequest {
        body: json!({ "id": 2 }).to_string(),
        ..initialize.clone()
    };
    let mut answer = stream(&[]);
    answer.extend([
        piece(first),
        BodyPart::Wait(SECOND),
        event(&welcoming(&initialize)),
        BodyPart::Wait(SECOND),
        event(&result(&list)),
        BodyPart::Wait(SECOND),
        BodyPart::Cut,
    ]);
    answer
}

#[tokio::test(start_paused = true)]
async fn a_message_url_that_is_unknown_ends_the_session() {
    let first = "event: endpoint\ndata: /messages?s=1\n\n";
    let origin = FakeServer::new(move |seen, _| match seen.verb.as_str() {
        "GET" => opened(first),
        _ if seen.target == "/mcp" || seen.is("tools/list") => empty(404),
        _ => empty(202),
    });
    let user = user(origin.clone()).await;
    user.shake_hands(Revision::V2024_11_05)
        .await
        .expect("a welcome");
    assert_eq!(loss(&user.list().await), TransportErrorKind::SessionLost);
    let ended = user.close().await.expect_err("the session is lost");
    assert_eq!(ended.kind(), TransportErrorKind::SessionLost);
}

// spec: 2025-11-25 TRANS-COMPAT-02, TRANS-COMPAT-03
// spec: 2026-07-28 N-ERA-13
#[tokio::test(start_paused = true)]
async fn a_server_with_two_endpoints_is_found_and_spoken_to() {
    for status in [400, 404, 405, 406, 410, 415] {
        let origin = old(status, "event: endpoint\ndata: /messages?s=1\n\n");
        let user = user(origin.clone()).await;
        user.shake_hands(Revision::V2024_11_05)
            .await
            .expect("a welcome");
        user.list().await.expect("a result");
        let seen = origin.seen();
        let order: Vec<_> = seen
            .iter()
            .map(|seen| (seen.verb.as_str(), seen.target.as_str()))
            .collect();
        let elsewhere = ("POST", "/messages?s=1");
        assert_eq!(
            order,
            [
                ("POST", "/mcp"),
                ("GET", "/mcp"),
                elsewhere,
                elsewhere,
                elsewhere
            ]
        );
        assert!(
            seen.iter()
                .all(|seen| seen.header("mcp-protocol-version").is_none())
        );
        // The end of the stream is the end of everything.
        let end = user
            .driver
            .await
            .expect("no panic")
            .expect_err("the stream ended");
        assert_eq!(end.kind(), TransportErrorKind::Disconnected);
    }
}

// spec: 2025-11-25 TRANS-COMPAT-03
// spec: 2026-07-28 N-ERA-13
#[tokio::test(start_paused = true)]
async fn a_server_with_two_endpoints_may_refuse_in_the_words_of_the_protocol() {
    let first = "event: endpoint\ndata: /messages?s=1\n\n";
    let origin = FakeServer::new(
        move |seen, _| match (seen.verb.as_str(), seen.target.as_str()) {
            ("GET", _) => opened(first),
            ("POST", "/mcp") => json_answer(400, &error(seen.id(), -32600)),
            _ => empty(202),
        },
    );
    let user = user(origin).await;
    let welcome = user.shake_hands(Revision::V2024_11_05).await;
    welcome.expect("a welcome");
}

// spec: 2025-11-25 TRANS-COMPAT-03
#[tokio::test(start_paused = true)]
async fn other_rejections_do_not_start_the_two_endpoint_transport() {
    for status in [401, 403, 407, 429] {
        let origin = old(status, "event: endpoint\ndata: /messages?s=1\n\n");
        let user = user(origin.clone()).await;
        let refused = user.shake_hands(Revision::V2024_11_05).await;
        refused.expect_err("a refusal");
        assert!(
            origin.seen().iter().all(|seen| seen.verb == "POST"),
            "{status}"
        );
    }
}

// spec: 2026-07-28 N-ERA-13
#[tokio::test(start_paused = true)]
async fn the_first_error_counts_if_the_server_has_no_two_endpoints() {
    let origin = FakeServer::new(|seen, _| match seen.verb.as_str() {
        "GET" => empty(405),
        _ => json_answer(400, &error(seen.id(), -32602)),
    });
    let outcome = user(origin.clone())
        .await
        .shake_hands(Revision::LATEST_LEGACY)
        .await;
    assert_eq!(code(&outcome), -32602);
    assert_eq!((origin.count("POST"), origin.count("GET")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_for_the_stream_is_not_judged_by_its_first_error() {
    let origin = FakeServer::new(|seen, _| match seen.verb.as_str() {
        "GET" => empty(503),
        _ => json_answer(400, &error(seen.id(), -32600)),
    });
    let user = user(origin.clone()).await;
    let outcome = user.shake_hands(Revision::V2024_11_05).await;
    assert_eq!(loss(&outcome), TransportErrorKind::Status(503));
}

// hardening: H-32
#[tokio::test(start_paused = true)]
async fn messages_are_not_sent_to_another_origin() {
    let firsts = [
        "event: endpoint\ndata: http://evil.example/messages\n\n",
        "event: endpoint\ndata: //evil.example/messages\n\n",
        "event: endpoint\ndata: https://127.0.0.1:8000/messages\n\n",
        "event: message\ndata: {}\n\n",
        "data: /messages?s=1\n\n",
    ];
    for first in firsts {
        let origin = old(405, first);
        let outcome = user(origin.clone())
            .await
            .shake_hands(Revision::V2024_11_05)
            .await;
        assert_eq!(loss(&outcome), TransportErrorKind::Status(405), "{first}");
        assert_eq!(origin.seen().len(), 2);
        let connected = origin.connections();
        let own = connected
            .iter()
            .all(|to| to.to_string() == "http://127.0.0.1:8000");
        assert!(own, "{connected:?}");
    }
}

// spec: 2026-07-28 N-ERA-11, N-ERA-13
#[tokio::test(start_paused = true)]
async fn nothing_else_makes_us_look_for_the_older_transport() {
    let server = FakeServer::new(|seen, _| json_answer(400, &error(seen.id(), -32022)));
    let outcome = user(server.clone())
        .await
        .shake_hands(Revision::LATEST_LEGACY)
        .await;
    assert_eq!(code(&outcome), -32022);
    assert_eq!(server.count("GET"), 0);
    for (status, expected) in [
        (401, TransportErrorKind::Unauthorized(401)),
        (403, TransportErrorKind::Unauthorized(403)),
        (429, TransportErrorKind::Status(429)),
        (500, TransportErrorKind::Status(500)),
    ] {
        let origin = FakeServer::new(move |_, _| empty(status));
        let outcome = user(origin.clone())
            .await
            .shake_hands(Revision::LATEST_LEGACY)
            .await;
        assert_eq!(loss(&outcome), expected);
        assert_eq!(origin.count("GET"), 0);
    }
    sleep(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_endpoint_event_has_a_timeout() {
    let origin = FakeServer::new(|seen, _| match seen.verb.as_str() {
        "GET" => {
            let mut answer = stream(&[]);
            answer.push(BodyPart::Hang);
            answer
        }
        _ => empty(404),
    });
    let began = tokio::time::Instant::now();
    let outcome = user(origin)
        .await
        .shake_hands(Revision::LATEST_LEGACY)
        .await;
    assert_eq!(loss(&outcome), TransportErrorKind::Status(404));
    assert_eq!(began.elapsed(), 30 * SECOND);
}
