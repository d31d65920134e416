//! The options of an endpoint, and its limits.

use std::sync::Arc;
use std::time::Duration;

use pintle_proto::Limits;

use crate::body::Bounds;
use crate::rules::classify::LegacyMode;
use crate::rules::origin::HostPolicy;
use crate::rules::trusted_proxies::TrustedProxies;

/// How an endpoint serves. The default is safe on a loopback address.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Which hosts and pages are served; loopback names by default.
    pub host_policy: HostPolicy,
    /// The reverse proxies whose header names the client, for the limits of each address; none by default.
    pub trusted_proxies: TrustedProxies,
    /// Whether an [`HttpServer`](super::HttpServer) answers `/healthz` and `/readyz`, without a token and for
    /// every host; false by default. [`Health`](super::Health) has the answers.
    pub serve_health: bool,
    /// How revisions up to 2025-11-25 are served; with sessions by default.
    pub legacy: LegacyMode,
    /// The limits of the endpoint.
    pub limits: HttpLimits,
    /// The limits of one conversation.
    pub conversation_limits: Arc<Limits>,
    /// Whether to listen on an address that is not loopback without authenticating clients. Then every
    /// host is allowed, unless [`host_policy`](Self::host_policy) lists some.
    pub allow_insecure_bind: bool,
}

impl HttpOptions {
    /// Returns the host policy after `allow_insecure_bind` is applied.
    pub(crate) fn effective_access(&self) -> HostPolicy {
        if self.allow_insecure_bind && !self.host_policy.is_configured() {
            return HostPolicy::any_host();
        }
        self.host_policy.clone()
    }

    /// Returns true if hosts other than loopback are allowed.
    pub(crate) fn names_others(&self) -> bool {
        self.allow_insecure_bind || !self.host_policy.names_loopback_only()
    }
}

/// The default options with this policy.
impl From<HostPolicy> for HttpOptions {
    fn from(host_policy: HostPolicy) -> Self {
        Self {
            host_policy,
            ..Self::default()
        }
    }
}

/// The limits of an endpoint: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Size of a request body, in bytes; default 4 MiB. A larger one is rejected with 413.
    pub max_body_bytes: usize,
    /// How long a client may pause inside a body; default 30 s. Then the response is 408.
    pub body_idle_timeout: Duration,
    /// How long a body may take in total, counted from the first wait; default 5 min. Then the response
    /// is 408. The largest body needs 14 KiB a second. This bounds bodies of many short pauses.
    pub body_total_timeout: Duration,
    /// Bytes of all request bodies in memory, until the handlers of their requests end; default 64 MiB. A
    /// body that does not fit is rejected with 503, and a smaller one of another client is still read. A
    /// body that arrives in one piece with its head is not counted.
    pub max_pending_body_bytes: usize,
    /// Of these, the bytes of one peer: a principal, or the address of an anonymous client; default 16 MiB.
    /// A body that does not fit is rejected with 429.
    pub max_pending_body_bytes_per_peer: usize,
    /// Open sessions; default 10 000.
    ///
    /// At the limit the longest idle session is evicted if it was idle for a minute; else the response
    /// is 503.
    pub max_sessions: usize,
    /// Of these, the sessions of one peer: a principal, or the address of an anonymous client; default
    /// 1 000. At the limit the longest idle session of the peer is evicted if it was idle for a minute;
    /// else the response is 429.
    pub max_sessions_per_peer: usize,
    /// Requests of one peer that run without a session, as all do since 2026-07-28; default 1 000. More
    /// are rejected with 429.
    pub max_calls_per_peer: usize,
    /// Requests of one peer in each [`quota_interval`](Self::quota_interval), in all revisions; by default
    /// `usize::MAX`, no limit. More are rejected with 429 until the interval ends. Each request in a batch
    /// counts, and so does a retry with answers. Notifications and answers do not count.
    ///
    /// With a shared state it holds for all replicas together. While the state does not answer, each replica admits
    /// this number divided by the number of replicas.
    pub max_requests_per_peer: usize,
    /// The interval of [`max_requests_per_peer`](Self::max_requests_per_peer); default 60 s. Intervals begin at the
    /// same times at all replicas.
    pub quota_interval: Duration,
    /// Peers whose quota is remembered; default 10 000. At the limit the oldest is dropped. It takes another part of
    /// its quota at its next request; without a shared state its quota begins again.
    pub max_quota_peers: usize,
    /// How long a session may be idle; default 30 min. A session with a request or a stream is
    /// never idle.
    pub session_idle_timeout: Duration,
    /// How long sessions that replicas share are served while the shared state does not answer; default 5 min.
    /// Then the response is 503 with `Retry-After`. Meanwhile the replica does not notice that a session has
    /// ended elsewhere. With zero, sessions need the state.
    pub offline_session_ttl: Duration,
    /// Open streams that are not replies: GET, and `subscriptions/listen`; default 1 024.
    pub max_streams: usize,
    /// Of these, the streams of one principal; default 64. So one client cannot use them all.
    pub max_streams_per_principal: usize,
    /// Of these, the streams of the anonymous clients at one address; default 256. Clients behind a proxy
    /// share its address, except with [`trusted_proxies`](HttpOptions::trusted_proxies).
    pub max_streams_per_address: usize,
    /// How long a stream may be silent; default 15 s. Then the server sends a comment, so that proxies
    /// do not close the connection.
    pub keep_alive_interval: Duration,
    /// How long a call of a session may be silent before its reply becomes a stream, which the
    /// client can resume; default 1 s. An earlier reply is one JSON body.
    pub stream_delay: Duration,
    /// How long clients shall wait before they resume a stream; default 3 s.
    pub sse_retry_delay: Duration,
    /// Messages of one stream of a session that are stored to be sent again; default 256. A client
    /// that missed more cannot resume the stream.
    pub max_replay_events_per_stream: usize,
    /// Bytes of these; default 1 MiB. The newest message is stored whatever its size.
    pub max_replay_bytes_per_stream: usize,
    /// Messages that are stored for all streams of one session; default 1 000. A stream counts as
    /// one more. At the limit the oldest ended stream is dropped.
    pub max_replay_events_per_session: usize,
    /// Bytes of these; default 10 MiB.
    pub max_replay_bytes_per_session: usize,
    /// How long a client can resume a stream that has ended or lost its client; default 10 min. While
    /// a request runs, its stream does not expire.
    pub replay_ttl: Duration,
    /// Connections of one listener, at least 1; default 10 000. At the limit accepting pauses.
    pub max_connections: usize,
    /// Of these, the connections of one address; default 1 000. More are closed at once. There is no limit for
    /// [`trusted_proxies`](HttpOptions::trusted_proxies).
    pub max_connections_per_address: usize,
    /// Size of a request head, in bytes; default 64 KiB. A larger one is rejected with 431.
    pub max_header_bytes: usize,
    /// Headers of a request; default 100. More are rejected with 431.
    pub max_headers: usize,
    /// How long a head may take to arrive, the first one from the beginning of the connection and
    /// every other from its first byte; default 30 s. Then the connection is closed.
    pub header_timeout: Duration,
    /// How long a connection may wait for another request; default 60 s. Then it is closed.
    pub connection_idle_timeout: Duration,
    /// How long a peer may leave written bytes unread; default 30 s. Then the connection is closed.
    pub write_timeout: Duration,
    /// How long an [`HttpServer`](super::HttpServer) still accepts requests after the signal to end, while
    /// `/readyz` is 503; default 0 s. A load balancer needs the interval of its checks.
    pub shutdown_delay: Duration,
    /// How long running requests may finish when the endpoint ends; default 10 s. An [`HttpServer`](super::HttpServer)
    /// accepts requests as long if a question to a client is open, because the client has to answer.
    pub drain_timeout: Duration,
}

impl HttpLimits {
    #[inline]
    pub(crate) fn of_bodies(&self) -> Bounds {
        Bounds {
            bytes: self.max_body_bytes,
            pause: self.body_idle_timeout,
            time: self.body_total_timeout,
        }
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 4 << 20,
            body_idle_timeout: Duration::from_secs(30),
            body_total_timeout: Duration::from_secs(5 * 60),
            max_pending_body_bytes: 64 << 20,
            max_pending_body_bytes_per_peer: 16 << 20,
            max_sessions: 10_000,
            max_sessions_per_peer: 1_000,
            max_calls_per_peer: 1_000,
            max_requests_per_peer: usize::MAX,
            quota_interval: Duration::from_secs(60),
            max_quota_peers: 10_000,
            session_idle_timeout: Duration::from_secs(30 * 60),
            offline_session_ttl: Duration::from_secs(5 * 60),
            max_streams: 1_024,
            max_streams_per_principal: 64,
            max_streams_per_address: 256,
            keep_alive_interval: Duration::from_secs(15),
            stream_delay: Duration::from_secs(1),
            sse_retry_delay: Duration::from_secs(3),
            max_replay_events_per_stream: 256,
            max_replay_bytes_per_stream: 1 << 20,
            max_replay_events_per_session: 1_000,
            max_replay_bytes_per_session: 10 << 20,
            replay_ttl: Duration::from_secs(10 * 60),
            max_connections: 10_000,
            max_connections_per_address: 1_000,
            max_header_bytes: 64 << 10,
            max_headers: 100,
            header_timeout: Duration::from_secs(30),
            connection_idle_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            shutdown_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_match_the_documentation() {
        let limits = HttpLimits::default();
        assert_eq!(
            (limits.max_body_bytes, limits.body_idle_timeout.as_secs()),
            (4_194_304, 30)
        );
        assert_eq!(
            (
                limits.max_pending_body_bytes,
                limits.max_pending_body_bytes_per_peer
            ),
            (67_108_864, 16_777_216)
        );
        assert_eq!(
            (
                limits.max_sessions_per_peer,
                limits.max_calls_per_peer,
                limits.max_streams_per_address,
                limits.max_connections_per_address
            ),
            (1_000, 1_000, 256, 1_000)
        );
        assert_eq!(
            (limits.max_sessions, limits.session_idle_timeout.as_secs()),
            (10_000, 1_800)
        );
        assert_eq!(limits.offline_session_ttl.as_secs(), 300);
        assert_eq!(
            (
                limits.max_requests_per_peer,
                limits.quota_interval.as_secs(),
                limits.max_quota_peers
            ),
            (usize::MAX, 60, 10_000)
        );
        assert_eq!(
            (limits.max_streams, limits.max_streams_per_principal),
            (1_024, 64)
        );
        assert_eq!(
            (
                limits.stream_delay.as_secs(),
                limits.sse_retry_delay.as_secs()
            ),
            (1, 3)
        );
        assert_eq!(
            (
                limits.max_replay_events_per_stream,
                limits.max_replay_bytes_per_stream
            ),
            (256, 1_048_576)
        );
        assert_eq!(
            (
                limits.max_replay_events_per_session,
                limits.max_replay_bytes_per_session,
                limits.replay_ttl.as_secs()
            ),
            (1_000, 10_485_760, 600)
        );
        assert_eq!(
            (
                limits.max_connections,
                limits.max_header_bytes,
                limits.max_headers
            ),
            (10_000, 65_536, 100)
        );
        assert_eq!(
            (
                limits.header_timeout.as_secs(),
                limits.connection_idle_timeout.as_secs(),
                limits.body_total_timeout.as_secs(),
                limits.keep_alive_interval.as_secs(),
                limits.write_timeout.as_secs(),
                limits.shutdown_delay.as_secs(),
                limits.drain_timeout.as_secs()
            ),
            (30, 60, 300, 15, 30, 0, 10)
        );
    }
}
