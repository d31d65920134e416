//! The head of a request: the headers that repeat parts of its message.
//!
//! All values are read from the message itself, so that a header cannot differ from it. A value that is
//! not plain text is encoded, so that no part of a message can break out of its header.
//!
//! Spec: [2026-07-28, Streamable HTTP][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use pintle_model::{Feature, Revision};

use crate::client::session_id::SessionId;
use crate::rules::headers::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID, encode};
use crate::rules::param_headers::header_name;

/// `Last-Event-ID`: where a stream goes on.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The parts of a message that headers repeat.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RoutingHeaders<'a> {
    /// The method of a request or of a notice; a response has none.
    pub(crate) method: Option<&'a str>,
    /// The tool, prompt, resource or task it is about.
    pub(crate) subject: Option<&'a str>,
    /// The arguments that the tool requires in headers, and their values.
    pub(crate) params: &'a [(Box<str>, Box<str>)],
}

/// Under what a message is sent: the revision, once there is one, and the session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionHeaders<'a> {
    /// None in `initialize`, which names its revision in the body only.
    pub(crate) revision: Option<Revision>,
    pub(crate) session: Option<&'a SessionId>,
}

/// The head of a request, as its parts. Closed: one kind for each HTTP method.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestHead<'a> {
    /// A message.
    Post(SessionHeaders<'a>, RoutingHeaders<'a>),
    /// The session's stream, or the rest of a stream after the event of this id.
    Get(SessionHeaders<'a>, Option<&'a str>),
    /// The end of a session.
    Delete(SessionHeaders<'a>),
}

impl RequestHead<'_> {
    pub(crate) fn method(&self) -> Method {
        match self {
            Self::Post(..) => Method::POST,
            Self::Get(..) => Method::GET,
            Self::Delete(_) => Method::DELETE,
        }
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        match *self {
            Self::Post(under, message) => post(under, message),
            Self::Get(under, last_id) => get(under, last_id),
            Self::Delete(under) => delete(under),
        }
    }

    /// Returns the operation as a stable text for the authorizer. `None` if the request must not
    /// start a sign-in.
    pub(crate) fn operation(&self) -> Option<String> {
        match self {
            Self::Post(_, message) => Some(message.operation()),
            Self::Get(..) => Some("GET".to_owned()),
            Self::Delete(_) => None,
        }
    }
}

/// The headers of a POST.
fn post(under: SessionHeaders<'_>, message: RoutingHeaders<'_>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, EITHER);
    under.write(&mut headers);
    if under.has(Feature::RoutingHeaders) {
        message.write(&mut headers);
    }
    headers
}

/// The headers of a GET that opens the session's stream, or goes on with one after an event.
fn get(under: SessionHeaders<'_>, last_event_id: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(ACCEPT, EVENT_STREAM);
    under.write(&mut headers);
    // After an id that no header can hold nothing goes on: the stream begins anew.
    let last = last_event_id.and_then(last_event_id_of);
    headers.extend(last.map(|last| (LAST_EVENT_ID, last)));
    headers
}

/// An event's id as a header; none for one that no header can hold.
pub(crate) fn last_event_id_of(id: &str) -> Option<HeaderValue> {
    HeaderValue::from_bytes(id.as_bytes()).ok()
}

/// The headers of a DELETE that ends a session.
fn delete(under: SessionHeaders<'_>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(2);
    under.write(&mut headers);
    headers
}

impl SessionHeaders<'_> {
    fn has(&self, feature: Feature) -> bool {
        self.revision.is_some_and(|revision| revision.has(feature))
    }

    fn write(&self, headers: &mut HeaderMap) {
        if let Some(revision) = self.revision
            && revision.has(Feature::RevisionHeader)
        {
            headers.insert(
                PROTOCOL_VERSION,
                HeaderValue::from_static(revision.as_str()),
            );
        }
        if let Some(session) = self.session.filter(|_| self.names_session()) {
            headers.insert(SESSION_ID, session.header());
        }
    }

    /// Whether the session is named. It is of the handshake era: a modern message never names it,
    /// and neither does the message that opens it.
    pub(crate) fn names_session(&self) -> bool {
        self.session.is_some() && self.has(Feature::Handshake)
    }
}

impl RoutingHeaders<'_> {
    fn operation(&self) -> String {
        let method = self.method.unwrap_or("answer");
        match self.subject {
            Some(subject) => format!("{method} {subject}"),
            None => method.to_owned(),
        }
    }

    fn write(&self, headers: &mut HeaderMap) {
        if let Some(method) = self.method {
            put(headers, METHOD, method);
        }
        if let Some(subject) = self.subject {
            put(headers, NAME, subject);
        }
        for (param, value) in self.params {
            if let Some(name) = header_name(param) {
                put(headers, name, value);
            }
        }
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // Encoded values are printable ASCII, which every header can hold.
    if let Ok(value) = HeaderValue::from_str(&encode(value)) {
        headers.append(name, value);
    }
}

#[cfg(test)]
mod tests {
    use pintle_runtime::ParamHeader;
    use serde_json::json;

    use super::*;
    use crate::rules::param_headers::{param_headers, verify};

    fn modern() -> SessionHeaders<'static> {
        SessionHeaders {
            revision: Some(Revision::LATEST),
            session: None,
        }
    }

    fn of(method: &str, subject: Option<&str>, params: &[(Box<str>, Box<str>)]) -> HeaderMap {
        let message = RoutingHeaders {
            method: Some(method),
            subject,
            params,
        };
        post(modern(), message)
    }

    fn shown(headers: &HeaderMap, name: &str) -> Option<String> {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?.to_str().expect("text").to_owned();
        assert!(values.next().is_none(), "{name} occurs twice");
        Some(value)
    }

    // spec: 2026-07-28 N-HTTP-06, N-HTTP-07, N-HDR-01, N-HDR-03, N-HDR-04
    // spec: 2025-11-25 TRANS-HTTP-08
    #[test]
    fn a_modern_request_repeats_its_revision_its_method_and_its_subject() {
        let rows = [
            ("tools/call", Some("add")),
            ("resources/read", Some("a://b%20c?d=e")),
            ("tools/list", None),
            ("server/discover", None),
        ];
        for (method, subject) in rows {
            let headers = of(method, subject, &[]);
            let expected = [
                ("accept", Some("application/json, text/event-stream")),
                ("content-type", Some("application/json")),
                ("mcp-protocol-version", Some("2026-07-28")),
                ("mcp-method", Some(method)),
                ("mcp-name", subject),
            ];
            for (name, value) in expected {
                assert_eq!(shown(&headers, name).as_deref(), value, "{method} {name}");
            }
        }
    }

    // spec: 2026-07-28 N-HDR-05, N-XHDR-10
    // hardening: H-64
    #[test]
    fn unsafe_names_travel_encoded() {
        let headers = of("tools/call", Some("a\r\nX-Evil: 1"), &[]);
        let name = shown(&headers, "mcp-name");
        assert_eq!(name.as_deref(), Some("=?base64?YQ0KWC1FdmlsOiAx?="));
        assert!(!headers.contains_key("x-evil"));
        let headers = of("odd\nmethod", None, &[]);
        let method = shown(&headers, "mcp-method").expect("a method");
        assert!(method.starts_with("=?base64?"));
    }

    // spec: 2026-07-28 N-XHDR-02, N-XHDR-10
    // hardening: H-64
    #[test]
    fn annotated_arguments_are_repeated_as_the_server_compares_them() {
        let schema = json!({"properties": {
            "s": {"type": "string", "x-mcp-header": "S"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "b": {"type": "boolean", "x-mcp-header": "Method"},
            "o": {"properties": {"deep": {"type": "string", "x-mcp-header": "Deep"}}},
            "plain": {"type": "string"},
        }});
        let annotated = param_headers(schema.as_object().expect("an object")).expect("valid");
        let rows = [
            (
                json!({"s": "two words", "plain": "x"}),
                "mcp-param-s",
                Some("two words"),
            ),
            (json!({"s": ""}), "mcp-param-s", Some("")),
            (json!({"s": null}), "mcp-param-s", None),
            (json!({"plain": "x"}), "mcp-param-plain", None),
            (
                json!({"s": " edge "}),
                "mcp-param-s",
                Some("=?base64?IGVkZ2Ug?="),
            ),
            (
                json!({"s": "tab\t"}),
                "mcp-param-s",
                Some("=?base64?dGFiCQ==?="),
            ),
            (
                json!({"s": "=?base64?x?="}),
                "mcp-param-s",
                Some("=?base64?PT9iYXNlNjQ/eD89?="),
            ),
            (json!({"s": "é"}), "mcp-param-s", Some("=?base64?w6k=?=")),
            (json!({"n": 42}), "mcp-param-n", Some("42")),
            (json!({"n": -42.0}), "mcp-param-n", Some("-42")),
            (json!({"n": [1]}), "mcp-param-n", None),
            (json!({"b": false}), "mcp-param-method", Some("false")),
            (json!({"o": {"deep": "d"}}), "mcp-param-deep", Some("d")),
            (json!({"o": null}), "mcp-param-deep", None),
        ];
        for (arguments, name, expected) in rows {
            let object = arguments.as_object().expect("an object");
            let value = |header: &ParamHeader| Some((header.name.clone(), header.value(object)?));
            let params: Vec<_> = annotated.iter().filter_map(value).collect();
            let headers = of("tools/call", Some("t"), &params);
            assert_eq!(shown(&headers, name).as_deref(), expected, "{arguments}");
            let raw = serde_json::value::to_raw_value(&arguments).expect("JSON");
            assert_eq!(
                verify(&annotated, &headers, Some((&*raw).into())),
                Ok(()),
                "{arguments}"
            );
        }
    }

    // spec: 2025-11-25 TRANS-HTTP-30, TRANS-SESS-05, TRANS-VER-01, TRANS-VER-02
    #[test]
    fn in_a_session_every_request_names_it_and_the_revision() {
        let session = SessionId::read(&HeaderValue::from_static("s-1")).expect("an id");
        let under = SessionHeaders {
            revision: Some(Revision::LATEST_LEGACY),
            session: Some(&session),
        };
        let call = RoutingHeaders {
            method: Some("tools/call"),
            ..RoutingHeaders::default()
        };
        for headers in [post(under, call), get(under, None), delete(under)] {
            assert_eq!(shown(&headers, "mcp-session-id").as_deref(), Some("s-1"));
            assert_eq!(
                shown(&headers, "mcp-protocol-version").as_deref(),
                Some("2025-11-25")
            );
            assert!(
                !headers.contains_key("mcp-method"),
                "2025-11-25 has no such header"
            );
        }
        let resumed = get(under, Some("e-7"));
        assert_eq!(shown(&resumed, "last-event-id").as_deref(), Some("e-7"));
        assert_eq!(
            shown(&resumed, "accept").as_deref(),
            Some("text/event-stream")
        );
        assert!(!get(under, Some("a\nb")).contains_key("last-event-id"));
    }

    #[test]
    fn a_header_is_sent_only_to_revisions_that_have_it() {
        let session = SessionId::read(&HeaderValue::from_static("s-1")).expect("an id");
        let call = RoutingHeaders {
            method: Some("initialize"),
            ..RoutingHeaders::default()
        };
        let first = post(SessionHeaders::default(), call);
        assert!(!first.contains_key("mcp-protocol-version") && !first.contains_key("mcp-method"));
        let old = SessionHeaders {
            revision: Some(Revision::UNNAMED),
            session: Some(&session),
        };
        assert!(!post(old, call).contains_key("mcp-protocol-version"));
        let modern = SessionHeaders {
            revision: Some(Revision::LATEST),
            session: Some(&session),
        };
        assert!(!post(modern, call).contains_key("mcp-session-id"));
    }
}
