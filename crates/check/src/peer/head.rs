//! The HTTP headers of a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use pintle_model::Feature;
use serde_json::Value;

use super::{Headers, Peer};

/// The header `MCP-Protocol-Version`.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The header `Mcp-Session-Id`.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header `Mcp-Method`.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The header `Mcp-Name`.
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The media types of both forms of a response.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

impl Peer {
    /// Returns the headers that this revision requires for a message.
    pub(crate) fn headers_of(&self, message: &Value) -> Headers {
        let mut headers = vec![
            (ACCEPT, BOTH),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ];
        match self.is_modern() {
            true => self.add_routing(message, &mut headers),
            false => self.add_session(message, &mut headers),
        }
        headers
    }

    fn add_session(&self, message: &Value, headers: &mut Headers) {
        if message.get("method").and_then(Value::as_str) == Some("initialize") {
            return;
        }
        headers.extend(self.session.clone().map(|id| (SESSION_ID, id)));
        if self.revision.has(Feature::RevisionHeader) {
            headers.push((PROTOCOL_VERSION, text(self.revision.as_str())));
        }
    }

    fn add_routing(&self, message: &Value, headers: &mut Headers) {
        let meta = message.pointer("/params/_meta");
        let claimed = meta.and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
        let claimed = claimed.and_then(Value::as_str);
        let revision = claimed.unwrap_or(self.revision.as_str());
        headers.push((PROTOCOL_VERSION, text(revision)));
        let method = message.get("method").and_then(Value::as_str);
        headers.extend(method.map(|method| (METHOD, text(method))));
        let subject = match method {
            Some("tools/call" | "prompts/get") => "/params/name",
            Some("resources/read") => "/params/uri",
            Some("tasks/get" | "tasks/update" | "tasks/cancel") => "/params/taskId",
            _ => return,
        };
        let subject = message.pointer(subject).and_then(Value::as_str);
        headers.extend(subject.map(|subject| (NAME, text(subject))));
    }
}

/// Returns a header with a plain value, or with its encoded form.
pub(crate) fn text(value: &str) -> HeaderValue {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    let encoded = match is_plain {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(value)),
    };
    HeaderValue::try_from(encoded).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Replaces a header, or removes it if there is no value.
pub(crate) fn header(mut headers: Headers, name: &'static str, value: Option<&str>) -> Headers {
    let name = HeaderName::from_static(name);
    headers.retain(|(given, _)| *given != name);
    if let Some(value) = value.and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok()) {
        headers.push((name, value));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_no_header_holds_are_encoded() {
        assert_eq!(text("tools/list"), "tools/list");
        assert_eq!(text(" a"), "=?base64?IGE=?=");
        assert_eq!(text("ä"), "=?base64?w6Q=?=");
    }
}
