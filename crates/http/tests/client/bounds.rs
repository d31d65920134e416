//! What a client waits for and takes, at its bounds and one past them.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use pintle_http::client::{
    BoxIo, Dialer, HttpClient, HttpClientError, HttpClientOptions, Tls, UrlOrigin, WebClient,
};
use pintle_runtime::BoxFuture;
use serde_json::json;
use tokio::io::{DuplexStream, duplex};
use tokio::time::{Instant, sleep};

use super::origin::{BodyPart, FakeResponse, FakeServer, courtesy, empty, json, result};
use super::user::User;

const SECOND: Duration = Duration::from_secs(1);

/// An origin that is reached after a while.
struct Late(FakeServer, Duration);

impl Dialer for Late {
    fn dial(&self, origin: &UrlOrigin) -> BoxFuture<'static, io::Result<BoxIo>> {
        let (dialled, after) = (self.0.dial(origin), self.1);
        Box::pin(async move {
            sleep(after).await;
            dialled.await
        })
    }
}

/// A server that accepts connections and stays silent.
#[derive(Default)]
struct Silent(Mutex<Vec<DuplexStream>>);

impl Dialer for Silent {
    fn dial(&self, _: &UrlOrigin) -> BoxFuture<'static, io::Result<BoxIo>> {
        let (near, far) = duplex(1 << 16);
        self.0.lock().expect("no panic").push(far);
        Box::pin(async { Ok(BoxIo::new(near)) })
    }
}

/// How a request to `url` failed, and after how long; none if it was answered.
async fn failure(
    dial: impl Dialer,
    url: &str,
    options: &HttpClientOptions,
) -> (Option<HttpClientError>, Duration) {
    let request = Request::get(url).body(Bytes::new()).expect("a request");
    let began = Instant::now();
    let fetched = WebClient::over(dial, options).fetch(request).await;
    (fetched.err(), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_waited_for_up_to_its_time() {
    let origin = || FakeServer::new(|_, _| empty(200));
    let (options, url) = (HttpClientOptions::default(), "http://127.0.0.1/mcp");
    let (failed, after) = failure(Late(origin(), 9 * SECOND), url, &options).await;
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(after, 9 * SECOND);
    let (failed, after) = failure(Late(origin(), 11 * SECOND), url, &options).await;
    let failed = failed.expect("it took too long");
    assert!(
        matches!(failed, HttpClientError::TimedOut { .. }),
        "{failed}"
    );
    assert!(!failed.may_have_arrived());
    assert_eq!(after, 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_greetings_of_tls_have_their_time() {
    let mut options = HttpClientOptions::default();
    options.tls = Tls::default().without_system();
    let (failed, after) = failure(Silent::default(), "https://127.0.0.1/mcp", &options).await;
    let failed = failed.expect("nobody greets");
    assert!(
        matches!(failed, HttpClientError::TimedOut { .. }),
        "{failed}"
    );
    assert!(!failed.may_have_arrived());
    assert_eq!(after, 10 * SECOND);
}

/// An answer of one message with a header such that the head has a size, or so many headers.
fn padded(message: &str, bytes: usize, lines: usize) -> FakeResponse {
    let mut head = format!(
        "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        message.len()
    );
    (2..lines).for_each(|nth| head.push_str(&format!("x-{nth}: y\r\n")));
    let rest = bytes.saturating_sub(head.len() + "x: \r\n\r\n".len());
    if rest > 0 {
        head.push_str(&format!("x: {}\r\n", "y".repeat(rest)));
    }
    vec![BodyPart::Bytes(format!("{head}\r\n{message}").into_bytes())]
}

// hardening: H-157
#[tokio::test(start_paused = true)]
async fn a_head_of_the_limit_is_read_and_one_more_is_not() {
    for (bytes, lines, is_read) in [
        (64 << 10, 0, true),
        ((64 << 10) + 1, 0, false),
        (0, 100, true),
        (0, 101, false),
    ] {
        let origin =
            FakeServer::new(move |seen, _| padded(&result(seen).to_string(), bytes, lines));
        let listed = User::modern(origin).await.list().await;
        assert_eq!(listed.is_ok(), is_read, "{bytes} {lines} {listed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_notices_are_on_their_way_and_more_wait() {
    let origin = FakeServer::new(|seen, _| match seen.is("notifications/swell") {
        true => vec![BodyPart::Wait(SECOND), BodyPart::Bytes(accepted())],
        false => courtesy(seen).unwrap_or_else(|| json(200, &result(seen))),
    });
    let user = User::in_session(origin.clone()).await;
    for _ in 0..65 {
        let outcome = user
            .peer
            .with_engine_mut(|engine| engine.notify("notifications/swell", None));
        outcome.expect("there is room");
    }
    sleep(SECOND / 2).await;
    assert_eq!(origin.count("notifications/swell"), 64);
    sleep(SECOND).await;
    assert_eq!(origin.count("notifications/swell"), 65);
}

fn accepted() -> Vec<u8> {
    b"HTTP/1.1 202 X\r\ncontent-length: 0\r\n\r\n".to_vec()
}

#[tokio::test(start_paused = true)]
async fn calls_are_not_held_up_by_notices() {
    let origin = FakeServer::new(|seen, _| match seen.is("notifications/swell") {
        true => vec![BodyPart::Hang],
        false => courtesy(seen).unwrap_or_else(|| json(200, &result(seen))),
    });
    let user = User::in_session(origin).await;
    for _ in 0..63 {
        let outcome = user
            .peer
            .with_engine_mut(|engine| engine.notify("notifications/swell", None));
        outcome.expect("there is room");
    }
    sleep(SECOND).await;
    let listed = user.call("tools/list", json!({})).outcome().await;
    listed.expect("a result");
}
