//! What must hold of every request and its answer.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use pintle::model::RequestId;
use pintle::model::jsonrpc::{InvalidMessage, Message};
use serde_json::Value;

use super::ask::{Answered, ask};
use crate::fuzz::first_line;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"fuzz","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Headers that decide something and may occur once.
const SINGULAR: [&str; 5] = [
    "host",
    "content-type",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
];

/// A good call is only made when its head agrees with it. The bytes are lines of headers.
///
/// # Panics
///
/// If not.
pub fn headers(data: &[u8]) {
    let mut rest = data;
    let mut request = Request::new(Bytes::from_static(CALL.as_bytes()));
    *request.method_mut() = Method::POST;
    *request.headers_mut() = headers_of(&mut rest);
    let head = request.headers().clone();
    check(&Method::POST, &head, CALL.as_bytes(), &ask(request));
}

/// A request is served, or refused with a reason and without an effect. The bytes are a method, lines
/// of headers, an empty line, and a body.
///
/// # Panics
///
/// If not.
pub fn classify(data: &[u8]) {
    let (method, mut rest) = first_line(data);
    let Ok(method) = Method::from_bytes(method) else {
        return;
    };
    let head = headers_of(&mut rest);
    let mut request = Request::new(Bytes::copy_from_slice(rest));
    *request.method_mut() = method.clone();
    *request.headers_mut() = head.clone();
    check(&method, &head, rest, &ask(request));
}

/// Takes lines of headers up to an empty one; what HTTP itself refuses is left out.
fn headers_of(rest: &mut &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    while !rest.is_empty() {
        let (line, more) = first_line(rest);
        *rest = more;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
            && headers.len() < 100
        {
            headers.append(name, value);
        }
    }
    headers
}

fn check(method: &Method, head: &HeaderMap, body: &[u8], answered: &Answered) {
    let Answered {
        status, executed, ..
    } = answered;
    assert!(
        !status.is_server_error() || *status == StatusCode::SERVICE_UNAVAILABLE,
        "{status}"
    );
    if *executed > 0 {
        assert!(
            *executed == 1 || is_batch(body),
            "executed {executed} times"
        );
        assert_eq!(method, Method::POST);
        assert!(is_ours(head), "executed for {head:?}");
        assert!(
            SINGULAR
                .iter()
                .all(|name| head.get_all(*name).iter().count() <= 1)
        );
        assert!(agrees(head, body), "executed although {head:?}");
    }
    if method == Method::POST && *status == StatusCode::OK {
        answers(body, &answered.body);
    }
}

fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

/// Returns true if a request comes from this machine and declares JSON.
fn is_ours(head: &HeaderMap) -> bool {
    let text = |name| {
        let value: Option<&HeaderValue> = head.get(name);
        value.map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase())
    };
    let origin = text(ORIGIN);
    let origins = ["http://", "https://"];
    let from_here = origin.is_none_or(|origin| {
        let host = origins
            .iter()
            .find_map(|scheme| origin.strip_prefix(scheme));
        host.is_some_and(is_loopback)
    });
    let json = text(CONTENT_TYPE).is_some_and(|kind| {
        let essence = kind.split(';').next().unwrap_or_default();
        essence.trim() == "application/json"
    });
    from_here && json && text(HOST).is_some_and(|host| is_loopback(&host))
}

fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if is_number(port) && !name.ends_with(':') => (name, port),
        _ => (host, ""),
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<std::net::IpAddr>();
    is_number(port)
        && (name == "localhost" || address.is_ok_and(|ip| ip.to_canonical().is_loopback()))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if the headers of a message without a session match its content.
fn agrees(head: &HeaderMap, body: &[u8]) -> bool {
    let Ok(Message::Request(request)) = Message::parse(body) else {
        return is_batch(body);
    };
    let version = head.get("mcp-protocol-version");
    if version.is_none_or(|version| version != "2026-07-28") {
        return true;
    }
    let same = |name: &str, said: &str| head.get(name).is_some_and(|value| decoded(value) == said);
    let params: Value = request
        .params
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    same("mcp-method", &request.method)
        && same("mcp-name", params["name"].as_str().unwrap_or_default())
}

fn decoded(value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    let inner = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(inner) = inner else {
        return text;
    };
    let bytes = pintle::model::Base64::from_text(inner).decode();
    bytes.map_or(text, |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a reply to a request has its id, and no other one.
fn answers(body: &[u8], reply: &[u8]) {
    let id = match Message::parse(body) {
        Ok(Message::Request(request)) => Some(request.id),
        Err(InvalidMessage { id, .. }) => id,
        Ok(_) => None,
    };
    let text = String::from_utf8_lossy(reply);
    let messages = text
        .lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line));
    let said = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for said in said.filter(|said| said.is_object() && said.get("method").is_none()) {
        let answered: Option<RequestId> = serde_json::from_value(said["id"].clone()).ok();
        assert!(
            answered == id || is_batch(body),
            "{id:?} was answered with {said}"
        );
    }
}
