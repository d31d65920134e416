//! Answers, good and bad, in pieces.

use std::time::Duration;

use serde_json::{Value, json};

use super::SeenRequest;

/// A piece of an answer.
#[derive(Debug, Clone)]
pub enum BodyPart {
    /// Bytes without any change; heads and chunks are bytes, too.
    Bytes(Vec<u8>),
    /// A pause of this duration.
    Wait(Duration),
    /// The end of the connection.
    Cut,
    /// No more bytes; the connection stays open.
    Hang,
}

/// The parts sent for one request. If empty, nothing is sent, and the next request is read.
pub type FakeResponse = Vec<BodyPart>;

/// An answer with a body and its length.
pub fn with(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> FakeResponse {
    let body = body.as_ref();
    let mut bytes = head(status, headers);
    bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    vec![BodyPart::Bytes(bytes)]
}

/// An answer without a body.
pub fn empty(status: u16) -> FakeResponse {
    with(status, &[], "")
}

/// An answer whose body is JSON.
pub fn json(status: u16, body: &Value) -> FakeResponse {
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

/// The head of an event stream. [`piece`] and [`event`] make its body, and [`end`] ends it.
pub fn stream(headers: &[(&str, &str)]) -> FakeResponse {
    let mut bytes = head(200, headers);
    bytes.extend(b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    vec![BodyPart::Bytes(bytes)]
}

/// A piece of a stream.
pub fn piece(bytes: impl AsRef<[u8]>) -> BodyPart {
    let bytes = bytes.as_ref();
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    BodyPart::Bytes(chunk)
}

/// The final chunk of a stream.
pub fn end() -> BodyPart {
    BodyPart::Bytes(b"0\r\n\r\n".to_vec())
}

/// An event with a message.
pub fn event(message: &Value) -> BodyPart {
    piece(format!("data: {message}\n\n"))
}

/// A stream of these pieces, with a proper end.
pub fn streamed(parts: impl IntoIterator<Item = BodyPart>) -> FakeResponse {
    let mut answer = stream(&[]);
    answer.extend(parts);
    answer.push(end());
    answer
}

/// The result of a request for the tools, with an empty list.
pub fn result(seen: &SeenRequest) -> Value {
    json!({ "jsonrpc": "2.0", "id": seen.id(), "result": { "resultType": "complete", "tools": [] } })
}

/// An error as the answer to the request of this id.
pub fn error(id: Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } })
}

/// The answer to `initialize` of a legacy server, in session `s-1`.
pub fn welcome(seen: &SeenRequest) -> FakeResponse {
    welcome_to(seen, &[("mcp-session-id", "s-1")])
}

/// The answer to `initialize` of a legacy server, with these headers.
pub fn welcome_to(seen: &SeenRequest, headers: &[(&str, &str)]) -> FakeResponse {
    let mut headers = headers.to_vec();
    headers.push(("content-type", "application/json"));
    with(200, &headers, welcoming(seen).to_string())
}

/// The result of `initialize` from a legacy server.
pub fn welcoming(seen: &SeenRequest) -> Value {
    let server = json!({ "name": "origin", "version": "0" });
    let offers = json!({ "tools": {}, "logging": {} });
    let revision = seen.json()["params"]["protocolVersion"].clone();
    json!({ "jsonrpc": "2.0", "id": seen.id(), "result": {
        "protocolVersion": revision, "capabilities": offers, "serverInfo": server,
    } })
}

/// The response of a legacy server to every message except calls. It answers `initialize`, accepts
/// notifications with 202, and has no stream of its own. It accepts the end of the session.
pub fn courtesy(seen: &SeenRequest) -> Option<FakeResponse> {
    match (seen.verb.as_str(), seen.method().as_str()) {
        ("POST", "initialize") => Some(welcome(seen)),
        ("POST", method) if method.starts_with("notifications/") => Some(empty(202)),
        ("GET", _) => Some(empty(405)),
        ("DELETE", _) => Some(empty(200)),
        _ => None,
    }
}
