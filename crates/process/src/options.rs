//! The bounds of a child process.

use std::time::Duration;

/// How long a server may take to end, how much of what it says is kept, and how often it is started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChildOptions {
    /// How long a server may go on after the end of its input; default 5 s. Then it and all that it
    /// started are asked to end (`SIGTERM`).
    pub end_of_input: Duration,
    /// How long it may go on after that; default 5 s. Then all of it is killed.
    pub terminate: Duration,
    /// How much of its standard error is kept, in bytes; default 64 KiB. The oldest gives way.
    pub stderr_bytes: usize,
    /// The wait before a server that ended by itself is started again; default 1 s. It doubles each
    /// time.
    pub restart_wait: Duration,
    /// The longest such wait; default 30 s.
    pub restart_wait_most: Duration,
    /// How often in a row a server may end by itself; default 5. After that it is not started for
    /// `restart_rest`, and whoever wants it gets an error at once.
    pub restarts: u32,
    /// How long a server is left alone after that; default 5 min. Then one more start is tried.
    pub restart_rest: Duration,
    /// How long a server has to run to be called healthy; default 60 s. The counting begins anew then.
    pub healthy: Duration,
}

impl Default for ChildOptions {
    fn default() -> Self {
        Self {
            end_of_input: Duration::from_secs(5),
            terminate: Duration::from_secs(5),
            stderr_bytes: 64 << 10,
            restart_wait: Duration::from_secs(1),
            restart_wait_most: Duration::from_secs(30),
            restarts: 5,
            restart_rest: Duration::from_secs(300),
            healthy: Duration::from_secs(60),
        }
    }
}
