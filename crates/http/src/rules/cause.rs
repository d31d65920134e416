//! Why a request is refused, where that is not an error of the protocol.
//!
//! The text is the body of the response, so it contains nothing that a stranger may not read. The setting is for
//! the log.

use http::StatusCode;

/// The cause of a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) status: StatusCode,
    /// The body of the response.
    pub(crate) text: &'static str,
    /// The setting that decides, for the log.
    pub(crate) setting: Option<&'static str>,
    /// The seconds until a client may try again, if it can.
    pub(crate) retry_after: &'static str,
}

/// A limit is free again when other requests end.
pub(crate) const RETRY_AFTER: &str = "10";
/// A store is tried again each second.
const RETRY_STORE_AFTER: &str = "2";

impl Cause {
    const fn new(status: StatusCode, text: &'static str) -> Self {
        Self {
            status,
            text,
            setting: None,
            retry_after: RETRY_AFTER,
        }
    }

    const fn by(status: StatusCode, text: &'static str, setting: &'static str) -> Self {
        Self {
            status,
            text,
            setting: Some(setting),
            retry_after: RETRY_AFTER,
        }
    }
}

pub(crate) static INVALID_HOST: Cause =
    Cause::new(StatusCode::BAD_REQUEST, "header host is missing or invalid");
pub(crate) static FOREIGN_HOST: Cause = Cause::by(
    StatusCode::FORBIDDEN,
    "the host is not allowed",
    "HttpOptions::host_policy (HostPolicy::hosts)",
);
pub(crate) static FOREIGN_ORIGIN: Cause = Cause::by(
    StatusCode::FORBIDDEN,
    "the origin is not allowed",
    "HttpOptions::host_policy (HostPolicy::with_origin)",
);
pub(crate) static METHOD: Cause = Cause::by(
    StatusCode::METHOD_NOT_ALLOWED,
    "the HTTP method is not allowed",
    "HttpOptions::legacy",
);
pub(crate) static STREAM_NOT_ACCEPTED: Cause = Cause::new(
    StatusCode::NOT_ACCEPTABLE,
    "header accept does not include text/event-stream",
);
pub(crate) static JSON_NOT_ACCEPTED: Cause = Cause::new(
    StatusCode::NOT_ACCEPTABLE,
    "header accept does not include application/json",
);
pub(crate) static NOT_JSON: Cause = Cause::new(
    StatusCode::UNSUPPORTED_MEDIA_TYPE,
    "header content-type is not application/json in UTF-8, or the body is encoded",
);
pub(crate) static SCOPES: Cause = Cause::new(
    StatusCode::FORBIDDEN,
    "the token does not have the required scopes",
);
pub(crate) static NO_ENDPOINT: Cause = Cause::by(
    StatusCode::NOT_FOUND,
    "nothing is served at this path",
    "HttpServer::at",
);
pub(crate) static BODY_TOO_LARGE: Cause = Cause::by(
    StatusCode::PAYLOAD_TOO_LARGE,
    "the body is too large",
    "HttpLimits::max_body_bytes",
);
pub(crate) static BODY_TOO_SLOW: Cause = Cause::by(
    StatusCode::REQUEST_TIMEOUT,
    "the body did not arrive in time",
    "HttpLimits::body_idle_timeout, HttpLimits::body_total_timeout",
);
pub(crate) static BODY_BROKEN: Cause =
    Cause::new(StatusCode::BAD_REQUEST, "the body is not complete");
pub(crate) static BODIES_OF_ALL: Cause = Cause::by(
    StatusCode::SERVICE_UNAVAILABLE,
    "too many bytes of requests are in memory",
    "HttpLimits::max_pending_body_bytes",
);
pub(crate) static BODIES_OF_PEER: Cause = Cause::by(
    StatusCode::TOO_MANY_REQUESTS,
    "too many bytes of requests of this client are in memory",
    "HttpLimits::max_pending_body_bytes_per_peer, HttpOptions::trusted_proxies",
);
pub(crate) static HEAD_TOO_LARGE: Cause = Cause::by(
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    "the head is too large",
    "HttpLimits::max_header_bytes",
);
pub(crate) static INVALID_FRAMING: Cause = Cause::new(
    StatusCode::BAD_REQUEST,
    "invalid transfer-encoding: it is not chunked",
);
pub(crate) static CLOSING: Cause = Cause::new(
    StatusCode::SERVICE_UNAVAILABLE,
    "the server is shutting down",
);
pub(crate) static TOO_MANY_SESSIONS: Cause = Cause::by(
    StatusCode::SERVICE_UNAVAILABLE,
    "too many sessions are open",
    "HttpLimits::max_sessions",
);
pub(crate) static STORE_AWAY: Cause = Cause {
    status: StatusCode::SERVICE_UNAVAILABLE,
    text: "the shared state of the server is not available",
    setting: None,
    retry_after: RETRY_STORE_AFTER,
};
pub(crate) static ANSWER_TOO_LARGE: Cause = Cause::new(
    StatusCode::PAYLOAD_TOO_LARGE,
    "the answer is too large for the process of its question",
);
#[cfg(feature = "sse")]
pub(crate) static POST_TOO_LARGE: Cause = Cause::new(
    StatusCode::PAYLOAD_TOO_LARGE,
    "the message is too large for the process of its stream",
);
#[cfg(feature = "sse")]
pub(crate) static HOME_ENDED: Cause = Cause::new(
    StatusCode::NOT_FOUND,
    "the stream of this session has ended with its process; open a new stream",
);
#[cfg(feature = "sse")]
pub(crate) static HOME_SILENT: Cause = Cause {
    status: StatusCode::SERVICE_UNAVAILABLE,
    text: "the process of this stream did not reply in time; it may have the message",
    setting: None,
    retry_after: RETRY_STORE_AFTER,
};
pub(crate) static TOO_MANY_SESSIONS_OF_PEER: Cause = Cause::by(
    StatusCode::TOO_MANY_REQUESTS,
    "too many sessions of this client are open",
    "HttpLimits::max_sessions_per_peer, HttpOptions::trusted_proxies",
);
pub(crate) static TOO_MANY_CALLS: Cause = Cause::by(
    StatusCode::SERVICE_UNAVAILABLE,
    "too many requests are open",
    "HttpLimits::max_connections",
);
pub(crate) static TOO_MANY_CALLS_OF_PEER: Cause = Cause::by(
    StatusCode::TOO_MANY_REQUESTS,
    "too many requests of this client are open",
    "HttpLimits::max_calls_per_peer, HttpOptions::trusted_proxies",
);
pub(crate) static QUOTA: Cause = Cause::by(
    StatusCode::TOO_MANY_REQUESTS,
    "the quota of requests of this client is used up",
    "HttpLimits::max_requests_per_peer, HttpOptions::trusted_proxies",
);
pub(crate) static TOO_MANY_STREAMS: Cause = Cause::by(
    StatusCode::SERVICE_UNAVAILABLE,
    "too many streams are open",
    "HttpLimits::max_streams",
);
pub(crate) static TOO_MANY_STREAMS_OF_PEER: Cause = Cause::by(
    StatusCode::TOO_MANY_REQUESTS,
    "too many streams of this client are open",
    "HttpLimits::max_streams_per_principal, HttpLimits::max_streams_per_address, HttpOptions::trusted_proxies",
);
