//! On what terms a request is served.

use pintle_model::{ClientCapabilities, Feature, Implementation, LoggingLevel, Revision};

/// Terms of one request: fixed when it is admitted, and the same as long as it runs.
///
/// In the modern era every request states its own; in the legacy era the handshake does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Terms {
    /// The revision both sides speak for this request.
    pub revision: Revision,
    /// The capabilities of the client. The server must not use anything beyond them.
    pub capabilities: ClientCapabilities,
    /// The identity that the client states: for display and logs, never for decisions.
    pub client: Option<Implementation>,
    /// The least severe log message the client requests; `None` means no logs at all.
    pub log_level: Option<LoggingLevel>,
    /// The trace of the client, if it sent one.
    pub trace: Option<TraceContext>,
}

impl Terms {
    /// Terms that promise nothing beyond the revision.
    pub fn new(revision: Revision) -> Self {
        Self {
            revision,
            capabilities: ClientCapabilities::default(),
            client: None,
            log_level: None,
            trace: None,
        }
    }

    /// Whether the revision has `feature`.
    #[inline]
    pub fn has(&self, feature: Feature) -> bool {
        self.revision.has(feature)
    }
}

/// The W3C trace context and the baggage of a request, as the client wrote them. One of the two may
/// be missing.
///
/// Spec: 2026-07-28, Base protocol, `_meta`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TraceContext {
    /// The `traceparent` value, if it is valid.
    pub parent: Option<Box<str>>,
    /// The `tracestate` value; none without a `traceparent`.
    pub state: Option<Box<str>>,
    /// The `baggage` value.
    pub baggage: Option<Box<str>>,
}
