//! The toy over HTTP.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pintle_runtime::sync::Mutex;
use pintle_testkit::fake_http::{BodyPart, FakeResponse, SeenRequest, end, piece, with};
use serde_json::{Value, json};

use crate::toy::{Toy, claimed, error};

/// The sessions of the handshake era.
#[derive(Default)]
pub(crate) struct Site {
    sessions: Mutex<HashMap<String, Toy>>,
    names: RandomState,
}

/// A response, which a test can break.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) messages: Vec<Value>,
    /// Whether the messages are events, with these ids.
    pub(crate) stream: Option<Vec<String>>,
    pub(crate) ends: bool,
    /// Replaces the body.
    pub(crate) text: Option<String>,
}

impl Response {
    pub(crate) fn new(status: u16, messages: Vec<Value>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            messages,
            stream: None,
            ends: true,
            text: None,
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the bytes.
    pub(crate) fn render(mut self) -> FakeResponse {
        let Some(ids) = self.stream.take() else {
            let body = match (self.text.take(), self.messages.first()) {
                (Some(text), _) => text,
                (None, Some(message)) => message.to_string(),
                (None, None) => String::new(),
            };
            if self.headers.iter().all(|(name, _)| name != "content-type") && !body.is_empty() {
                self.set("content-type", "application/json");
            }
            let headers: Vec<_> = self
                .headers
                .iter()
                .map(|(a, b)| (a.as_str(), b.as_str()))
                .collect();
            return with(self.status, &headers, body);
        };
        let headers: String = self
            .headers
            .iter()
            .map(|(a, b)| format!("{a}: {b}\r\n"))
            .collect();
        let head = format!(
            "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n{headers}\r\n"
        );
        let mut parts = vec![BodyPart::Bytes(head.into_bytes())];
        for (count, message) in self.messages.iter().enumerate() {
            let id = ids
                .get(count)
                .map(|id| format!("id: {id}\n"))
                .unwrap_or_default();
            parts.push(piece(format!("{id}data: {message}\n\n")));
        }
        parts.push(match self.ends {
            true => end(),
            false => BodyPart::Hang,
        });
        parts
    }
}

/// Returns a header that occurs once.
fn one<'s>(seen: &'s SeenRequest, name: &str) -> Option<&'s str> {
    let mut found = seen.headers.iter().filter(|(own, _)| own == name);
    found.next().map(|(_, value)| value.trim())
}

fn rejection(status: u16, code: i64, id: &Value) -> Response {
    Response::new(status, vec![error(id, code, Value::Null)])
}

impl Site {
    /// Answers a request.
    pub(crate) fn respond(&self, seen: &SeenRequest) -> Response {
        if let Some(status) = refused(seen) {
            return Response::new(status, Vec::new());
        }
        let session = one(seen, "mcp-session-id").unwrap_or_default().to_owned();
        match seen.verb.as_str() {
            "POST" => {}
            "DELETE" if self.sessions.lock().remove(&session).is_some() => {
                return Response::new(200, Vec::new());
            }
            "DELETE" => return Response::new(404, Vec::new()),
            _ => return Response::new(405, Vec::new()),
        }
        let message = seen.json();
        let params = message["params"].clone();
        let claims = params["_meta"].is_object() && claimed(&params).is_some();
        let modern = one(seen, "mcp-protocol-version") == Some("2026-07-28");
        match (claims || modern) && message["method"] != "initialize" {
            true => self.modern(seen, &message),
            false => self.legacy(seen, &message, session),
        }
    }

    fn modern(&self, seen: &SeenRequest, message: &Value) -> Response {
        let id = message.get("id").cloned().unwrap_or_default();
        let answers = Toy::default().respond(text(seen).as_bytes());
        if answers.is_empty() {
            return Response::new(202, Vec::new());
        }
        let code = answers[0]["error"]["code"].as_i64();
        let is_enveloped = message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
            .is_object()
            && claimed(&message["params"]).is_some_and(|claim| claim.is_string());
        if !is_enveloped {
            let code = code.filter(|code| *code != -32601).unwrap_or(-32602);
            let code = if code == -32600 && !id.is_null() && message["method"].is_string() {
                -32602
            } else {
                code
            };
            return rejection(400, code, &id);
        }
        if let Some(response) = mismatch(seen, message) {
            return response;
        }
        let status = match code {
            Some(-32601) => 404,
            Some(-32022 | -32700 | -32600) => 400,
            _ => 200,
        };
        let mut response = Response::new(status, answers);
        let is_listening = message["method"] == "subscriptions/listen" && code.is_none();
        if is_listening || message["method"] == "tools/list" && code.is_none() {
            response.stream = Some(Vec::new());
            response.set("x-accel-buffering", "no");
            response.ends = !is_listening;
        }
        response
    }

    fn legacy(&self, seen: &SeenRequest, message: &Value, session: String) -> Response {
        let version = one(seen, "mcp-protocol-version");
        let known = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
        if version.is_some_and(|version| !known.contains(&version)) {
            return rejection(400, -32600, &Value::Null);
        }
        if message["method"] == "initialize" {
            return self.open(seen);
        }
        let mut sessions = self.sessions.lock();
        let toy = match (session.is_empty(), sessions.get_mut(&session)) {
            (true, _) => return rejection(400, -32600, &Value::Null),
            (false, None) => return rejection(404, -32600, &Value::Null),
            (false, Some(toy)) => toy,
        };
        let answers = toy.respond(text(seen).as_bytes());
        if answers.is_empty() {
            return Response::new(202, Vec::new());
        }
        let has_id = answers[0].is_array() || answers[0].get("id").is_some();
        let status = if has_id { 200 } else { 400 };
        let mut response = Response::new(status, answers);
        if message["method"] == "tools/list" && status == 200 {
            response.stream = Some(vec![self.name(sessions.len())]);
        }
        response
    }

    fn open(&self, seen: &SeenRequest) -> Response {
        let mut toy = Toy::default();
        let mut response = Response::new(200, toy.respond(text(seen).as_bytes()));
        let mut sessions = self.sessions.lock();
        let name = self.name(sessions.len());
        response.set("mcp-session-id", &name);
        sessions.insert(name, toy);
        response
    }

    /// Returns a name that cannot be guessed.
    fn name(&self, count: usize) -> String {
        let fresh = RandomState::new();
        format!(
            "{:016x}{:016x}",
            self.names.hash_one(count),
            fresh.hash_one(count)
        )
    }
}

/// The body. Bytes that were not UTF-8 become text that is not JSON.
fn text(seen: &SeenRequest) -> String {
    match seen.body.contains('\u{fffd}') {
        true => "{".to_owned(),
        false => seen.body.clone(),
    }
}

/// Returns the status of a request that is rejected by its head.
fn refused(seen: &SeenRequest) -> Option<u16> {
    let host = one(seen, "host").unwrap_or_default();
    let origin = one(seen, "origin");
    if host != "127.0.0.1" || origin.is_some_and(|origin| origin != "http://127.0.0.1") {
        return Some(403);
    }
    let is_twice = |name: &str| seen.headers.iter().filter(|(own, _)| own == name).count() > 1;
    if is_twice("mcp-method") {
        return Some(400);
    }
    if seen.verb == "POST" && one(seen, "content-type") != Some("application/json") {
        return Some(415);
    }
    let accept = one(seen, "accept").unwrap_or_default();
    let accepts = accept.contains("application/json") || accept.contains("*/*");
    (seen.verb == "POST" && !accepts).then_some(406)
}

/// Compares the headers with the body.
fn mismatch(seen: &SeenRequest, message: &Value) -> Option<Response> {
    let id = message.get("id").cloned().unwrap_or_default();
    let subject = match message["method"].as_str() {
        Some("tools/call" | "prompts/get") => message["params"]["name"].as_str(),
        Some("resources/read") => message["params"]["uri"].as_str(),
        _ => None,
    };
    let claim = claimed(&message["params"]).unwrap_or_default();
    let is_same = one(seen, "mcp-protocol-version") == claim.as_str()
        && one(seen, "mcp-method") == message["method"].as_str()
        && subject.is_none_or(|subject| decoded(one(seen, "mcp-name")).as_deref() == Some(subject));
    (!is_same).then(|| rejection(400, -32020, &id))
}

fn decoded(value: Option<&str>) -> Option<String> {
    let value = value?;
    match value
        .strip_prefix("=?base64?")
        .and_then(|value| value.strip_suffix("?="))
    {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// Returns a result for the request of a response.
pub(crate) fn result(seen: &SeenRequest) -> Value {
    json!({ "jsonrpc": "2.0", "id": seen.id(), "result": { "resultType": "complete" } })
}
