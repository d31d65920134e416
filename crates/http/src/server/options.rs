//! What may be chosen about an endpoint, and its bounds.

use std::sync::Arc;
use std::time::Duration;

use pintle_proto::Limits;

use crate::body::Bounds;
use crate::rules::classify::LegacyMode;
use crate::rules::origin::HostPolicy;

/// How an endpoint serves. The default is safe on a loopback address.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Which hosts and pages are served; loopback names by default.
    pub host_policy: HostPolicy,
    /// How revisions up to 2025-11-25 are served; with sessions by default.
    pub legacy: LegacyMode,
    /// The bounds of the endpoint.
    pub limits: HttpLimits,
    /// The bounds of one conversation.
    pub conversation: Arc<Limits>,
    /// Whether to listen on an address that is not loopback although nobody is asked who they are.
    /// Every host is served then, unless [`access`](Self::host_policy) lists some.
    pub allow_insecure_bind: bool,
}

impl HttpOptions {
    /// Which names are served, all being considered.
    pub(crate) fn effective_access(&self) -> HostPolicy {
        if self.allow_insecure_bind && !self.host_policy.is_configured() {
            return HostPolicy::any_host();
        }
        self.host_policy.clone()
    }

    /// Whether other names than those of loopback are served.
    pub(crate) fn names_others(&self) -> bool {
        self.allow_insecure_bind || !self.host_policy.names_loopback_only()
    }
}

/// The bounds of an endpoint: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Size of a request's body, in bytes; default 4 MiB. A larger one is answered 413.
    pub max_body_bytes: usize,
    /// How long a sender may pause inside a body; default 30 s. Then 408.
    pub body_idle_timeout: Duration,
    /// How long a body may take in all once it was waited for; default 5 min, in which the largest
    /// one comes at 14 KiB a second. Then 408. Without it, pauses that are short enough never end.
    pub body_total_timeout: Duration,
    /// Open sessions; default 10 000.
    ///
    /// At the limit the longest idle one gives way, if it was idle for a minute; else 503.
    pub max_sessions: usize,
    /// How long a session may be idle; default 30 min. A session with a request or a stream is
    /// never idle.
    pub session_idle_timeout: Duration,
    /// Open streams that are not replies: GET, and `subscriptions/listen`; default 1 024.
    pub max_streams: usize,
    /// Of these, the streams of one principal; default 64. One client must not take them all.
    pub max_streams_per_principal: usize,
    /// How long a stream may be silent; default 15 s. Then a comment shows that it lives, so that
    /// nothing in between gives it up.
    pub keep_alive_interval: Duration,
    /// How long a call of a session may be silent before its reply becomes a stream, which a
    /// client can come back to; default 1 s. A reply that comes sooner is one JSON body.
    pub stream_delay: Duration,
    /// How long clients are told to wait before they come back to a stream; default 3 s.
    pub sse_retry_delay: Duration,
    /// Messages of one stream of a session that have left and can be sent again; default 256.
    /// Whoever has missed more cannot come back to the stream.
    pub max_replay_events_per_stream: usize,
    /// Bytes of these; default 1 MiB. The newest is kept whatever its size.
    pub max_replay_bytes_per_stream: usize,
    /// Messages that are kept for all streams of one session; default 1 000. A stream counts as
    /// one more. At the limit the oldest stream that has ended is forgotten.
    pub max_replay_events_per_session: usize,
    /// Bytes of these; default 10 MiB.
    pub max_replay_bytes_per_session: usize,
    /// How long a stream that has ended, or whose client is gone, can be come back to; default
    /// 10 min. A request that still runs is waited for, then the time begins.
    pub replay_ttl: Duration,
    /// Connections of one listener, at least 1; default 10 000. At the limit accepting pauses.
    pub max_connections: usize,
    /// Size of a request's head, in bytes; default 64 KiB. A larger one is answered 431.
    pub max_header_bytes: usize,
    /// Headers of a request; default 100. More are answered 431.
    pub max_headers: usize,
    /// How long a head may take to arrive, the first one from the beginning of the connection and
    /// every other from its first byte; default 30 s. Then the connection is closed.
    pub header_timeout: Duration,
    /// How long a connection may wait for another request; default 60 s. Then it is closed.
    pub connection_idle_timeout: Duration,
    /// How long a peer may leave what we write unread; default 30 s. Then the connection is closed.
    pub write_timeout: Duration,
    /// How long running requests may finish when the endpoint ends; default 10 s.
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
            max_sessions: 10_000,
            session_idle_timeout: Duration::from_secs(30 * 60),
            max_streams: 1_024,
            max_streams_per_principal: 64,
            keep_alive_interval: Duration::from_secs(15),
            stream_delay: Duration::from_secs(1),
            sse_retry_delay: Duration::from_secs(3),
            max_replay_events_per_stream: 256,
            max_replay_bytes_per_stream: 1 << 20,
            max_replay_events_per_session: 1_000,
            max_replay_bytes_per_session: 10 << 20,
            replay_ttl: Duration::from_secs(10 * 60),
            max_connections: 10_000,
            max_header_bytes: 64 << 10,
            max_headers: 100,
            header_timeout: Duration::from_secs(30),
            connection_idle_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_are_what_the_documentation_promises() {
        let limits = HttpLimits::default();
        assert_eq!(
            (limits.max_body_bytes, limits.body_idle_timeout.as_secs()),
            (4_194_304, 30)
        );
        assert_eq!(
            (limits.max_sessions, limits.session_idle_timeout.as_secs()),
            (10_000, 1_800)
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
                limits.drain_timeout.as_secs()
            ),
            (30, 60, 300, 15, 30, 10)
        );
    }
}
