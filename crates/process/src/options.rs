//! The bounds of a child process.

use std::time::Duration;

/// How long a server may take to end, how much of what it says is kept, and how often it is started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChildOptions {
    /// How long a server may go on after the end of its input; default 5 s. Then it and all that it
    /// started are asked to end (`SIGTERM`).
    pub exit_timeout: Duration,
    /// How long it may go on after that; default 5 s. Then all of it is killed.
    pub terminate_timeout: Duration,
    /// How much of its standard error is kept, in bytes; default 64 KiB. The oldest gives way.
    pub max_stderr_bytes: usize,
    /// The wait before a server that ended by itself is started again; default 1 s. It doubles each
    /// time.
    pub restart_delay: Duration,
    /// The longest such wait; default 30 s.
    pub max_restart_delay: Duration,
    /// How often in a row a server may end by itself; default 5. After that it is not started for
    /// `crash_loop_delay`, and whoever wants it gets an error at once.
    pub max_restarts: u32,
    /// How long a server is left alone after that; default 5 min. Then one more start is tried.
    pub crash_loop_delay: Duration,
    /// How long a server has to run to be called healthy; default 60 s. The counting begins anew then.
    pub min_healthy_uptime: Duration,
}

impl Default for ChildOptions {
    fn default() -> Self {
        Self {
            exit_timeout: Duration::from_secs(5),
            terminate_timeout: Duration::from_secs(5),
            max_stderr_bytes: 64 << 10,
            restart_delay: Duration::from_secs(1),
            max_restart_delay: Duration::from_secs(30),
            max_restarts: 5,
            crash_loop_delay: Duration::from_secs(300),
            min_healthy_uptime: Duration::from_secs(60),
        }
    }
}
