//! Dropped calls, and clients that disconnect.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::origin::{BodyPart, FakeServer, courtesy, stream};
use super::user::User;

const SECOND: Duration = Duration::from_secs(1);

fn silent() -> FakeServer {
    FakeServer::new(|seen, _| {
        courtesy(seen).unwrap_or_else(|| {
            let mut answer = stream(&[]);
            answer.push(BodyPart::Hang);
            answer
        })
    })
}

// spec: 2026-07-28 N-SUBS-10, N-CANC-01
#[tokio::test(start_paused = true)]
async fn a_dropped_modern_call_closes_its_response_and_sends_nothing() {
    let origin = silent();
    let user = User::modern(origin.clone()).await;
    let call = user.call("tools/list", json!({}));
    sleep(SECOND).await;
    assert!(origin.closed().is_empty());
    drop(call);
    sleep(SECOND).await;
    assert_eq!(origin.closed(), [0]);
    assert_eq!(origin.seen().len(), 1);
}

// spec: 2025-11-25 TRANS-HTTP-27
#[tokio::test(start_paused = true)]
async fn a_legacy_call_that_is_dropped_is_cancelled_in_words() {
    let origin = silent();
    let user = User::in_session(origin.clone()).await;
    let call = user.call("tools/list", json!({}));
    sleep(SECOND).await;
    drop(call);
    sleep(SECOND).await;
    let cancelled = origin.first("notifications/cancelled");
    assert_eq!(
        cancelled.json()["params"]["requestId"],
        origin.first("tools/list").id()
    );
    assert_eq!(cancelled.header("mcp-session-id"), Some("s-1"));
}

// hardening: H-172
#[tokio::test(start_paused = true)]
async fn nothing_of_a_client_that_is_dropped_goes_on() {
    let origin = silent();
    let user = User::in_session(origin.clone()).await;
    let _call = user.call("tools/list", json!({}));
    sleep(SECOND).await;
    let before = origin.connections().len();
    user.driver.abort();
    sleep(600 * SECOND).await;
    assert_eq!(origin.connections().len(), before);
    assert_eq!(origin.count("DELETE"), 0);
    let mut closed = origin.closed();
    closed.sort_unstable();
    assert_eq!(closed, (0..before).collect::<Vec<_>>());
}

// hardening: H-170, H-173
#[tokio::test(start_paused = true)]
async fn a_server_that_takes_no_cancellations_delays_no_client_that_closes() {
    let origin = FakeServer::new(|seen, _| match seen.method().as_str() {
        "tools/list" | "notifications/cancelled" => vec![BodyPart::Hang],
        _ => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    let calls: Vec<_> = (0..100)
        .map(|_| user.call("tools/list", json!({})))
        .collect();
    sleep(SECOND).await;
    let began = tokio::time::Instant::now();
    user.close().await.expect("a good end");
    assert_eq!(began.elapsed(), 5 * SECOND);
    assert_eq!(origin.count("notifications/cancelled"), 64, "open posts");
    drop(calls);
}

// hardening: H-164
#[tokio::test(start_paused = true)]
async fn an_unread_slow_response_does_not_delay_other_calls() {
    let origin = FakeServer::new(|seen, _| {
        if seen.is("tools/list") {
            return super::origin::json(200, &super::origin::result(seen));
        }
        if seen.method() == "notifications/initialized" {
            let head = b"HTTP/1.1 202 X\r\ncontent-length: 1000\r\n\r\n".to_vec();
            let dribble = std::iter::repeat_n(
                [BodyPart::Bytes(b"x".to_vec()), BodyPart::Wait(SECOND / 2)],
                1_000,
            );
            return std::iter::once(BodyPart::Bytes(head))
                .chain(dribble.flatten())
                .collect();
        }
        courtesy(seen).expect("nothing else")
    });
    let user = User::in_session(origin).await;
    let began = tokio::time::Instant::now();
    user.list().await.expect("a result");
    assert!(began.elapsed() <= 2 * SECOND, "{:?}", began.elapsed());
}
