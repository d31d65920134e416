//! Every bound of a client, in one place.

use std::sync::Arc;
use std::time::Duration;

use pintle_proto::Limits;

/// The bounds of a client: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The bounds of each conversation: calls in flight, how long they wait, rounds of questions.
    pub limits: Arc<Limits>,
    /// How long the server may take to answer `server/discover` before it is taken for a legacy
    /// one (on a pipe) or for absent (over HTTP); default 10 s. Package runners that download
    /// first may need a minute.
    pub probe_timeout: Duration,
    /// How long a connection may take to come about; default 30 s. A client that makes no handshake
    /// waits as long for the answer to `server/discover`.
    pub connect_timeout: Duration,
    /// How long the end of a conversation may take before it is cut; default 5 s over what the
    /// transport takes for itself.
    pub close_timeout: Duration,
    /// Pages of one list; default 1 000. More is a typed error: the list has no end.
    pub max_list_pages: usize,
    /// Items of one list; default 100 000.
    pub max_list_items: usize,
    /// Changes that wait on one subscription; default 1 024. Equal ones are merged; beyond it the
    /// subscription says that it has missed some.
    pub max_queued_changes: usize,
    /// Pause before the second attempt to connect again; default 1 s. It doubles with every
    /// attempt; calls made meanwhile fail.
    pub reconnect_delay: Duration,
    /// The longest such pause; default 30 s.
    pub max_reconnect_delay: Duration,
    /// Tools of which it is remembered what their calls repeat, what they give, and what they are
    /// approved by; default 10 000. Where tools are pinned, the others are not called.
    pub max_cached_tools: usize,
    /// Results that are kept for as long as the server says, at most a day; default 1 024, none
    /// with 0. The oldest gives way.
    pub max_cached_results: usize,
    /// Size of all of them together, in bytes; default 16 MiB.
    pub max_cached_bytes: usize,
    /// Whether a conversation that keeps results listens to the changes that make them wrong, where
    /// the server tells of them (2026-07-28); default yes. Otherwise they are believed for as long
    /// as the server said. Over HTTP listening holds one stream.
    pub watch_cache: bool,
    /// Resources that are listened to for that; default 64. The others are believed for as long as
    /// the server said.
    pub max_watched_resources: usize,
    /// Pause between two questions whether the server is still there; default none: it is not
    /// asked. A conversation whose server does not answer is lost, and opened again by the next
    /// call.
    pub ping_interval: Option<Duration>,
    /// How long the server may take to answer that; default 30 s: servers answer while they work.
    pub ping_timeout: Duration,
    /// Visits to URLs that one error may send the user on before the call is made again
    /// (2025-11-25); default 16, none with 0. With more the error is the caller's to look at.
    pub max_visits_per_call: usize,
    /// How long a call waits for the end of such visits before it is made again in any case, in
    /// all; default 5 min: not every server says that a user is done.
    pub visit_timeout: Duration,
    /// How long a task is waited for; default 24 h. A plain call that became a task is waited for
    /// as long as a call.
    pub task_timeout: Duration,
    /// The shortest pause between two looks at a task, whatever the server says or tells; default
    /// 100 ms.
    pub min_poll_interval: Duration,
    /// That pause where the server does not say one; default 1 s. It grows to ten times as much
    /// while nothing changes, and doubles with every failure.
    pub poll_interval: Duration,
    /// The longest such pause, whatever the server says; default 5 min, so that a server that names
    /// a year does not hide the end of a task for a year.
    pub max_poll_interval: Duration,
    /// Questions of one task that are answered; default 256. More is a typed error: it asks without
    /// end.
    pub max_questions_per_task: usize,
    /// Questions of the server that are tasks here at the same time, in one conversation, answered
    /// or not; default 64. More are refused with -32603.
    pub max_client_tasks: usize,
    /// Size of the answers that are kept for them, in bytes; default 4 MiB. A task whose answer has
    /// no room fails.
    pub max_client_task_bytes: usize,
    /// How long such a task is kept from its beginning, when the server does not say; default
    /// 10 min. Whoever is asked has no longer to answer.
    pub client_task_ttl: Duration,
    /// The longest that the server may wish for; default 24 h. A longer wish is granted this.
    pub max_client_task_ttl: Duration,
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
