//! The transport of 2024-11-05, over real sockets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{Counts, endpoint_with, get, initialize};
use http::Request;
use http_body_util::BodyExt;
use pintle_http::{HttpOptions, HttpServer};
use pintle_proto::frame::sse::Decoder;
use pintle_runtime::Principal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service as _;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(10);

/// One process, or several replicas that answer in turn.
struct Server {
    addresses: Vec<SocketAddr>,
    requests: AtomicUsize,
    calls: Arc<Counts>,
}

impl Server {
    async fn open(options: HttpOptions) -> Self {
        let (endpoint, calls) = endpoint_with(options);
        let mut addresses = Vec::new();
        for replica in endpoint.all() {
            let server = HttpServer::bind(replica.clone(), "127.0.0.1:0").await;
            let server = server.expect("a free port").with_sse();
            addresses.push(server.address().expect("an address"));
            tokio::spawn(server.run());
        }
        let requests = AtomicUsize::new(0);
        Self {
            addresses,
            requests,
            calls,
        }
    }

    /// Sends a request, and returns the connection.
    async fn send(&self, head: &str, body: &str) -> TcpStream {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let address = self.addresses[number % self.addresses.len()];
        let mut socket = TcpStream::connect(address).await.expect("a port");
        let text = format!(
            "{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(text.as_bytes()).await.expect("sent");
        socket
    }

    async fn post(&self, place: &str, body: &Value) -> u16 {
        self.post_text(place, &body.to_string()).await
    }

    async fn post_text(&self, place: &str, body: &str) -> u16 {
        let head =
            format!("POST {place} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json");
        self.status(&head, body).await
    }

    async fn status(&self, head: &str, body: &str) -> u16 {
        let mut socket = self.send(head, body).await;
        let mut came = String::new();
        let read = timeout(PATIENCE, socket.read_to_string(&mut came));
        read.await.expect("an end").expect("text");
        let status = came.split(' ').nth(1).expect("a status");
        status.parse().expect("a number")
    }

    /// Opens a stream, and gives it with the place to post to.
    async fn stream(&self) -> (Stream, String) {
        let head = "GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream";
        let mut stream = Stream {
            socket: self.send(head, "").await,
            decoder: Decoder::default(),
            head: Some(Vec::new()),
            events: VecDeque::new(),
        };
        let (name, place) = stream.next().await.expect("where to post");
        assert_eq!(name, "endpoint");
        (stream, place)
    }

    /// Opens a stream and shakes hands.
    async fn session(&self, revision: &str) -> (Stream, String) {
        let (mut stream, place) = self.stream().await;
        let welcome: Value = serde_json::from_slice(&initialize(revision).body).expect("JSON");
        assert_eq!(self.post(&place, &welcome).await, 202);
        let answer = stream.message().await;
        assert_eq!(answer["result"]["protocolVersion"], revision);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&place, &ready).await, 202);
        (stream, place)
    }
}

/// An open stream. Chunks of HTTP/1.1 are undone by dropping the lines of their sizes.
struct Stream {
    socket: TcpStream,
    decoder: Decoder,
    head: Option<Vec<u8>>,
    events: VecDeque<(String, String)>,
}

impl Stream {
    /// The next event; none at the end.
    async fn next(&mut self) -> Option<(String, String)> {
        while self.events.is_empty() {
            let mut bytes = vec![0; 64 << 10];
            let read = timeout(PATIENCE, self.socket.read(&mut bytes)).await;
            let length = read.expect("something in time").unwrap_or(0);
            if length == 0 {
                return None;
            }
            self.take(&bytes[..length]);
        }
        self.events.pop_front()
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes.to_vec();
        if let Some(mut head) = self.head.take() {
            head.extend_from_slice(bytes);
            let text = String::from_utf8_lossy(&head).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                self.head = Some(text.into_bytes());
                return;
            };
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            assert!(head.contains("text/event-stream"), "{head}");
            rest = body.as_bytes().to_vec();
        }
        // Sizes of chunks are fields of no name to a reader of events, who passes over them.
        let mut rest = &rest[..];
        while let Some(event) = self.decoder.decode(&mut rest).expect("short events") {
            let name = event.name.as_deref().unwrap_or("message").to_owned();
            let data = String::from_utf8(event.data.to_vec()).expect("text");
            self.events.push_back((name, data));
        }
    }

    async fn message(&mut self) -> Value {
        let (name, data) = self.next().await.expect("a message");
        assert_eq!(name, "message");
        serde_json::from_str(&data).expect("JSON")
    }
}

fn call(id: i64, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": id } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

// spec: 2025-11-25 D1105-01, D1105-02, D1105-03, D1105-04, D-ALL-02, TRANS-COMPAT-01, AMB-46
// spec: 2026-07-28 N-COMPAT-06
#[tokio::test]
async fn the_one_stream_carries_every_message() {
    let server = Server::open(HttpOptions::default()).await;
    for revision in ["2024-11-05", "2025-11-25"] {
        let (mut stream, place) = server.session(revision).await;
        let progress = call(1, "progress", json!({ "steps": 2 }));
        assert_eq!(server.post(&place, &progress).await, 202);
        for step in [1.0, 2.0] {
            assert_eq!(stream.message().await["params"]["progress"], step);
        }
        assert_eq!(stream.message().await["id"], 1);
        assert_eq!(server.post(&place, &call(2, "roots", json!({}))).await, 202);
        let asked = stream.message().await;
        assert_eq!(asked["method"], "roots/list");
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
        assert_eq!(server.post(&place, &answer).await, 202);
        let text = &stream.message().await["result"]["content"][0]["text"];
        assert_eq!(text, "0 roots");
        assert_eq!(
            server.post(&place, &call(3, "change", json!({}))).await,
            202
        );
        let mut last = [stream.message().await, stream.message().await];
        last.sort_by_key(|message| message["id"].is_null());
        assert_eq!(last[0]["id"], 3);
        assert_eq!(last[1]["method"], "notifications/tools/list_changed");
    }
}

// spec: 2025-11-25 D1105-05
#[tokio::test]
async fn the_session_ends_with_its_stream() {
    let server = Server::open(HttpOptions::default()).await;
    let (stream, place) = server.session("2024-11-05").await;
    assert_eq!(server.post(&place, &call(1, "hang", json!({}))).await, 202);
    assert_eq!(server.calls.started(), 1);
    drop(stream);
    let gone = async {
        while server.calls.dropped() == 0 || server.post(&place, &json!({})).await != 404 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, gone).await.expect("an end in time");
}

// spec: 2025-11-25 D1105-05, TRANS-HTTP-02
// hardening: H-1, H-3, H-7, H-8, H-13, H-15
#[tokio::test]
async fn strangers_are_turned_away_as_everywhere() {
    let server = Server::open(HttpOptions::default()).await;
    let (_stream, place) = server.session("2024-11-05").await;
    let post = |headers: &str| format!("POST {place} HTTP/1.1\r\n{headers}");
    let json = "content-type: application/json";
    let forged = "0123456789abcdef0123456789abcdef";
    let rows = [
        (post(&format!("host: localhost\r\n{json}")), 202),
        (post(&format!("host: evil.example\r\n{json}")), 403),
        (
            post(&format!(
                "host: localhost\r\norigin: http://evil.example\r\n{json}"
            )),
            403,
        ),
        (post("host: localhost\r\ncontent-type: text/plain"), 415),
        (
            format!("POST /messages HTTP/1.1\r\nhost: localhost\r\n{json}"),
            400,
        ),
        (
            format!("POST {place}&session_id={forged} HTTP/1.1\r\nhost: localhost\r\n{json}"),
            400,
        ),
        (
            format!("POST /messages?session_id={forged} HTTP/1.1\r\nhost: localhost\r\n{json}"),
            404,
        ),
        ("GET /sse HTTP/1.1\r\nhost: evil.example".to_owned(), 403),
        (
            "GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: application/json".to_owned(),
            406,
        ),
        ("DELETE /sse HTTP/1.1\r\nhost: localhost".to_owned(), 405),
        ("GET /other HTTP/1.1\r\nhost: localhost".to_owned(), 404),
    ];
    let ping = json!({ "jsonrpc": "2.0", "method": "notifications/x" }).to_string();
    for (head, expected) in rows {
        assert_eq!(server.status(&head, &ping).await, expected, "{head}");
    }
    for garbage in ["", "{", "7", "[]", "{\"jsonrpc\":\"2.0\"}"] {
        assert_eq!(server.post_text(&place, garbage).await, 400, "{garbage}");
    }
}

// spec: 2025-11-25 AMB-110
// hardening: H-96
#[tokio::test]
async fn a_batch_is_taken_in_where_the_revision_has_them() {
    let server = Server::open(HttpOptions::default()).await;
    for (revision, expected) in [
        ("2024-11-05", 202),
        ("2025-03-26", 202),
        ("2025-06-18", 400),
    ] {
        let (mut stream, place) = server.session(revision).await;
        let batch = json!([call(1, "echo", json!({})), call(2, "echo", json!({}))]);
        assert_eq!(server.post(&place, &batch).await, expected, "{revision}");
        if expected == 202 {
            let answers = stream.message().await;
            assert_eq!(
                (&answers[0]["id"], &answers[1]["id"]),
                (&json!(1), &json!(2))
            );
        }
    }
}

#[tokio::test]
async fn the_two_transports_do_not_share_sessions() {
    let server = Server::open(HttpOptions::default()).await;
    let (_stream, place) = server.session("2024-11-05").await;
    let (_, id) = place.split_once('=').expect("a session");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: */*\r\nmcp-session-id: {id}"
    );
    let body = call(1, "echo", json!({})).to_string();
    assert_eq!(server.status(&head, &body).await, 404);
}

// hardening: H-197
#[tokio::test]
async fn streams_sessions_and_requests_are_bounded_as_everywhere() {
    let mut options = HttpOptions::default();
    options.limits.max_sessions = 1;
    let mut limits = pintle_proto::Limits::default();
    limits.max_running_requests = 2;
    options.conversation_limits = limits.into();
    let server = Server::open(options).await;
    let (_stream, place) = server.session("2024-11-05").await;
    let another = "GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream";
    assert_eq!(server.status(another, "").await, 503);
    for (id, expected) in [(1, 202), (2, 202), (3, 429)] {
        let hang = call(id, "hang", json!({}));
        assert_eq!(server.post(&place, &hang).await, expected);
    }
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(server.post(&place, &cancel).await, 202);
    let hang = call(4, "hang", json!({}));
    assert_eq!(server.post(&place, &hang).await, 202, "there is room again");
}

// hardening: H-20
#[tokio::test]
async fn messages_of_another_principal_find_no_session() {
    let (endpoint, _) = endpoint_with(HttpOptions::default());
    let mut sse = endpoint.only().sse("/v1/messages");
    let mut asks = async |verb: &str, path: &str, name: Option<&str>, body: &str| {
        let mut request = Request::builder()
            .method(verb)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json");
        if let Some(name) = name {
            request = request.extension(Principal::new(name, ["read"]));
        }
        let body = http_body_util::Full::new(bytes::Bytes::from(body.to_owned()));
        let request = request.body(body).expect("a request");
        sse.call(request).await.expect("it never fails")
    };
    let opened = asks("GET", "/v1/sse", Some("alice"), "").await;
    let mut body = opened.into_body();
    let first = body.frame().await.expect("an event").expect("no fault");
    let first = String::from_utf8(first.into_data().expect("data").to_vec()).expect("text");
    let place = first.lines().find_map(|line| line.strip_prefix("data: "));
    let place = place.expect("where to post");
    assert!(place.starts_with("/v1/messages?session_id="), "{place}");
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    for (name, expected) in [(Some("bob"), 404), (None, 404), (Some("alice"), 202)] {
        let answer = asks("POST", place, name, notice).await;
        assert_eq!(answer.status(), expected, "{name:?}");
    }
    assert_eq!(get().of(&endpoint).await.status(), 400);
}
