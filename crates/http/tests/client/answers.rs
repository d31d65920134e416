//! Responses and their results.

use std::time::Duration;

use pintle_http::client::HttpClientOptions;
use pintle_proto::{PeerCallError, TransportErrorKind};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::origin::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, empty, end, error, event, json, piece, result,
    stream, streamed, with,
};
use super::user::{Outcome, User, code, loss, user_with};

const SECOND: Duration = Duration::from_secs(1);

/// Returns the result of a call with this response, in the latest revision.
async fn answered(
    answer: impl Fn(&SeenRequest) -> FakeResponse + Send + Sync + 'static,
) -> Outcome {
    User::modern(FakeServer::new(move |seen, _| answer(seen)))
        .await
        .list()
        .await
}

// spec: 2026-07-28 N-HTTP-05, N-HTTP-08, N-HTTP-11, N-HTTP-17, N-SUBS-20, N-HTTP-14
// spec: 2025-11-25 TRANS-HTTP-14
#[tokio::test(start_paused = true)]
async fn an_answer_is_one_message_or_a_stream_that_ends_with_it() {
    let whole = answered(|seen| json(200, &result(seen))).await;
    assert!(whole.is_ok());
    let in_a_stream = answered(|seen| {
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
        streamed([
            piece(": hello\n\n"),
            event(&log),
            piece(":\n"),
            event(&result(seen)),
        ])
    });
    assert!(in_a_stream.await.is_ok());
    let byte_by_byte = answered(|seen| {
        let text = format!("\u{feff}event: message\r\ndata: {}\r\n\r\n", result(seen));
        let mut parts = stream(&[]);
        parts.extend(text.as_bytes().chunks(1).map(piece));
        parts.push(end());
        parts
    });
    assert!(byte_by_byte.await.is_ok());
}

// spec: 2026-07-28 N-HDR-01, N-HDR-03, N-HDR-04, N-HTTP-05, N-HTTP-06, N-HTTP-07, N-TRAN-02
#[tokio::test(start_paused = true)]
async fn the_head_of_a_modern_request_repeats_its_body() {
    let origin = FakeServer::new(|seen, _| json(200, &result(seen)));
    let user = User::modern(origin.clone()).await;
    let call = user.call(
        "tools/call",
        json!({ "name": "caf\u{e9}", "arguments": {} }),
    );
    call.outcome().await.expect("a result");
    let seen = origin.first("tools/call");
    let meta = &seen.json()["params"]["_meta"];
    assert_eq!(
        seen.header("mcp-protocol-version"),
        meta["io.modelcontextprotocol/protocolVersion"].as_str()
    );
    assert_eq!(seen.header("mcp-method"), Some("tools/call"));
    assert_eq!(
        seen.header("mcp-name"),
        Some("=?base64?Y2Fmw6k=?="),
        "read from the body"
    );
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(
        seen.header("accept"),
        Some("application/json, text/event-stream")
    );
    assert_eq!(seen.header("host"), Some("127.0.0.1:8000"));
    assert_eq!(seen.header("mcp-session-id"), None);
    assert_eq!(seen.target, "/mcp");
}

// hardening: H-106, H-115, H-161, H-163 (HTTP)
// spec: 2025-11-25 MSG-16, MSG-18
// spec: 2026-07-28 N-TRAN-05
#[tokio::test(start_paused = true)]
async fn an_invalid_answer_is_a_typed_error() {
    type Case = (
        &'static str,
        fn(&SeenRequest) -> FakeResponse,
        TransportErrorKind,
    );
    let cases: [Case; 14] = [
        (
            "not JSON",
            |_| with(200, &[("content-type", "application/json")], "hello"),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "not JSON-RPC",
            |_| json(200, &json!({ "ok": true })),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "empty",
            |_| with(200, &[("content-type", "application/json")], ""),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "an array",
            |seen| json(200, &json!([result(seen)])),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "another id",
            |_| json(200, &json!({ "jsonrpc": "2.0", "id": 77, "result": {} })),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "a request",
            |_| json(200, &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "a page",
            |_| with(200, &[("content-type", "text/html")], "<html>"),
            TransportErrorKind::InvalidMessage,
        ),
        (
            "no type",
            |seen| with(200, &[], result(seen).to_string()),
            TransportErrorKind::InvalidMessage,
        ),
        ("taken", |_| empty(202), TransportErrorKind::InvalidMessage),
        (
            "compressed",
            |seen| {
                with(
                    200,
                    &[
                        ("content-type", "application/json"),
                        ("content-encoding", "gzip"),
                    ],
                    result(seen).to_string(),
                )
            },
            TransportErrorKind::InvalidMessage,
        ),
        (
            "bad UTF-8",
            |_| {
                with(
                    200,
                    &[("content-type", "application/json")],
                    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\xff\"}}",
                )
            },
            TransportErrorKind::InvalidMessage,
        ),
        (
            "bad UTF-8 in an event",
            |_| {
                streamed([piece(
                    b"data: {\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{\"a\":\"\xff\"}}\n\n",
                )])
            },
            TransportErrorKind::Disconnected,
        ),
        (
            "a stream for others",
            |_| streamed([event(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} }))]),
            TransportErrorKind::Disconnected,
        ),
        (
            "an empty stream",
            |_| streamed([]),
            TransportErrorKind::Disconnected,
        ),
    ];
    for (name, answer, expected) in cases {
        assert_eq!(loss(&answered(answer).await), expected, "{name}");
    }
}

// hardening: H-106, H-115
#[tokio::test(start_paused = true)]
async fn a_malformed_answer_in_an_event_ends_its_call() {
    let text = b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\xff\"}}\n\n";
    let said = answered(move |_| streamed([piece(text)])).await;
    assert_eq!(said.expect_err("an error"), PeerCallError::Contradiction);
}

// spec: 2026-07-28 N-ERA-10, N-ERA-11, N-ERA-12, N-ERA-19, N-HTTP-21, N-HTTP-22
// hardening: H-163 (HTTP)
#[tokio::test(start_paused = true)]
async fn a_json_rpc_error_is_read_from_an_error_status() {
    let answer = answered(|seen| json(404, &error(seen.id(), -32601))).await;
    assert_eq!(code(&answer), -32601);
    let without_id = answered(|_| json(400, &error(Value::Null, -32020))).await;
    assert_eq!(code(&without_id), -32020);
    let no_type = answered(|seen| with(400, &[], error(seen.id(), -32022).to_string())).await;
    assert_eq!(code(&no_type), -32022);
    for status in [401, 403] {
        let denied = answered(move |seen| json(status, &error(seen.id(), -32601))).await;
        assert_eq!(
            loss(&denied),
            TransportErrorKind::Unauthorized(status),
            "the body is not believed"
        );
    }
    for status in [400, 404, 405, 406, 415, 422, 431, 500, 503] {
        let refused = answered(move |_| with(status, &[("content-type", "text/html")], "<p>no"));
        assert_eq!(loss(&refused.await), TransportErrorKind::Status(status));
    }
    let at_fault = answered(|seen| json(500, &error(seen.id(), -32603))).await;
    assert_eq!(code(&at_fault), -32603);
}

// spec: 2026-07-28 N-ERA-19
#[tokio::test(start_paused = true)]
async fn a_probe_does_not_believe_a_server_that_is_broken() {
    let user = User::modern(FakeServer::new(|seen, _| {
        json(502, &error(seen.id(), -32601))
    }))
    .await;
    assert_eq!(
        loss(&user.discover().await),
        TransportErrorKind::Status(502)
    );
    let user = User::modern(FakeServer::new(|seen, _| {
        json(404, &error(seen.id(), -32601))
    }))
    .await;
    assert_eq!(code(&user.discover().await), -32601);
}

// hardening: H-157
#[tokio::test(start_paused = true)]
async fn an_answer_of_the_limit_is_read_and_one_byte_more_is_not() {
    let of = |length: usize, seen: &SeenRequest| {
        let mut body = result(seen).to_string();
        body.push_str(&" ".repeat(length - body.len()));
        body
    };
    let mut options = HttpClientOptions::default();
    options.limits.max_response_bytes = 1_000;
    options.limits.max_event_bytes = 1_000;
    for (length, fits) in [(1_000, true), (1_001, false)] {
        let declared = FakeServer::new(move |seen, _| {
            with(
                200,
                &[("content-type", "application/json")],
                of(length, seen),
            )
        });
        let chunked = FakeServer::new(move |seen, _| {
            let mut answer = vec![BodyPart::Bytes(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".to_vec())];
            answer.extend(of(length, seen).as_bytes().chunks(100).map(piece));
            answer.push(end());
            answer
        });
        let as_event = FakeServer::new(move |seen, _| {
            streamed([piece(format!("data:{}\n\n", of(length - 5, seen)))])
        });
        for origin in [declared, chunked, as_event] {
            let user = user_with(origin, &options).await;
            user.peer
                .with_engine_mut(|engine| engine.use_revision(pintle_model::Revision::LATEST));
            let outcome = user.list().await;
            match fits {
                true => assert!(outcome.is_ok(), "{outcome:?}"),
                false => assert_eq!(loss(&outcome), TransportErrorKind::TooLarge),
            }
        }
    }
}

// hardening: H-157
#[tokio::test(start_paused = true)]
async fn an_endless_response_head_is_not_buffered() {
    let endless = answered(|_| {
        let mut head = b"HTTP/1.1 200 X\r\n".to_vec();
        head.extend(b"x: ".iter().chain(&vec![b'y'; 100 << 10]));
        vec![BodyPart::Bytes(head), BodyPart::Hang]
    });
    assert_eq!(loss(&endless.await), TransportErrorKind::Disconnected);
    let many = answered(|seen| {
        let lines: Vec<_> = (0..101).map(|n| (format!("x-{n}"), "y")).collect();
        let lines: Vec<_> = lines
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        with(200, &lines, result(seen).to_string())
    });
    assert_eq!(loss(&many.await), TransportErrorKind::Disconnected);
}

// hardening: H-164, H-170
#[tokio::test(start_paused = true)]
async fn a_slow_response_ends_with_the_timeout_of_the_call() {
    let head = |_: &SeenRequest| {
        let bytes =
            b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n";
        let dribble = bytes.iter().chain(std::iter::repeat_n(&b' ', 900));
        dribble
            .flat_map(|byte| [BodyPart::Bytes(vec![*byte]), BodyPart::Wait(SECOND)])
            .collect()
    };
    let began = Instant::now();
    let outcome = answered(head).await;
    assert!(
        matches!(outcome, Err(PeerCallError::TimedOut(_))),
        "{outcome:?}"
    );
    assert_eq!(began.elapsed(), 60 * SECOND);
}

// hardening: H-164
#[tokio::test(start_paused = true)]
async fn a_server_that_falls_silent_is_left_however_patient_the_caller_is() {
    let hang = |mut answer: FakeResponse| {
        answer.push(BodyPart::Hang);
        answer
    };
    let body = hang(vec![BodyPart::Bytes(
        b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{".to_vec(),
    )]);
    let events = hang(stream(&[]));
    for silent in [hang(Vec::new()), body, events] {
        let origin = FakeServer::new(move |_, _| silent.clone());
        let user = User::modern(origin.clone()).await;
        let began = Instant::now();
        let call = user.call_with("tools/list", json!({}), Some(3_600 * SECOND));
        let outcome = call.outcome().await;
        assert_eq!(loss(&outcome), TransportErrorKind::TimedOut);
        assert_eq!(began.elapsed(), 300 * SECOND);
        tokio::time::sleep(SECOND).await;
        assert_eq!(
            origin.closed(),
            [0],
            "the server is told that nobody listens"
        );
    }
}

// hardening: H-158
#[tokio::test(start_paused = true)]
async fn events_without_end_do_not_hold_a_call_beyond_its_time() {
    let origin = FakeServer::new(|_, _| {
        let noise = piece("event: other\ndata: x\n\n: y\n\n");
        let mut answer = stream(&[]);
        answer.extend((0..1_000).flat_map(|_| [noise.clone(), BodyPart::Wait(SECOND / 10)]));
        answer
    });
    let user = User::modern(origin).await;
    let outcome = user.list().await;
    assert!(
        matches!(outcome, Err(PeerCallError::TimedOut(_))),
        "{outcome:?}"
    );
}

// spec: 2026-07-28 N-HTTP-27
#[tokio::test(start_paused = true)]
async fn a_subscription_may_be_quiet_for_as_long_as_it_likes() {
    let origin = FakeServer::new(|seen, _| {
        let id = seen.id();
        let acknowledged = json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": { "notifications": {}, "_meta": { "io.modelcontextprotocol/subscriptionId": id } } });
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
            "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": id } } });
        let mut answer = stream(&[]);
        answer.extend([
            event(&acknowledged),
            BodyPart::Wait(3_600 * SECOND),
            event(&changed),
            BodyPart::Hang,
        ]);
        answer
    });
    let user = User::modern(origin).await;
    let _listen = user.call_with(
        "subscriptions/listen",
        json!({ "notifications": {} }),
        Some(10_000 * SECOND),
    );
    tokio::time::sleep(3_601 * SECOND).await;
    let received = user.received();
    assert!(
        received.contains(&"notifications/tools/list_changed".to_owned()),
        "{received:?}"
    );
}
