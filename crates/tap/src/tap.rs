//! A tap: it gets copies of the bytes that a transport passes on.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use crate::background_writer::BackgroundWriter;
use crate::framing::Framing;
use crate::observer::Direction;
use crate::options::{Display, TapOptions};
use crate::queue::{Event, Queue, What};
use crate::recording::Recorder;
use crate::report::Report;
use crate::show::TapCounts;

/// Observes copies of bytes on a thread of its own. No method waits for that thread, the display or the recording.
///
/// Clones observe for the same display. The end of the observed program writes the rest.
#[derive(Debug, Clone)]
pub struct Tap {
    queue: Arc<Queue>,
    started: Instant,
    #[cfg(feature = "http")]
    http_limits: (usize, usize),
}

/// The end of a tap.
#[derive(Debug)]
pub struct TapEnd {
    queue: Arc<Queue>,
    ended: Receiver<(TapCounts, Option<BackgroundWriter>)>,
}

/// The transport that a tap observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapTransport {
    /// Standard input and output of one server.
    Stdio,
    /// HTTP exchanges of any number of sessions.
    Http,
}

impl Tap {
    /// Starts a tap that shows messages on `display`, and writes them to the recording if there is one.
    ///
    /// # Errors
    ///
    /// The begin of the recording cannot be written.
    pub fn start(
        transport: TapTransport,
        options: TapOptions,
        display: impl Write + Send + 'static,
        recorder: Option<Recorder>,
    ) -> io::Result<(Self, TapEnd)> {
        let is_shown = options.display != Display::None;
        let writer = is_shown.then(|| BackgroundWriter::start(display, options.max_queued_lines));
        #[cfg(feature = "http")]
        let http_limits = (options.max_body_bytes, options.max_connections);
        let queue = Arc::new(Queue::new(options.max_queued_bytes));
        let mut report = Report::new(options, transport == TapTransport::Http, writer);
        if let Some(recorder) = recorder {
            report.record(recorder, SystemTime::now())?;
        }
        let (end, ended) = sync_channel(1);
        let observed = Arc::clone(&queue);
        std::thread::spawn(move || {
            while let Some(batch) = observed.take() {
                report.batch(batch);
            }
            let _ = end.send(report.finish());
        });
        let tap = Self {
            queue: Arc::clone(&queue),
            started: Instant::now(),
            #[cfg(feature = "http")]
            http_limits,
        };
        Ok((tap, TapEnd { queue, ended }))
    }

    /// Returns `TapOptions::max_body_bytes` and `max_connections`.
    #[cfg(feature = "http")]
    pub(crate) fn http_limits(&self) -> (usize, usize) {
        self.http_limits
    }

    /// States how messages are written to a stream, in one direction.
    pub(crate) fn begin(&self, stream: u64, direction: Direction, framing: Framing) {
        self.push(stream, direction, What::Begin(framing));
    }

    /// Observes a copy of bytes that are passed on.
    pub(crate) fn bytes(&self, stream: u64, direction: Direction, bytes: &[u8]) {
        self.push(stream, direction, What::Bytes(bytes.into()));
    }

    /// States that a direction of a stream has ended.
    pub(crate) fn end(&self, stream: u64, direction: Direction) {
        self.push(stream, direction, What::End);
    }

    /// States that a stream has ended.
    pub(crate) fn close(&self, stream: u64) {
        self.push(stream, Direction::ToServer, What::Close);
    }

    /// Shows a remark.
    pub(crate) fn note(&self, note: &str) {
        self.push(0, Direction::ToServer, What::Note(note.into()));
    }

    pub(crate) fn push(&self, stream: u64, direction: Direction, what: What) {
        let at = self.started.elapsed();
        // The queue counts lost bytes.
        let _ = self.queue.push(Event {
            stream,
            direction,
            at,
            what,
        });
    }
}

impl TapEnd {
    /// Ends all sessions, and writes everything that waits. It blocks the thread, at most for `timeout`. Returns
    /// `None` if the time was too short.
    pub fn close(self, timeout: Duration) -> Option<TapCounts> {
        let deadline = Instant::now() + timeout;
        self.queue.close();
        let (counts, display) = self.ended.recv_timeout(timeout).ok()?;
        if let Some(display) = display {
            display.close(deadline.saturating_duration_since(Instant::now()));
        }
        Some(counts)
    }
}
