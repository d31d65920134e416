//! The options of an audit log.

use std::time::Duration;

use crate::digest::AuditKey;

/// The form of a text in a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuditText {
    /// The text itself.
    #[default]
    Plain,
    /// A digest with the key of the log: equal texts have equal digests.
    Digest,
    /// The member is left out.
    Omitted,
}

/// The options of an audit log.
#[derive(Debug)]
#[non_exhaustive]
pub struct AuditOptions {
    /// Largest number of lines that wait for the writer; default 4 096. Each has at most about 7 KiB.
    pub max_queued_lines: usize,
    /// Pause between two writes; default 100 ms. A crash of the process loses the lines of this time.
    pub write_interval: Duration,
    /// Whether a request is refused if its line has no room in the queue; default false. Without it the
    /// request runs, and the lost line is counted.
    pub is_strict: bool,
    /// The form of the names of tools and prompts, and of the URIs of resources.
    pub names: AuditText,
    /// The form of the ids of principals. `anonymous` stays.
    pub principals: AuditText,
    /// The form of the names of clients.
    pub clients: AuditText,
    /// The key of digests; `None` for a random key, whose digests can be compared in one log only.
    pub key: Option<AuditKey>,
    /// Returns the trace id of the current request, such as `pintle_otel::current_trace_id`. Without a function or
    /// a value of it, a line has the trace id of the client.
    pub trace_id: Option<fn() -> Option<String>>,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self {
            max_queued_lines: 4_096,
            write_interval: Duration::from_millis(100),
            is_strict: false,
            names: AuditText::Plain,
            principals: AuditText::Plain,
            clients: AuditText::Plain,
            key: None,
            trace_id: None,
        }
    }
}
