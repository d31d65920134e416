//! The limits of a proxy.

use std::time::Duration;

/// The limits of a proxy: each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProxyOptions {
    /// How long opening a connection takes; default 30 s. A program gets half of it for the answer to
    /// `server/discover`: a package runner may download the server first.
    pub connect_timeout: Duration,
    /// Largest number of connections to the server at the same time; default 64. A connection may be a child
    /// process. At the limit the proxy closes one that no client uses, or refuses the call.
    pub max_connections: usize,
    /// Largest number of calls that one connection has open; default 4 096. The proxy refuses more.
    pub max_calls: usize,
    /// Largest number of parked calls; default 1 024. Each of them holds a call of the server open.
    pub max_parked_calls: usize,
    /// How long a parked call waits for its retry; default 10 min. Then the proxy cancels it at the server.
    pub park_timeout: Duration,
    /// Largest number of questions of one connection that wait for a call to carry them; default 64. The proxy
    /// refuses more.
    pub max_questions: usize,
    /// How long a question waits for its answer; default 10 min.
    pub question_timeout: Duration,
    /// How long a call waits without an answer or progress; default 1 h. Clients have shorter timeouts, and the
    /// proxy passes their cancellations on.
    pub call_timeout: Duration,
    /// How long a connection without a session stays open without a call; default 5 min.
    pub idle_timeout: Duration,
    /// How long a connection is used; default `None`: without a limit. Another one then replaces it, in the same sessions
    /// and with their subscriptions, as after [`Proxy::replace`](crate::Proxy::replace). One connection is replaced at a
    /// time, and one whose successor cannot be opened stays.
    pub max_connection_age: Option<Duration>,
    /// How long a connection that was replaced for its age waits for the ends of its calls; default 5 min. Then it
    /// ends, and its calls fail.
    pub drain_timeout: Duration,
    /// Largest number of retries of one call of an earlier client whose questions the proxy asks; default 10.
    pub max_rounds: u32,
    /// Whether the proxy lists the tools of the server before it serves; default true. HTTP clients of 2026-07-28
    /// repeat arguments in headers, and the proxy verifies them by the schemas. Other transports have no headers.
    pub list_tools_first: bool,
    /// Largest number of tools whose arguments are verified in headers; default 4 096. Headers of more tools are
    /// not verified.
    pub max_header_tools: usize,
    /// Whether all clients share one connection, and so one process, also of a server with sessions; default false.
    /// The state of such a server is then common to all clients. It cannot ask questions, because it does not name the
    /// call of a question.
    pub is_shared: bool,
    /// Largest number of tasks between clients and servers with different forms of tasks; default 1 024. The proxy
    /// refuses a new task of a client of 2025-11-25. Of the tasks of a server of 2025-11-25 it forgets the one that was
    /// polled least recently: its questions are asked again with the next poll.
    pub max_tasks: usize,
    /// Longest time that the proxy stores a task of a client of 2025-11-25, and its result; default 1 h.
    pub max_task_ttl: Duration,
    /// Largest size of all stored results of tasks, in bytes; default 64 MiB. A task with a result beyond it fails.
    pub max_task_bytes: usize,
    /// Largest size of the result of a tool, in bytes of JSON; default `None`: unlimited. A larger result is cut, and a
    /// link in it names a resource with the remainder. Tools then have no output schema, because a result that is
    /// cut does not fit it.
    pub max_result_bytes: Option<usize>,
    /// Largest number of stored remainders; default 256. Then the oldest of the client with the most bytes is removed.
    pub max_remainders: usize,
    /// Largest size of all stored remainders, in bytes; default 64 MiB. As above; a larger remainder is not stored.
    pub max_remainder_bytes: usize,
    /// How long a remainder is stored; default 10 min.
    pub remainder_ttl: Duration,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            max_connections: 64,
            max_calls: 4_096,
            max_parked_calls: 1_024,
            park_timeout: Duration::from_secs(600),
            max_questions: 64,
            question_timeout: Duration::from_secs(600),
            call_timeout: Duration::from_secs(3_600),
            idle_timeout: Duration::from_secs(300),
            max_connection_age: None,
            drain_timeout: Duration::from_secs(300),
            max_rounds: 10,
            list_tools_first: true,
            max_header_tools: 4_096,
            is_shared: false,
            max_tasks: 1_024,
            max_task_ttl: Duration::from_secs(3_600),
            max_task_bytes: 64 << 20,
            max_result_bytes: None,
            max_remainders: 256,
            max_remainder_bytes: 64 << 20,
            remainder_ttl: Duration::from_secs(600),
        }
    }
}
