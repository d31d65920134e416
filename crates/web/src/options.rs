//! The limits of a page.

use std::time::Duration;

/// Limits of a page and its connections.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebOptions {
    /// Maximum number of connections of browsers; default 32. Others wait.
    pub max_connections: usize,
    /// Maximum size of the body of a request, in bytes; default 16 MiB. A larger one is answered 413.
    pub max_body_bytes: usize,
    /// Maximum time for the body of a request; default 30 s. A later one is answered 408.
    pub body_timeout: Duration,
    /// Maximum number of stored events, such as messages of the timeline; default 4,096. The oldest is dropped, and
    /// the page shows how many it missed.
    pub max_events: usize,
    /// Maximum size of the stored events, in bytes; default 16 MiB. The oldest is dropped.
    pub max_events_bytes: usize,
    /// Maximum size of a message in the timeline, in bytes; default 256 KiB. The rest of a longer one is cut off.
    pub max_message_bytes: usize,
    /// Maximum time that a request for events waits for one; default 25 s. It is then answered without events.
    pub poll_timeout: Duration,
    /// Maximum number of calls that run at the same time; default 32. More are answered 429.
    pub max_calls: usize,
    /// Maximum number of open questions of the server; default 32. More are cancelled.
    pub max_questions: usize,
    /// Maximum number of calls of a measurement; default 20,000. More are rejected.
    pub max_bench_calls: u32,
    /// Maximum number of calls of a measurement that run at the same time; default 32. More are rejected.
    pub max_bench_callers: u32,
    /// Maximum time of a measurement; default 30 s. It then ends with the calls so far.
    pub max_bench_time: Duration,
    /// Maximum number of lines of a server's standard error in each second; default 100. More are dropped and counted.
    pub max_stderr_lines: u32,
    /// Maximum number of resources that the page is subscribed to; default 64. More are refused.
    pub max_subscriptions: usize,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            max_connections: 32,
            max_body_bytes: 16 << 20,
            body_timeout: Duration::from_secs(30),
            max_events: 4096,
            max_events_bytes: 16 << 20,
            max_message_bytes: 256 << 10,
            poll_timeout: Duration::from_secs(25),
            max_calls: 32,
            max_questions: 32,
            max_bench_calls: 20_000,
            max_bench_callers: 32,
            max_bench_time: Duration::from_secs(30),
            max_stderr_lines: 100,
            max_subscriptions: 64,
        }
    }
}
