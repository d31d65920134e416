//! Requests, and their responses.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A timeout that no request here needs.
const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const MODERN: &str = "2026-07-28";

/// A request to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    verb: &'static str,
    place: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Came {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

pub(crate) fn verb(verb: &'static str, place: &str) -> Ask {
    Ask {
        verb,
        place: place.into(),
        headers: Vec::new(),
        body: String::new(),
    }
}

pub(crate) fn post(message: &Value) -> Ask {
    let mut ask = verb("POST", "/mcp")
        .with("content-type", "application/json")
        .with("accept", "application/json, text/event-stream");
    ask.body = message.to_string();
    ask
}

/// A request of 2026-07-28, without a session.
pub(crate) fn modern(method: &str, params: Value) -> Ask {
    able_to(&json!({}), method, params)
}

/// The same, of a client with these capabilities.
pub(crate) fn able_to(able: &Value, method: &str, mut params: Value) -> Ask {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = able.clone();
    let subject = params.get("name").or(params.get("uri")).cloned();
    let ask = post(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", method);
    match subject.as_ref().and_then(Value::as_str) {
        Some(subject) => ask.with("mcp-name", subject),
        None => ask,
    }
}

pub(crate) fn call(tool: &str) -> Ask {
    modern("tools/call", json!({ "name": tool, "arguments": {} }))
}

pub(crate) fn list() -> Ask {
    modern("tools/list", json!({}))
}

/// A request of a revision with sessions.
pub(crate) fn legacy(method: &str, params: Value) -> Ask {
    post(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

pub(crate) fn initialize() -> Ask {
    let client = json!({ "name": "test", "version": "0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    legacy("initialize", params)
}

impl Ask {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn at(mut self, place: &str) -> Self {
        self.place = place.into();
        self
    }

    fn request(&self, host: &str) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(self.verb)
            .uri(&*self.place)
            .header("host", host);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = Full::from(self.body.clone());
        request.body(body).expect("a request")
    }

    /// Sends the request on a new connection.
    pub(crate) async fn of(&self, address: SocketAddr) -> Came {
        self.of_host(address, &address.to_string()).await
    }

    /// The same with this `Host` header.
    pub(crate) async fn of_host(&self, address: SocketAddr, host: &str) -> Came {
        let response = self.open_at(address, host).await;
        let came = timeout(PATIENCE, Came::read(response)).await;
        came.expect("an end in time")
    }

    /// Sends the request, and returns the response with its body unread.
    pub(crate) async fn open(&self, address: SocketAddr) -> Response<hyper::body::Incoming> {
        self.open_at(address, &address.to_string()).await
    }

    async fn open_at(&self, address: SocketAddr, host: &str) -> Response<hyper::body::Incoming> {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let io = TokioIo::new(stream);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io)
            .await
            .expect("it speaks HTTP");
        tokio::spawn(connection);
        let request = self.request(host);
        sender.send_request(request).await.expect("an answer")
    }

    /// Sends the request to a service, without a socket.
    pub(crate) async fn through<S, R>(&self, service: &S) -> Came
    where
        S: tower_service::Service<Request<Full<Bytes>>, Response = Response<R>> + Clone,
        S::Error: std::fmt::Debug,
        R: Body<Data = Bytes>,
        R::Error: std::fmt::Debug,
    {
        let mut service = service.clone();
        let response = service.call(self.request("localhost")).await;
        Came::read(response.expect("it never fails")).await
    }
}

/// A stream that is read piece by piece.
pub(crate) struct Stream {
    body: hyper::body::Incoming,
    pub(crate) received: String,
}

impl Stream {
    pub(crate) fn of(response: Response<hyper::body::Incoming>) -> Self {
        assert_eq!(response.status(), 200);
        Self {
            body: response.into_body(),
            received: String::new(),
        }
    }

    /// Reads until `text` has arrived, or until the end.
    pub(crate) async fn until(&mut self, text: &str) {
        while !self.received.contains(text) && self.more().await {}
        assert!(self.received.contains(text), "{text}: {}", self.received);
    }

    /// Reads to the end, and returns the whole text.
    pub(crate) async fn end(mut self) -> String {
        while self.more().await {}
        self.received
    }

    /// Reads one more piece; false at the end.
    async fn more(&mut self) -> bool {
        let frame = timeout(PATIENCE, self.body.frame()).await;
        let Some(Ok(frame)) = frame.expect("something in time") else {
            return false;
        };
        if let Ok(data) = frame.into_data() {
            self.received.push_str(&String::from_utf8_lossy(&data));
        }
        true
    }
}

impl Came {
    async fn read<B>(response: Response<B>) -> Self
    where
        B: Body<Data = Bytes>,
        B::Error: std::fmt::Debug,
    {
        let (parts, body) = response.into_parts();
        let text =
            |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = parts.headers.iter();
        let bytes = body.collect().await.expect("a body").to_bytes();
        Self {
            status: parts.status.as_u16(),
            headers: headers
                .map(|(name, value)| (name.as_str().to_owned(), text(value)))
                .collect(),
            body: String::from_utf8(bytes.to_vec()).expect("text"),
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map_or("", |(_, value)| value)
    }

    /// The value of one parameter of the challenge.
    pub(crate) fn says(&self, parameter: &str) -> Option<String> {
        let lines = self
            .headers
            .iter()
            .filter(|(name, _)| name == "www-authenticate");
        let challenges = pintle_auth::challenges(lines.map(|(_, line)| line.as_str()));
        let mut values = challenges.iter().filter_map(|one| one.parameter(parameter));
        values.next().map(str::to_owned)
    }

    /// The last message of the body, which is JSON or a stream of events.
    pub(crate) fn json(&self) -> Value {
        let mut events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let text = events.next_back().unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The text of a tool's result.
    pub(crate) fn text(&self) -> String {
        let json = self.json();
        let text = json["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {json}")).to_owned()
    }
}
