//! The limits of the page.

use std::time::Duration;

use pintle_web::WebOptions;
use serde_json::{Value, json};

use crate::browser::Browser;

fn options(set: impl FnOnce(&mut WebOptions)) -> WebOptions {
    let mut options = WebOptions::default();
    set(&mut options);
    options
}

async fn connected(options: WebOptions) -> Browser {
    let browser = Browser::showcase(options).await;
    browser.connect("2025-11-25").await;
    browser
}

/// A call that waits for an answer of the page.
fn waiting() -> Value {
    json!({ "op": 1, "name": "allot_berth", "arguments": { "call_sign": "DABC" } })
}

#[tokio::test]
async fn a_body_above_the_limit_is_rejected() {
    let browser = Browser::showcase(options(|o| o.max_body_bytes = 100)).await;
    let send = async |length: usize| {
        let body = format!("{{\"x\":\"{}\"}}", "y".repeat(length - 8));
        let headers = browser.headers();
        let sent = browser.send("POST", "/api/state", &headers, &body).await;
        sent.status
    };
    assert_eq!(send(100).await, 200);
    assert_eq!(send(101).await, 413);
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let browser = Browser::showcase(options(|o| o.body_timeout = Duration::from_millis(50))).await;
    let mut headers = browser.headers();

    headers.push(("Transfer-Encoding", "chunked".to_owned()));
    let text: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let text = format!("POST /api/state HTTP/1.1\r\nConnection: close\r\n{text}\r\n5\r\n{{");
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(browser.address)
        .await
        .expect("connects");
    stream.write_all(text.as_bytes()).await.expect("sent");
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .await
        .expect("a response");
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
}

#[tokio::test]
async fn a_call_above_the_limit_is_rejected() {
    let browser = connected(options(|o| o.max_calls = 1)).await;
    let body = waiting().to_string();
    let _first = browser
        .begin("POST", "/api/call", &browser.headers(), &body)
        .await;
    browser.event("question", 0).await;
    let second = browser
        .send("POST", "/api/call", &browser.headers(), &body)
        .await;
    assert_eq!(second.status, 429, "{second:?}");
}

#[tokio::test]
async fn a_page_that_goes_away_cancels_its_call() {
    let browser = connected(WebOptions::default()).await;
    let body = waiting().to_string();
    let first = browser
        .begin("POST", "/api/call", &browser.headers(), &body)
        .await;
    let question = browser.event("question", 0).await;
    drop(first);
    let ended = browser.event("questionEnd", 0).await;
    assert_eq!(ended["id"], question["question"]["id"]);
    let answer = json!({ "id": ended["id"], "answer": { "action": "decline" } });
    assert_eq!(browser.post("answer", answer).await, json!({ "ok": false }));
}

#[tokio::test]
async fn a_question_above_the_limit_is_cancelled() {
    let browser = connected(options(|o| o.max_questions = 0)).await;
    let result = browser.post("call", waiting()).await;
    let text = &result["result"]["content"][0]["text"];
    assert_eq!(text, "nobody has decided about DABC", "{result}");
}

#[tokio::test]
async fn a_subscription_above_the_limit_is_rejected() {
    let browser = connected(options(|o| o.max_subscriptions = 0)).await;
    let body = json!({ "uri": "harbour://movements" }).to_string();
    let headers = browser.headers();
    let sent = browser
        .send("POST", "/api/subscribe", &headers, &body)
        .await;
    assert_eq!(sent.status, 429);
}

#[tokio::test]
async fn a_page_that_waits_for_events_is_answered() {
    let browser = Browser::showcase(options(|o| o.poll_timeout = Duration::from_millis(20))).await;
    let page = browser.post("events", json!({ "after": 0 })).await;
    assert_eq!(page, json!({ "events": [], "next": 0, "lost": 0 }));
}

#[tokio::test]
async fn connections_above_the_limit_wait() {
    let browser = Browser::showcase(options(|o| o.max_connections = 1)).await;
    let first = tokio::net::TcpStream::connect(browser.address)
        .await
        .expect("connects");
    let second = browser.post("state", json!({}));
    tokio::pin!(second);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut second).await;
    assert!(early.is_err(), "the second connection waits");
    drop(first);
    assert!(second.await["version"].is_string());
}

#[tokio::test]
async fn a_measurement_above_the_limits_is_rejected() {
    let browser = connected(options(|o| {
        o.max_bench_calls = 10;
        o.max_bench_callers = 2;
    }))
    .await;
    let status = async |calls: u32, callers: u32| {
        let body = json!({ "op": 1, "name": "vessels", "calls": calls, "callers": callers });
        let (headers, body) = (browser.headers(), body.to_string());
        let sent = browser.send("POST", "/api/bench", &headers, &body).await;
        sent.status
    };
    assert_eq!(status(10, 2).await, 200);
    for (calls, callers) in [(11, 2), (10, 3), (0, 1), (1, 0)] {
        assert_eq!(status(calls, callers).await, 400, "{calls} {callers}");
    }
}

#[tokio::test]
async fn a_measurement_ends_at_its_time_limit() {
    let browser = connected(options(|o| o.max_bench_time = Duration::ZERO)).await;
    let body = json!({ "op": 1, "name": "vessels", "calls": 10, "callers": 2 });
    let measured = browser.post("bench", body).await;
    assert_eq!(measured["result"]["calls"], 0, "{measured}");
}
