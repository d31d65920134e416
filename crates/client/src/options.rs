//! Every limit of a client, in one place.

use std::sync::Arc;
use std::time::Duration;

use pintle_proto::Limits;

/// The limits of a client: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Limits of each conversation: calls in flight, their timeouts, rounds of questions.
    pub limits: Arc<Limits>,
    /// Timeout of the answer to `server/discover`; default 10 s. A server on a pipe that exceeds it
    /// is treated as a legacy server; an HTTP server is reported as absent. Package runners that
    /// download first may need a minute.
    pub probe_timeout: Duration,
    /// Timeout of opening a connection; default 30 s. For a client that does not perform a
    /// handshake it is also the timeout of `server/discover`.
    pub connect_timeout: Duration,
    /// A quarter of the time that [`Client::close`](crate::Client::close) waits until the transport
    /// is closed; default 5 s. The transport limits its own time to close.
    pub close_timeout: Duration,
    /// Largest number of pages of one list; default 1 000. A longer list is a typed error, because
    /// it may have no end.
    pub max_list_pages: usize,
    /// Largest number of items of one list; default 100 000.
    pub max_list_items: usize,
    /// Largest number of changes that wait on one subscription; default 1 024. Equal changes are
    /// merged. The subscription counts the changes beyond the limit as missed.
    pub max_queued_changes: usize,
    /// Pause after a failed attempt to connect; default 1 s. It doubles with every failure. Calls
    /// during the pause fail.
    pub reconnect_delay: Duration,
    /// Upper limit of [`ClientOptions::reconnect_delay`] after doubling; default 30 s.
    pub max_reconnect_delay: Duration,
    /// Largest number of tools that the client caches; default 10 000. The cache holds their header
    /// parameters, output schemas and fingerprints. If tools are pinned, tools beyond the limit are
    /// not called.
    pub max_cached_tools: usize,
    /// Largest number of cached results; default 1 024, none with 0. The server sets how long a
    /// result is fresh; a day at most. The oldest result is evicted first.
    pub max_cached_results: usize,
    /// Total size of the cached results, in bytes; default 16 MiB.
    pub max_cached_bytes: usize,
    /// Whether a conversation with cached results listens for changes that make them stale; default
    /// true. It requires a server that reports such changes (2026-07-28). Otherwise results are
    /// fresh for as long as the server stated. Over HTTP, listening holds one stream.
    pub watch_cache: bool,
    /// Largest number of resources that the client listens to for its cache; default 64. Results of
    /// other resources are fresh for as long as the server stated.
    pub max_watched_resources: usize,
    /// Pause between two pings of the server; default none: the client sends no pings. If a ping is
    /// not answered, the conversation is lost, and the next call opens a new one.
    pub ping_interval: Option<Duration>,
    /// Timeout of a ping; default 30 s, because servers answer pings while they work.
    pub ping_timeout: Duration,
    /// Largest number of visits to URLs that one error may require before the call is repeated
    /// (2025-11-25); default 16, none with 0. An error with more visits is returned to the caller.
    pub max_visits_per_call: usize,
    /// Total time that a call waits for the end of such visits; default 5 min. The call is then
    /// sent again, because not every server reports the end of a visit.
    pub visit_timeout: Duration,
    /// Timeout of waiting for a task; default 24 h. A plain call that became a task has the timeout
    /// of a call.
    pub task_timeout: Duration,
    /// Shortest pause between two polls of a task, whatever pause the server requests; default 100
    /// ms. Notifications of the server do not shorten it.
    pub min_poll_interval: Duration,
    /// Pause between two polls of a task if the server does not state one; default 1 s. It grows up
    /// to ten times while nothing changes, and doubles with every failure.
    pub poll_interval: Duration,
    /// Longest pause between two polls of a task, whatever pause the server requests; default 5
    /// min. A server that requests a year thus cannot hide the end of a task for a year.
    pub max_poll_interval: Duration,
    /// Largest number of questions of one task that the client answers; default 256. More is a
    /// typed error, because the task may ask without end.
    pub max_questions_per_task: usize,
    /// Largest number of the server's questions that are client tasks at the same time, in one
    /// conversation, answered or not; default 64. The client refuses more with -32603.
    pub max_client_tasks: usize,
    /// Total size of the answers stored for client tasks, in bytes; default 4 MiB. A task whose
    /// answer does not fit fails.
    pub max_client_task_bytes: usize,
    /// Time from its creation for which a client task is stored, if the server does not state one;
    /// default 10 min. The handler must answer within it.
    pub client_task_ttl: Duration,
    /// Upper limit of the time that the server may request for a client task; default 24 h. A
    /// longer request is granted this time.
    pub max_client_task_ttl: Duration,
}

impl ClientOptions {
    /// Returns the pause after this number of failed attempts in a row.
    pub(crate) fn reconnect_delay_after(&self, failures: u32) -> Duration {
        let doubled = 1_u32.checked_shl(failures.saturating_sub(1));
        let delay = self
            .reconnect_delay
            .saturating_mul(doubled.unwrap_or(u32::MAX));
        delay.min(self.max_reconnect_delay)
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            limits: Arc::default(),
            probe_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
            max_list_pages: 1_000,
            max_list_items: 100_000,
            max_queued_changes: 1_024,
            reconnect_delay: Duration::from_secs(1),
            max_reconnect_delay: Duration::from_secs(30),
            max_cached_tools: 10_000,
            max_cached_results: 1_024,
            max_cached_bytes: 16 << 20,
            watch_cache: true,
            max_watched_resources: 64,
            ping_interval: None,
            ping_timeout: Duration::from_secs(30),
            max_visits_per_call: 16,
            visit_timeout: Duration::from_secs(5 * 60),
            task_timeout: Duration::from_secs(24 * 60 * 60),
            min_poll_interval: Duration::from_millis(100),
            poll_interval: Duration::from_secs(1),
            max_poll_interval: Duration::from_secs(300),
            max_questions_per_task: 256,
            max_client_tasks: 64,
            max_client_task_bytes: 4 << 20,
            client_task_ttl: Duration::from_secs(600),
            max_client_task_ttl: Duration::from_secs(24 * 60 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reconnect_delay_doubles_up_to_its_limit() {
        let options = ClientOptions::default();
        let delays = [0, 1, 2, 5, 6, 32, 33, u32::MAX]
            .map(|failures| options.reconnect_delay_after(failures).as_secs());
        assert_eq!(delays, [1, 1, 2, 16, 30, 30, 30, 30]);
    }
}
