use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_http::client::{HttpClientBody, HttpClientError};
use serde_json::Value;

use super::*;
use crate::options::{Display, TapOptions};
use crate::tap::{Tap, TapEnd, TapTransport};

/// A server that answers from memory, and stores the last request.
#[derive(Debug, Default)]
struct Fake {
    answer: Mutex<Option<Response<&'static [u8]>>>,
    received: Mutex<Option<Request<Bytes>>>,
}

impl HttpClient for Fake {
    async fn fetch(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpClientError> {
        *self.received.lock().expect("no panic") = Some(request);
        let answer = self
            .answer
            .lock()
            .expect("no panic")
            .take()
            .expect("an answer");
        Ok(answer.map(HttpClientBody::whole))
    }
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Fixture {
    upstream: Upstream<Arc<Fake>>,
    fake: Arc<Fake>,
    end: TapEnd,
    display: Shared,
}

fn fixture() -> Fixture {
    let (fake, display) = (Arc::<Fake>::default(), Shared::default());
    let options = TapOptions {
        display: Display::Json,
        ..TapOptions::default()
    };
    let started = Tap::start(TapTransport::Http, options, display.clone(), None);
    let (tap, end) = started.expect("it starts");
    let upstream = Upstream {
        client: Arc::clone(&fake),
        url: "https://example.com/mcp?key=1".parse().expect("a URL"),
        tap,
        max_body_bytes: 1000,
        next_stream: 1.into(),
    };
    Fixture {
        upstream,
        fake,
        end,
        display,
    }
}

impl Fixture {
    /// Sends a request with headers, and returns the whole response.
    async fn send(
        &self,
        request: ::http::request::Builder,
        body: &'static [u8],
        answer: Response<&'static [u8]>,
    ) -> Response<Bytes> {
        *self.fake.answer.lock().expect("no panic") = Some(answer);
        let body = HttpClientBody::whole(body);
        let response = self
            .upstream
            .exchange(request.body(body).expect("a request"))
            .await;
        let (head, body) = response.into_parts();
        let body = collect(body, usize::MAX).await.expect("whole");
        Response::from_parts(head, body)
    }

    fn received(&self) -> Option<Request<Bytes>> {
        self.fake.received.lock().expect("no panic").take()
    }

    /// Returns the lines of the display.
    fn close(self) -> Vec<Value> {
        drop(self.upstream);
        self.end.close(Duration::from_secs(60)).expect("in time");
        let text =
            String::from_utf8(self.display.0.lock().expect("no panic").clone()).expect("text");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

fn post() -> ::http::request::Builder {
    Request::post("/mcp?key=1")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
}

fn answer(media: &str, body: &'static [u8]) -> Response<&'static [u8]> {
    let answer = Response::builder()
        .header("content-type", media)
        .header("x-own", "1")
        .header("connection", "x-hop");
    answer.header("x-hop", "1").body(body).expect("a response")
}

const CALL: &[u8] = b"{\"jsonrpc\": \"2.0\",\r\n\"id\":1,\"method\":\"tools/list\",\"params\":{}}";
const EVENTS: &[u8] =
    b": ping\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\nid: 3\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{}}\n\n";

#[tokio::test]
async fn bodies_and_headers_pass_unchanged() {
    let fixture = fixture();
    let request = post()
        .header("authorization", "Bearer x")
        .header("connection", "keep-alive, X-Mine")
        .header("x-mine", "1")
        .header("te", "trailers")
        .header("mcp-protocol-version", "2025-06-18");
    let response = fixture
        .send(
            request,
            CALL,
            answer("text/event-stream; charset=utf-8", EVENTS),
        )
        .await;
    assert_eq!(&response.body()[..], EVENTS);
    assert!(response.headers().contains_key("x-own") && !response.headers().contains_key("x-hop"));
    let received = fixture.received().expect("a request");
    assert_eq!(&received.body()[..], CALL);
    assert_eq!(received.uri(), "https://example.com/mcp?key=1");
    let mut names: Vec<&str> = received.headers().keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["authorization", "content-type", "mcp-protocol-version"]
    );
    let lines = fixture.close();
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["request", "notification", "result"]);
    assert!(
        lines.iter().all(|line| line.get("odd").is_none()),
        "{lines:?}"
    );
    assert_eq!(lines[2]["method"], "tools/list");
    assert_eq!(lines.last().expect("a summary")["summary"]["unanswered"], 0);
}

#[tokio::test]
async fn requests_of_a_session_have_the_ids_of_all_its_exchanges() {
    let fixture = fixture();
    let request = || post().header("mcp-session-id", "s");
    let body = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
    fixture
        .send(request(), CALL, answer("application/json", body))
        .await;
    fixture
        .send(request(), CALL, answer("application/json", body))
        .await;
    fixture.send(post(), CALL, answer("text/plain", b"")).await;
    let lines = fixture.close();
    let odd: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["kind"].as_str(),
                line["session"].as_u64(),
                line["odd"][0].as_str(),
            )
        })
        .collect();
    assert_eq!(
        odd,
        [
            (Some("request"), Some(1), None),
            (Some("result"), Some(1), None),
            (Some("request"), Some(1), Some("reused_id")),
            (Some("result"), Some(1), None),
            (Some("request"), None, None),
            (Some("unanswered"), None, None),
            (None, None, None),
        ]
    );
}

#[tokio::test]
async fn a_page_of_another_host_reaches_no_server() {
    let fixture = fixture();
    for request in [
        Request::post("/mcp").header("host", "evil.example"),
        post().header("origin", "https://evil.example"),
        Request::post("/mcp"),
    ] {
        let response = fixture.send(request, CALL, answer("text/plain", b"")).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        assert!(fixture.received().is_none());
    }
    for host in ["127.0.0.1:1", "[::1]:8000"] {
        let request = Request::post("/mcp")
            .header("host", host)
            .header("origin", format!("http://{host}"));
        let response = fixture.send(request, CALL, answer("text/plain", b"")).await;
        assert_eq!(response.status(), StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_rejected() {
    let fixture = fixture();
    let response = fixture
        .send(post(), &[b' '; 1001], answer("text/plain", b""))
        .await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let response = fixture
        .send(post(), &[b' '; 1000], answer("text/plain", b""))
        .await;
    assert_eq!(response.status(), StatusCode::OK);
}
