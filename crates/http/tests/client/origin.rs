//! An origin in memory that answers as it is told, byte for byte.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_http::client::{BoxStream, Dial, UrlOrigin};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, sleep};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) verb: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) at: Instant,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(own, _)| own == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} occurs twice");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn id(&self) -> Value {
        self.json()["id"].clone()
    }

    pub(crate) fn method(&self) -> String {
        self.json()["method"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Whether it is a POST of this method.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.verb == "POST" && self.method() == method
    }
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Bytes(Vec<u8>),
    Wait(Duration),
    /// The connection ends here.
    Cut,
    /// Nothing more comes, and the connection stays.
    Hang,
}

pub(crate) type Answer = Vec<Part>;

type Script = dyn Fn(&Seen, usize) -> Answer + Send + Sync;

/// Answers every request as `script` says; the number counts requests from 0.
#[derive(Clone)]
pub(crate) struct Origin(Arc<Inner>);

struct Inner {
    script: Box<Script>,
    seen: Mutex<Vec<Seen>>,
    connections: Mutex<Vec<UrlOrigin>>,
    closed: Mutex<Vec<usize>>,
}

impl Origin {
    pub(crate) fn new(script: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            script: Box::new(script),
            seen: Mutex::default(),
            connections: Mutex::default(),
            closed: Mutex::default(),
        }))
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.0.seen.lock().expect("no panic").clone()
    }

    /// The first request of a verb, or of a method.
    pub(crate) fn first(&self, what: &str) -> Seen {
        let mut seen = self.seen().into_iter();
        seen.find(|seen| seen.verb == what || seen.is(what))
            .unwrap_or_else(|| panic!("no {what} came"))
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        let seen = self.seen();
        let of = seen
            .iter()
            .filter(|seen| seen.verb == what || seen.is(what));
        of.count()
    }

    pub(crate) fn connections(&self) -> Vec<UrlOrigin> {
        self.0.connections.lock().expect("no panic").clone()
    }

    /// The connections that the client has closed.
    pub(crate) fn closed(&self) -> Vec<usize> {
        self.0.closed.lock().expect("no panic").clone()
    }

    async fn serve(self, mut stream: DuplexStream, connection: usize) {
        let mut unread = Vec::new();
        while let Some(seen) = read(&mut stream, &mut unread).await {
            let count = {
                let mut all = self.0.seen.lock().expect("no panic");
                all.push(seen.clone());
                all.len() - 1
            };
            for part in (self.0.script)(&seen, count) {
                match part {
                    Part::Bytes(bytes) if stream.write_all(&bytes).await.is_ok() => {}
                    Part::Wait(time) => sleep(time).await,
                    Part::Hang => {
                        let mut nothing = [0; 64];
                        while stream.read(&mut nothing).await.is_ok_and(|read| read > 0) {}
                        self.0.closed.lock().expect("no panic").push(connection);
                        return;
                    }
                    Part::Cut | Part::Bytes(_) => return,
                }
            }
        }
        self.0.closed.lock().expect("no panic").push(connection);
    }
}

impl Dial for Origin {
    fn dial(
        &self,
        origin: &UrlOrigin,
    ) -> Pin<Box<dyn Future<Output = io::Result<BoxStream>> + Send>> {
        let connection = {
            let mut all = self.0.connections.lock().expect("no panic");
            all.push(origin.clone());
            all.len() - 1
        };
        let (near, far) = duplex(1 << 16);
        tokio::spawn(self.clone().serve(far, connection));
        Box::pin(async { Ok(BoxStream::new(near)) })
    }
}

async fn read(stream: &mut DuplexStream, unread: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(end) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(unread[..end].to_vec()).expect("text");
    let mut lines = head.lines();
    let mut line = lines.next()?.split(' ');
    let (verb, target) = (line.next()?.to_owned(), line.next()?.to_owned());
    let pairs = lines.filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = pairs
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().expect("a number"));
    while unread.len() < end + length {
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
    let rest = unread.split_off(end + length);
    let body = String::from_utf8(unread[end..].to_vec()).expect("text");
    *unread = rest;
    Some(Seen {
        verb,
        target,
        headers,
        body,
        at: Instant::now(),
    })
}

/// An answer with a body and its length.
pub(crate) fn with(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let mut bytes = head(status, headers);
    bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    vec![Part::Bytes(bytes)]
}

pub(crate) fn empty(status: u16) -> Answer {
    with(status, &[], "")
}

pub(crate) fn json(status: u16, body: &Value) -> Answer {
    with(
        status,
        &[("content-type", "application/json")],
        body.to_string(),
    )
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let lines = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    format!("HTTP/1.1 {status} X\r\n{}", lines.collect::<String>()).into_bytes()
}

/// The head of a stream of events.
pub(crate) fn stream(headers: &[(&str, &str)]) -> Answer {
    let mut bytes = head(200, headers);
    bytes.extend(b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    vec![Part::Bytes(bytes)]
}

/// A piece of a stream.
pub(crate) fn piece(bytes: impl AsRef<[u8]>) -> Part {
    let bytes = bytes.as_ref();
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    Part::Bytes(chunk)
}

/// The proper end of a stream.
pub(crate) fn end() -> Part {
    Part::Bytes(b"0\r\n\r\n".to_vec())
}

/// An event with a message.
pub(crate) fn event(message: &Value) -> Part {
    piece(format!("data: {message}\n\n"))
}

/// A stream of these pieces that ends well.
pub(crate) fn streamed(parts: impl IntoIterator<Item = Part>) -> Answer {
    let mut answer = stream(&[]);
    answer.extend(parts);
    answer.push(end());
    answer
}

/// The result of a call.
pub(crate) fn result(seen: &Seen) -> Value {
    json!({ "jsonrpc": "2.0", "id": seen.id(), "result": { "resultType": "complete", "tools": [] } })
}

/// The error of a call.
pub(crate) fn error(id: Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } })
}

/// The welcome of a legacy server, in session `s-1`.
pub(crate) fn welcome(seen: &Seen) -> Answer {
    welcome_to(seen, &[("mcp-session-id", "s-1")])
}

pub(crate) fn welcome_to(seen: &Seen, headers: &[(&str, &str)]) -> Answer {
    let mut headers = headers.to_vec();
    headers.push(("content-type", "application/json"));
    with(200, &headers, welcoming(seen).to_string())
}

pub(crate) fn welcoming(seen: &Seen) -> Value {
    let server = json!({ "name": "origin", "version": "0" });
    let offers = json!({ "tools": {}, "logging": {} });
    let revision = seen.json()["params"]["protocolVersion"].clone();
    json!({ "jsonrpc": "2.0", "id": seen.id(), "result": {
        "protocolVersion": revision, "capabilities": offers, "serverInfo": server,
    } })
}

/// What a legacy server says to everything but calls.
pub(crate) fn courtesy(seen: &Seen) -> Option<Answer> {
    match (seen.verb.as_str(), seen.method().as_str()) {
        ("POST", "initialize") => Some(welcome(seen)),
        ("POST", method) if method.starts_with("notifications/") => Some(empty(202)),
        ("GET", _) => Some(empty(405)),
        ("DELETE", _) => Some(empty(200)),
        _ => None,
    }
}
