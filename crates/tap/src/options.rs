//! The limits of a tap and the form of its display.

/// Limits of a tap, and the content and form of its display.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TapOptions {
    /// Maximum size of a message that is read, in bytes; default 4 MiB. A longer one is passed on, and only its
    /// size is shown and recorded.
    pub max_message_bytes: usize,
    /// Maximum number of requests of one side whose answers are awaited; default 4,096. As many that have ended are
    /// stored. Further requests are passed on and not tracked.
    pub max_pending_requests: usize,
    /// Maximum size of the bytes that wait to be observed; default 16 MiB. More are passed on, and are not shown or
    /// recorded; their number is shown.
    pub max_queued_bytes: usize,
    /// Maximum number of lines that wait for the display; default 4,096. More are not shown; their number is shown.
    pub max_queued_lines: usize,
    /// Maximum number of HTTP sessions that are observed; default 1,024. The oldest is forgotten.
    pub max_sessions: usize,
    /// Maximum size of the body of an HTTP request, in bytes; default 16 MiB. A larger one is answered 413.
    pub max_body_bytes: usize,
    /// Maximum number of HTTP connections; default 256. Others wait.
    pub max_connections: usize,
    /// Whether secrets are shown and recorded.
    pub keeps_secrets: bool,
    /// The form of the display.
    pub display: Display,
}

/// The form of the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Display {
    /// Nothing is shown.
    None,
    /// Text for people.
    #[default]
    Text,
    /// Text with colours.
    Color,
    /// One line of JSON for each message.
    Json,
}

impl Default for TapOptions {
    fn default() -> Self {
        Self {
            max_message_bytes: 4 << 20,
            max_pending_requests: 4096,
            max_queued_bytes: 16 << 20,
            max_queued_lines: 4096,
            max_sessions: 1024,
            max_body_bytes: 16 << 20,
            max_connections: 256,
            keeps_secrets: false,
            display: Display::default(),
        }
    }
}
