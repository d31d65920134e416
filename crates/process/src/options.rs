//! The limits of a child process.

use std::time::Duration;

/// Limits of a server's process: time to end, stored standard error, and restarts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChildOptions {
    /// Maximum time between the end of the server's input and its exit; default 5 s. Then the
    /// server and its descendants get `SIGTERM`.
    pub exit_timeout: Duration,
    /// Maximum time from `SIGTERM` to the exit; default 5 s. Then the group is killed.
    pub terminate_timeout: Duration,
    /// Time from the exit of the server until its descendants are ended; default 0: at once. A diagnosis
    /// can look for them meanwhile.
    pub descendants_timeout: Duration,
    /// Maximum size of the stored standard error, in bytes; default 64 KiB. The oldest bytes are
    /// dropped.
    pub max_stderr_bytes: usize,
    /// Maximum resident memory of the server and its descendants together, in bytes; default `None`: unlimited. It is
    /// read each second, and above it the group is killed. On Linux only.
    pub max_memory_bytes: Option<u64>,
    /// Wait before the restart of a server that ended on its own; default 1 s. It doubles with each
    /// such end.
    pub restart_delay: Duration,
    /// Maximum of the doubled wait; default 30 s.
    pub max_restart_delay: Duration,
    /// Maximum number of ends in a row without a request of the host; default 5. The server is then
    /// not started for `crash_loop_delay`, and a connection attempt fails at once.
    pub max_restarts: u32,
    /// Pause after too many ends in a row; default 5 min. Then one more start is permitted.
    pub crash_loop_delay: Duration,
    /// Minimum run time of a healthy server; default 60 s. Such a run resets the count of ends.
    pub min_healthy_uptime: Duration,
}

impl Default for ChildOptions {
    fn default() -> Self {
        Self {
            exit_timeout: Duration::from_secs(5),
            terminate_timeout: Duration::from_secs(5),
            descendants_timeout: Duration::ZERO,
            max_stderr_bytes: 64 << 10,
            max_memory_bytes: None,
            restart_delay: Duration::from_secs(1),
            max_restart_delay: Duration::from_secs(30),
            max_restarts: 5,
            crash_loop_delay: Duration::from_secs(300),
            min_healthy_uptime: Duration::from_secs(60),
        }
    }
}
