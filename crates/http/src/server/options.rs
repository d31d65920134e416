//! What may be chosen about an endpoint, and its bounds.

use std::sync::Arc;
use std::time::Duration;

use pintle_proto::Limits;

use crate::body::Bounds;
use crate::rules::classify::Legacy;
use crate::rules::origin::Access;

/// How an endpoint serves. The default is safe on a loopback address.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Which hosts and pages are served; loopback names by default.
    pub access: Access,
    /// How revisions up to 2025-11-25 are served; with sessions by default.
    pub legacy: Legacy,
    /// The bounds of the endpoint.
    pub limits: HttpLimits,
    /// The bounds of one conversation.
    pub conversation: Arc<Limits>,
    /// Whether to listen on an address that is not loopback although nobody is asked who they are.
    /// Every host is served then, unless [`access`](Self::access) lists some.
    pub allow_insecure_bind: bool,
}

impl HttpOptions {
    /// Which names are served, all being considered.
    pub(crate) fn effective_access(&self) -> Access {
        if self.allow_insecure_bind && !self.access.is_configured() {
            return Access::any_host();
        }
        self.access.clone()
    }

    /// Whether other names than those of loopback are served.
    pub(crate) fn names_others(&self) -> bool {
        self.allow_insecure_bind || !self.access.names_loopback_only()
    }
}

/// The bounds of an endpoint: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Size of a request's body, in bytes; default 4 MiB. A larger one is answered 413.
    pub body_bytes: usize,
    /// How long a sender may pause inside a body; default 30 s. Then 408.
    pub body_pause: Duration,
    /// How long a body may take in all once it was waited for; default 5 min, in which the largest
    /// one comes at 14 KiB a second. Then 408. Without it, pauses that are short enough never end.
    pub body_time: Duration,
    /// Open sessions; default 10 000.
    ///
    /// At the limit the longest idle one gives way, if it was idle for a minute; else 503.
    pub sessions: usize,
    /// How long a session may be idle; default 30 min. A session with a request or a stream is
    /// never idle.
    pub session_idle: Duration,
    /// Open streams that are not replies: GET, and `subscriptions/listen`; default 1 024.
    pub streams: usize,
    /// Of these, the streams of one principal; default 64. One client must not take them all.
    pub streams_of_principal: usize,
    /// How long a stream may be silent; default 15 s. Then a comment shows that it lives, so that
    /// nothing in between gives it up.
    pub keep_alive: Duration,
    /// How long a call of a session may be silent before its reply becomes a stream, which a
    /// client can come back to; default 1 s. A reply that comes sooner is one JSON body.
    pub stream_after: Duration,
    /// How long clients are told to wait before they come back to a stream; default 3 s.
    pub retry: Duration,
    /// Messages of one stream of a session that have left and can be sent again; default 256.
    /// Whoever has missed more cannot come back to the stream.
    pub replay_events: usize,
    /// Bytes of these; default 1 MiB. The newest is kept whatever its size.
    pub replay_bytes: usize,
    /// Messages that are kept for all streams of one session; default 1 000. A stream counts as
    /// one more. At the limit the oldest stream that has ended is forgotten.
    pub replay_events_of_session: usize,
    /// Bytes of these; default 10 MiB.
    pub replay_bytes_of_session: usize,
    /// How long a stream that has ended, or whose client is gone, can be come back to; default
    /// 10 min. A request that still runs is waited for, then the time begins.
    pub replay_time: Duration,
    /// Connections of one listener, at least 1; default 10 000. At the limit accepting pauses.
    pub connections: usize,
    /// Size of a request's head, in bytes; default 64 KiB. A larger one is answered 431.
    pub head_bytes: usize,
    /// Headers of a request; default 100. More are answered 431.
    pub head_lines: usize,
    /// How long a head may take to arrive, the first one from the beginning of the connection and
    /// every other from its first byte; default 30 s. Then the connection is closed.
    pub head_time: Duration,
    /// How long a connection may wait for another request; default 60 s. Then it is closed.
    pub idle_time: Duration,
    /// How long a peer may leave what we write unread; default 30 s. Then the connection is closed.
    pub write_stall: Duration,
    /// How long running requests may finish when the endpoint ends; default 10 s.
    pub drain: Duration,
}

impl HttpLimits {
    #[inline]
    pub(crate) fn of_bodies(&self) -> Bounds {
        Bounds {
            bytes: self.body_bytes,
            pause: self.body_pause,
            time: self.body_time,
        }
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            body_pause: Duration::from_secs(30),
            body_time: Duration::from_secs(5 * 60),
            sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            streams: 1_024,
            streams_of_principal: 64,
            keep_alive: Duration::from_secs(15),
            stream_after: Duration::from_secs(1),
            retry: Duration::from_secs(3),
            replay_events: 256,
            replay_bytes: 1 << 20,
            replay_events_of_session: 1_000,
            replay_bytes_of_session: 10 << 20,
            replay_time: Duration::from_secs(10 * 60),
            connections: 10_000,
            head_bytes: 64 << 10,
            head_lines: 100,
            head_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(60),
            write_stall: Duration::from_secs(30),
            drain: Duration::from_secs(10),
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
            (limits.body_bytes, limits.body_pause.as_secs()),
            (4_194_304, 30)
        );
        assert_eq!(
            (limits.sessions, limits.session_idle.as_secs()),
            (10_000, 1_800)
        );
        assert_eq!((limits.streams, limits.streams_of_principal), (1_024, 64));
        assert_eq!(
            (limits.stream_after.as_secs(), limits.retry.as_secs()),
            (1, 3)
        );
        assert_eq!(
            (limits.replay_events, limits.replay_bytes),
            (256, 1_048_576)
        );
        assert_eq!(
            (
                limits.replay_events_of_session,
                limits.replay_bytes_of_session,
                limits.replay_time.as_secs()
            ),
            (1_000, 10_485_760, 600)
        );
        assert_eq!(
            (limits.connections, limits.head_bytes, limits.head_lines),
            (10_000, 65_536, 100)
        );
        assert_eq!(
            (
                limits.head_time.as_secs(),
                limits.idle_time.as_secs(),
                limits.body_time.as_secs(),
                limits.keep_alive.as_secs(),
                limits.write_stall.as_secs(),
                limits.drain.as_secs()
            ),
            (30, 60, 300, 15, 30, 10)
        );
    }
}
