//! The options of a client, and its limits.

mod proxy;
mod tls;

use std::time::Duration;

use http::HeaderMap;
use http::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderName, HeaderValue};
use pintle_runtime::{Authorizer, BoxAuthorizer};

use crate::client::backoff::Backoff;
use crate::client::head::LAST_EVENT_ID;
use crate::rules::headers::{METHOD, NAME, PARAM_PREFIX, PROTOCOL_VERSION, SESSION_ID};

pub use proxy::{Proxy, ProxyUrl, ProxyUrlError};
pub use tls::{CertificateError, Tls};

/// The options of a connection. The default reads the proxy from the environment, and trusts the
/// authorities of the system.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HttpClientOptions {
    /// Sent with every request to the server, such as an API key; to no other origin.
    pub headers: HeaderMap,
    /// Proxy in front of the server.
    pub proxy: Proxy,
    /// Certificates that the client trusts.
    pub tls: Tls,
    /// Source of the tokens of requests.
    pub authorizer: Option<BoxAuthorizer>,
    /// Limits of the client.
    pub limits: HttpClientLimits,
}

/// A header that only the transport may set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the header {name} is reserved; the client sets it")]
pub struct ReservedHeaderError {
    name: HeaderName,
}

impl HttpClientOptions {
    /// Sends a header with every request. Its value is not shown in logs.
    ///
    /// # Errors
    ///
    /// [`ReservedHeaderError`] for one that the transport sets itself.
    pub fn header(
        mut self,
        name: HeaderName,
        mut value: HeaderValue,
    ) -> Result<Self, ReservedHeaderError> {
        if is_reserved(&name) {
            return Err(ReservedHeaderError { name });
        }
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Requests the authorization headers of every request from `authorizer`, and passes challenges of
    /// the server to it. They replace a caller's header of the same name.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.authorizer = Some(BoxAuthorizer::new(authorizer));
        self
    }

    /// Sends a fixed bearer token with every request.
    ///
    /// # Errors
    ///
    /// [`InvalidHeaderValue`](http::header::InvalidHeaderValue) for a text that no header holds.
    pub fn bearer(mut self, token: &str) -> Result<Self, http::header::InvalidHeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}"))?;
        value.set_sensitive(true);
        self.headers.insert(AUTHORIZATION, value);
        Ok(self)
    }

    /// Returns the first header that only the transport may set.
    pub(crate) fn reserved(&self) -> Option<ReservedHeaderError> {
        let name = self.headers.keys().find(|name| is_reserved(name))?;
        Some(ReservedHeaderError { name: name.clone() })
    }
}

/// Names only: values may be secret.
impl std::fmt::Debug for HttpClientOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("HttpClientOptions")
            .field("headers", &names)
            .field("proxy", &self.proxy)
            .field("tls", &self.tls)
            .field("authorizer", &self.authorizer)
            .field("limits", &self.limits)
            .finish()
    }
}

fn is_reserved(name: &HeaderName) -> bool {
    const RESERVED: [HeaderName; 15] = [
        ACCEPT,
        CONNECTION,
        CONTENT_ENCODING,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        HOST,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
        LAST_EVENT_ID,
        METHOD,
        NAME,
        PROTOCOL_VERSION,
        SESSION_ID,
    ];
    RESERVED.contains(name) || name.as_str().starts_with(PARAM_PREFIX)
}

/// The limits of a client: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpClientLimits {
    /// How long connecting may take; default 10 s. All addresses of a host name share this time.
    pub connect_timeout: Duration,
    /// How long the handshake of TLS and that of a proxy may take, each; default 10 s.
    pub handshake_timeout: Duration,
    /// How long a server may take to send the head of a response; default 30 s. For a request,
    /// `response_idle_timeout` applies, because a tool may run before the head is sent.
    pub header_timeout: Duration,
    /// How long a server may pause before and inside the response to a request; default 5 min. A
    /// comment of a stream ends a pause. The timeout of the call usually passes earlier.
    pub response_idle_timeout: Duration,
    /// Size of the head of a response, in bytes; default 64 KiB.
    pub max_header_bytes: usize,
    /// Headers of a response; default 100.
    pub max_headers: usize,
    /// Size of a response that is not a stream, in bytes; default 16 MiB.
    pub max_response_bytes: usize,
    /// Size of one event of a stream, in bytes; default 16 MiB.
    pub max_event_bytes: usize,
    /// Connections that wait for their next request; default 32. More are closed.
    pub max_idle_connections: usize,
    /// How long a connection waits for its next request; default 30 s, and never longer than its
    /// `Keep-Alive` header states. Many servers close theirs after a minute; a request then is lost.
    pub connection_idle_timeout: Duration,
    /// Redirects followed in a row, all of them at the same origin; default 3.
    pub max_redirects: u8,
    /// Attempts in a row to resume a stream without progress; default 5. Then the stream fails, except for the stream
    /// of a session that has worked before.
    pub max_reconnects: u32,
    /// The first delay before a stream is resumed, unless the server sent one; default 1 s. It
    /// doubles.
    pub reconnect_delay: Duration,
    /// The longest of these delays; default 30 s.
    pub max_reconnect_delay: Duration,
    /// The shortest delay that a server may request; default 100 ms.
    pub min_sse_retry_delay: Duration,
    /// The longest delay that a server may request; default 5 min.
    pub max_sse_retry_delay: Duration,
    /// Notices and answers that are posted at the same time; default 64. More wait.
    pub max_open_posts: usize,
    /// How long the end of a session may take; default 5 s.
    pub close_timeout: Duration,
}

impl Default for HttpClientLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(30),
            response_idle_timeout: Duration::from_secs(5 * 60),
            max_header_bytes: 64 << 10,
            max_headers: 100,
            max_response_bytes: 16 << 20,
            max_event_bytes: 16 << 20,
            max_idle_connections: 32,
            connection_idle_timeout: Duration::from_secs(30),
            max_redirects: 3,
            max_reconnects: 5,
            reconnect_delay: Duration::from_secs(1),
            max_reconnect_delay: Duration::from_secs(30),
            min_sse_retry_delay: Duration::from_millis(100),
            max_sse_retry_delay: Duration::from_secs(5 * 60),
            max_open_posts: 64,
            close_timeout: Duration::from_secs(5),
        }
    }
}

impl HttpClientLimits {
    pub(crate) fn backoff(&self) -> Backoff {
        let least = self.min_sse_retry_delay.min(self.max_sse_retry_delay);
        Backoff {
            first: self.reconnect_delay,
            most: self.max_reconnect_delay,
            asked: (least, self.max_sse_retry_delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_match_the_documentation() {
        let limits = HttpClientLimits::default();
        let seconds = [
            limits.connect_timeout,
            limits.handshake_timeout,
            limits.header_timeout,
            limits.response_idle_timeout,
            limits.connection_idle_timeout,
            limits.close_timeout,
        ];
        assert_eq!(seconds.map(|time| time.as_secs()), [10, 10, 30, 300, 30, 5]);
        let waits = [
            limits.min_sse_retry_delay,
            limits.reconnect_delay,
            limits.max_reconnect_delay,
            limits.max_sse_retry_delay,
        ];
        assert_eq!(
            waits.map(|wait| wait.as_millis()),
            [100, 1_000, 30_000, 300_000]
        );
        assert_eq!((limits.max_header_bytes, limits.max_headers), (65_536, 100));
        assert_eq!(
            (limits.max_response_bytes, limits.max_event_bytes),
            (16_777_216, 16_777_216)
        );
        assert_eq!(
            (limits.max_idle_connections, limits.max_open_posts),
            (32, 64)
        );
        assert_eq!((limits.max_redirects, limits.max_reconnects), (3, 5));
    }

    // hardening: H-46
    #[test]
    fn headers_of_the_transport_are_not_for_callers_and_values_are_not_shown() {
        for name in [
            "host",
            "mcp-session-id",
            "mcp-param-x",
            "content-type",
            "last-event-id",
        ] {
            let name = HeaderName::from_static(name);
            let refused =
                HttpClientOptions::default().header(name.clone(), HeaderValue::from_static("x"));
            assert_eq!(refused.err(), Some(ReservedHeaderError { name }));
        }
        let key = HeaderName::from_static("x-api-key");
        let options = HttpClientOptions::default().header(key, HeaderValue::from_static("secret"));
        let shown = format!("{:?}", options.expect("not reserved"));
        assert!(
            shown.contains("x-api-key") && !shown.contains("secret"),
            "{shown}"
        );
    }
}
