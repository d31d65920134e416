//! An audit log of MCP servers: one line of JSON for each request.
//!
//! [`Audit`] has a queue and a thread that writes it. [`Audit::layer`] is a layer for `Server::layer`:
//!
//! ```
//! use std::time::Duration;
//!
//! use pintle_audit::{Audit, AuditOptions};
//! # use pintle::prelude::*;
//!
//! let audit = Audit::to_writer(std::io::stderr(), AuditOptions::default())?;
//! let server = Server::new("desk", "1.0.0").layer(audit.layer());
//! // After the server has ended:
//! # let _ = server;
//! let lost = audit.close(Duration::from_secs(5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A line has these members. A member without a value is left out.
//!
//! | member | value |
//! |---|---|
//! | `time` | the begin of the request, in UTC |
//! | `principal` | the id of the principal, or `anonymous` |
//! | `client` | the name that the client states |
//! | `session` | the first 8 bytes of the SHA-256 of the session id, as in spans |
//! | `method` | the method |
//! | `name` | the name of the tool or the prompt, or the URI of the resource |
//! | `arguments` | the digest of the arguments of a tool or a prompt: see [`AuditKey`] |
//! | `outcome` | `ok`, `tool_error`, `input_required`, `task`, `error`, `cancelled` or `panic` |
//! | `code` | the JSON-RPC code of an `error` |
//! | `duration_ms` | the duration in milliseconds |
//! | `trace` | the trace id of the request |
//!
//! Arguments and results are never written. Requests that the engine answers, such as `ping` and the handshake,
//! have no line, and neither have those that a transport rejects.

mod digest;
mod layer;
mod options;
mod outcome;
mod queue;
mod record;
mod subject;
mod writer;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::RandomnessError;

pub use digest::AuditKey;
pub use layer::{AuditLayer, Audited};
pub use options::{AuditOptions, AuditText};

use queue::Queue;

/// An audit log. Clones are the same log. The thread that writes ends after the last clone, or after
/// [`Audit::close`].
#[derive(Debug, Clone)]
pub struct Audit(Arc<Log>);

#[derive(Debug)]
struct Log {
    queue: Arc<Queue>,
    options: AuditOptions,
    key: AuditKey,
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.begin_close();
    }
}

/// The number of lines of an audit log since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCounts {
    /// Lines that the writer has accepted.
    pub written: u64,
    /// Lines that are lost, because the queue was full or the log was closed.
    pub lost: u64,
    /// Requests that were refused, because the log is strict and had no room.
    pub refused: u64,
    /// Failed attempts to write.
    pub failures: u64,
}

impl Audit {
    /// Appends to a file. A new file can be read and written by its owner only (mode 0600 on Unix).
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or the system has no randomness for the key.
    pub fn to_file(path: impl AsRef<Path>, options: AuditOptions) -> io::Result<Self> {
        let mut open = OpenOptions::new();
        open.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
        let file = open.open(path)?;
        Self::to_writer(file, options).map_err(io::Error::other)
    }

    /// Writes to any writer, from a thread of its own.
    ///
    /// # Errors
    ///
    /// The system has no randomness for the key.
    pub fn to_writer(
        writer: impl Write + Send + 'static,
        mut options: AuditOptions,
    ) -> Result<Self, RandomnessError> {
        let key = options.key.take().map_or_else(AuditKey::random, Ok)?;
        let queue = Arc::new(Queue::new(options.max_queued_lines));
        let interval = options.write_interval;
        writer::start(Arc::clone(&queue), writer, interval);
        Ok(Self(Arc::new(Log {
            queue,
            options,
            key,
        })))
    }

    /// Returns a layer that writes a line for each request.
    pub fn layer(&self) -> AuditLayer {
        AuditLayer::new(self.clone())
    }

    /// Returns the counts of the log.
    pub fn counts(&self) -> AuditCounts {
        self.0.queue.counts()
    }

    /// Writes the queue, accepts no further lines, and returns the number of lost lines. It blocks the
    /// thread, at most for `timeout`: lines that are not written by then are lost.
    pub fn close(&self, timeout: Duration) -> u64 {
        self.0.queue.close(timeout)
    }
}
