//! The limits of a diagnosis.

use std::time::Duration;

/// Limits of a diagnosis: its times, and the sizes of stored output.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DoctorOptions {
    /// Longest time until a server has to be ready; default 30 s. A host with a shorter limit has its own.
    pub max_start_timeout: Duration,
    /// Longest time for each list of a server; default 10 s.
    pub list_timeout: Duration,
    /// Longest time from the end of a program's input to its exit; default 2 s.
    pub exit_timeout: Duration,
    /// Longest time for each request over HTTP; default 10 s.
    pub request_timeout: Duration,
    /// Number of servers that are examined at the same time; default 4.
    pub max_running_servers: usize,
    /// Number of servers that are examined in one diagnosis; default 256.
    pub max_servers: usize,
    /// Number of lines that are stored of standard output that is not a message; default 3.
    pub max_stray_lines: usize,
    /// Length of each stored line, in bytes; default 200.
    pub max_stray_bytes: usize,
    /// Size of the stored end of standard error, in bytes; default 4 KiB.
    pub max_stderr_bytes: usize,
    /// Number of items of each list; default 10 000.
    pub max_list_items: usize,
}

impl Default for DoctorOptions {
    fn default() -> Self {
        Self {
            max_start_timeout: Duration::from_secs(30),
            list_timeout: Duration::from_secs(10),
            exit_timeout: Duration::from_secs(2),
            request_timeout: Duration::from_secs(10),
            max_running_servers: 4,
            max_servers: 256,
            max_stray_lines: 3,
            max_stray_bytes: 200,
            max_stderr_bytes: 4 << 10,
            max_list_items: 10_000,
        }
    }
}
