//! The meaning of the head of a response for each kind of request: one table.
//!
//! The status decides first. 401 and 403 concern authorization, whatever the body contains. 404 for a
//! message of a session ends that session. A response with an error status may carry a JSON-RPC
//! error, so its body is read first.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use std::time::Duration;

use crate::rules::headers::single;
use crate::rules::media::{EVENT_STREAM, JSON, is_type, names_no_coding};

/// The kind of a request, which decides the possible responses. Closed: no other kind exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A request: an answer is owed.
    Request,
    /// A notice or a response: nothing is owed but a status.
    Notice,
    /// A GET, for the session's stream.
    Listen,
    /// A GET, to go on with the stream of a request.
    Resume,
    Delete,
}

/// Whether the request named a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionUse {
    /// No id was sent.
    None,
    /// An id was sent.
    Named,
}

/// The meaning of the head of a response. Closed: the reader handles each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResponseKind {
    /// The body is one message.
    Message,
    /// The body is a stream of events.
    Events,
    /// The server accepted the message; no answer follows.
    Accepted,
    /// The body may contain a JSON-RPC error; if not, this is the error.
    ErrorBody(ResponseError),
    /// The request failed, and the body is not read.
    Ended(ResponseError),
}

/// Why there is no answer in an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// 401: the server requires authorization. 403: it refuses the token, the Host or the Origin.
    #[error("{}", pintle_proto::TransportErrorKind::Unauthorized(*.0))]
    Unauthorized(u16),
    /// 404 to a message that named a session.
    #[error("the session has expired at the server")]
    SessionLost,
    /// Another status that is not a success.
    #[error("the server answered with HTTP status {status}")]
    Status {
        /// HTTP status code.
        status: u16,
        /// The delay that the server requires before a retry.
        retry_after: Option<Duration>,
    },
    /// A success without the answer that a request is owed.
    #[error("the server accepted a request with HTTP status {0} but sent no answer")]
    Unanswered(u16),
    /// A success whose body is neither JSON nor a stream of events.
    #[error("the response has the media type {0}, which is neither JSON nor an event stream")]
    ContentType(Box<str>),
    /// The server offers no stream here: 405, or the statuses that older servers use.
    #[error("the server offers no stream (HTTP status {0})")]
    NoStream(u16),
}

/// Returns the meaning of a response.
pub(crate) fn meaning(
    sent: Sent,
    session: SessionUse,
    status: StatusCode,
    headers: &HeaderMap,
) -> ResponseKind {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            ResponseKind::Ended(ResponseError::Unauthorized(status.as_u16()))
        }
        status if status.is_success() => success(sent, status, headers),
        status => failure(sent, session, status, headers),
    }
}

fn success(sent: Sent, status: StatusCode, headers: &HeaderMap) -> ResponseKind {
    if matches!(sent, Sent::Notice | Sent::Delete) {
        return ResponseKind::Accepted;
    }
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return ResponseKind::Ended(ResponseError::Unanswered(status.as_u16()));
    }
    let said = single(headers, &CONTENT_TYPE)
        .ok()
        .flatten()
        .unwrap_or_default();
    let readable = names_no_coding(headers.get_all(CONTENT_ENCODING).iter());
    match sent {
        _ if readable && is_type(said, EVENT_STREAM) => ResponseKind::Events,
        Sent::Request if readable && is_type(said, JSON) => ResponseKind::Message,
        _ => ResponseKind::Ended(ResponseError::ContentType(describe(said, readable))),
    }
}

fn failure(
    sent: Sent,
    session: SessionUse,
    status: StatusCode,
    headers: &HeaderMap,
) -> ResponseKind {
    let trouble = || ResponseError::Status {
        status: status.as_u16(),
        retry_after: retry_after(headers),
    };
    match (sent, session, status) {
        (Sent::Delete, _, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => {
            ResponseKind::Accepted
        }
        (Sent::Request | Sent::Notice | Sent::Resume, SessionUse::Named, StatusCode::NOT_FOUND) => {
            ResponseKind::Ended(ResponseError::SessionLost)
        }
        // Servers without this stream use any of these statuses. A lost session shows with the
        // next message.
        (
            Sent::Listen,
            _,
            StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_FOUND
            | StatusCode::BAD_REQUEST
            | StatusCode::NOT_ACCEPTABLE
            | StatusCode::CONFLICT
            | StatusCode::NOT_IMPLEMENTED,
        ) => ResponseKind::Ended(ResponseError::NoStream(status.as_u16())),
        (Sent::Request, ..) => ResponseKind::ErrorBody(trouble()),
        _ => ResponseKind::Ended(trouble()),
    }
}

/// `Retry-After` in seconds; a date is not read.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = single(headers, &RETRY_AFTER).ok().flatten()?;
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)))
}

fn describe(said: &str, is_readable: bool) -> Box<str> {
    match (said, is_readable) {
        (_, false) => "an encoded body".into(),
        ("", _) => "no content type".into(),
        (said, _) => said.chars().take(100).collect::<String>().into(),
    }
}

impl ResponseError {
    /// Returns true if a retry cannot help, because the server rejected the request itself.
    pub(crate) fn is_permanent(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                let again = [408, 425, 429];
                (300..500).contains(status) && !again.contains(status)
            }
            _ => true,
        }
    }

    /// Returns true for a status of a busy server, or of a proxy whose server is away.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Status {
                status: 408 | 425 | 429 | 502..=504,
                ..
            }
        )
    }

    /// Returns true for a server error: 5xx.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(self, Self::Status { status: 500.., .. })
    }

    /// Returns the delay that the server requires before a retry.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether a server may be one that only has the transport with two endpoints.
    pub(crate) fn suggests_two_endpoints(&self) -> bool {
        matches!(
            self,
            Self::Status {
                status: 400 | 404 | 405 | 406 | 410 | 415,
                ..
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::CONTENT_ENCODING;

    use super::*;

    fn status(status: u16) -> ResponseError {
        ResponseError::Status {
            status,
            retry_after: None,
        }
    }

    fn of(
        sent: Sent,
        session: SessionUse,
        status: u16,
        content_type: &'static str,
    ) -> ResponseKind {
        let mut headers = HeaderMap::new();
        if !content_type.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        meaning(sent, session, status, &headers)
    }

    // spec: 2025-11-25 TRANS-HTTP-14, TRANS-SESS-09
    // spec: 2026-07-28 N-HTTP-11, N-ERA-10, N-ERA-19
    // hardening: H-160, H-163 (HTTP)
    #[test]
    fn a_response_to_a_request_has_one_meaning() {
        use SessionUse::{Named, None};
        let rows = [
            (None, 200, "application/json", ResponseKind::Message),
            (
                None,
                200,
                "application/json; charset=utf-8",
                ResponseKind::Message,
            ),
            (None, 200, "text/event-stream", ResponseKind::Events),
            (
                None,
                200,
                "Text/Event-Stream;charset=utf-8",
                ResponseKind::Events,
            ),
            (
                None,
                200,
                "application/jsonfoo",
                ResponseKind::Ended(ResponseError::ContentType("application/jsonfoo".into())),
            ),
            (
                None,
                200,
                "text/html",
                ResponseKind::Ended(ResponseError::ContentType("text/html".into())),
            ),
            (
                None,
                200,
                "",
                ResponseKind::Ended(ResponseError::ContentType("no content type".into())),
            ),
            (
                None,
                202,
                "",
                ResponseKind::Ended(ResponseError::Unanswered(202)),
            ),
            (
                None,
                204,
                "application/json",
                ResponseKind::Ended(ResponseError::Unanswered(204)),
            ),
            (
                None,
                401,
                "application/json",
                ResponseKind::Ended(ResponseError::Unauthorized(401)),
            ),
            (
                Named,
                403,
                "application/json",
                ResponseKind::Ended(ResponseError::Unauthorized(403)),
            ),
            (
                None,
                400,
                "application/json",
                ResponseKind::ErrorBody(status(400)),
            ),
            (None, 400, "", ResponseKind::ErrorBody(status(400))),
            (
                None,
                404,
                "application/json",
                ResponseKind::ErrorBody(status(404)),
            ),
            (None, 405, "text/html", ResponseKind::ErrorBody(status(405))),
            (
                Named,
                404,
                "application/json",
                ResponseKind::Ended(ResponseError::SessionLost),
            ),
            (
                Named,
                400,
                "application/json",
                ResponseKind::ErrorBody(status(400)),
            ),
            (None, 500, "", ResponseKind::ErrorBody(status(500))),
        ];
        for (session, status, content_type, expected) in rows {
            let found = of(Sent::Request, session, status, content_type);
            assert_eq!(found, expected, "{status} {content_type:?} {session:?}");
        }
    }

    // spec: 2025-11-25 TRANS-SESS-11
    #[test]
    fn a_response_to_another_message_has_one_meaning() {
        use SessionUse::{Named, None};
        let rows = [
            (Sent::Notice, Named, 202, "", ResponseKind::Accepted),
            (
                Sent::Notice,
                None,
                200,
                "application/json",
                ResponseKind::Accepted,
            ),
            (Sent::Notice, None, 204, "", ResponseKind::Accepted),
            (
                Sent::Notice,
                Named,
                404,
                "",
                ResponseKind::Ended(ResponseError::SessionLost),
            ),
            (
                Sent::Notice,
                None,
                400,
                "",
                ResponseKind::Ended(status(400)),
            ),
            (
                Sent::Notice,
                None,
                401,
                "",
                ResponseKind::Ended(ResponseError::Unauthorized(401)),
            ),
            (
                Sent::Listen,
                Named,
                200,
                "text/event-stream",
                ResponseKind::Events,
            ),
            (
                Sent::Listen,
                Named,
                200,
                "application/json",
                ResponseKind::Ended(ResponseError::ContentType("application/json".into())),
            ),
            (
                Sent::Listen,
                Named,
                405,
                "",
                ResponseKind::Ended(ResponseError::NoStream(405)),
            ),
            (
                Sent::Listen,
                Named,
                404,
                "text/html",
                ResponseKind::Ended(ResponseError::NoStream(404)),
            ),
            (
                Sent::Listen,
                None,
                400,
                "",
                ResponseKind::Ended(ResponseError::NoStream(400)),
            ),
            (
                Sent::Listen,
                Named,
                409,
                "",
                ResponseKind::Ended(ResponseError::NoStream(409)),
            ),
            (
                Sent::Listen,
                Named,
                503,
                "",
                ResponseKind::Ended(status(503)),
            ),
            (
                Sent::Resume,
                Named,
                200,
                "text/event-stream",
                ResponseKind::Events,
            ),
            (
                Sent::Resume,
                Named,
                400,
                "",
                ResponseKind::Ended(status(400)),
            ),
            (
                Sent::Resume,
                Named,
                404,
                "",
                ResponseKind::Ended(ResponseError::SessionLost),
            ),
            (
                Sent::Resume,
                None,
                404,
                "",
                ResponseKind::Ended(status(404)),
            ),
            (
                Sent::Resume,
                Named,
                405,
                "",
                ResponseKind::Ended(status(405)),
            ),
            (Sent::Delete, Named, 200, "", ResponseKind::Accepted),
            (Sent::Delete, Named, 404, "", ResponseKind::Accepted),
            (Sent::Delete, Named, 405, "", ResponseKind::Accepted),
            (
                Sent::Delete,
                Named,
                500,
                "",
                ResponseKind::Ended(status(500)),
            ),
        ];
        for (sent, session, status, content_type, expected) in rows {
            let found = of(sent, session, status, content_type);
            assert_eq!(
                found, expected,
                "{sent:?} {session:?} {status} {content_type:?}"
            );
        }
    }

    // hardening: H-159
    #[test]
    fn a_plain_no_is_permanent_and_a_busy_server_is_not() {
        for permanent in [400, 401, 403, 404, 405, 410, 431] {
            assert!(status(permanent).is_permanent(), "{permanent}");
        }
        for passing in [408, 429, 500, 502, 503] {
            assert!(!status(passing).is_permanent(), "{passing}");
        }
        assert!(ResponseError::SessionLost.is_permanent());
    }

    // hardening: H-159
    #[test]
    fn the_wait_a_server_asks_for_is_read_in_seconds() {
        let rows = [
            ("120", Some(120)),
            ("0", Some(0)),
            ("-1", None),
            ("1.5", None),
            ("", None),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None),
            ("99999999999999999999", Some(u64::MAX)),
        ];
        for (value, expected) in rows {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            assert_eq!(
                retry_after(&headers),
                expected.map(Duration::from_secs),
                "{value:?}"
            );
        }
    }

    #[test]
    fn a_compressed_body_is_not_read() {
        let headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CONTENT_ENCODING, HeaderValue::from_static("gzip")),
        ]);
        let found = meaning(Sent::Request, SessionUse::None, StatusCode::OK, &headers);
        assert_eq!(
            found,
            ResponseKind::Ended(ResponseError::ContentType("an encoded body".into()))
        );
    }

    // spec: 2025-11-25 TRANS-COMPAT-03
    #[test]
    fn some_refusals_suggest_an_older_transport() {
        for old in [400, 404, 405, 406, 410, 415] {
            assert!(status(old).suggests_two_endpoints(), "{old}");
        }
        for other in [407, 429, 500] {
            assert!(!status(other).suggests_two_endpoints(), "{other}");
        }
        assert!(!ResponseError::Unauthorized(401).suggests_two_endpoints());
    }
}
