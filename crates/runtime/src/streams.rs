//! The client's side of byte streams: one message per line, over anything that reads and writes.

use std::future::poll_fn;
use std::time::Duration;

use pintle_proto::frame::{Line, Lines};
use pintle_proto::{TransportError, TransportErrorKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use crate::peer::{Wire, wire};
use crate::pipe::incoming::poll_read;
use crate::pipe::outgoing::Outgoing as Unsent;
use crate::transport::Transport;

/// How long the last messages are read of a server that no longer reads.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Lines of one server after which others get their turn.
const FAIR_LINES: usize = 64;

/// Carries a conversation over a pair of byte streams.
#[derive(Debug)]
pub struct StreamTransport<R, W> {
    reader: R,
    writer: W,
    options: StreamOptions,
}

/// The limits of a conversation over byte streams.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Size of one line, in bytes; default 16 MiB. A longer one ends the conversation, because the
    /// call that it answers is unknown.
    pub max_line_bytes: usize,
    /// Unsent bytes at which no more messages are taken from the engine; default 16 MiB.
    pub max_unsent_bytes: usize,
    /// How long a server may leave unsent bytes unread; default 30 s. The conversation ends then.
    pub write_timeout: Duration,
    /// How long the server may take to end after us, before its stream is closed; default 5 s.
    pub close_timeout: Duration,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            max_line_bytes: 16 << 20,
            max_unsent_bytes: 16 << 20,
            write_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
        }
    }
}

impl<R, W> StreamTransport<R, W> {
    /// Reads from `reader` and writes to `writer`.
    pub fn new(reader: R, writer: W) -> Self {
        Self::with(reader, writer, StreamOptions::default())
    }

    /// As [`StreamTransport::new`], with limits of its own.
    pub fn with(reader: R, writer: W, options: StreamOptions) -> Self {
        Self {
            reader,
            writer,
            options,
        }
    }
}

impl<R, W> Transport for StreamTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let carrier = Carrier {
            lines: Lines::new(self.options.max_line_bytes),
            reader: self.reader,
            unsent: Unsent::new(self.writer),
            wire,
            stalled_at: None,
            options: self.options,
        };
        carrier.carry().await
    }
}

struct Carrier<R, W> {
    wire: Wire,
    reader: R,
    lines: Lines,
    unsent: Unsent<W>,
    stalled_at: Option<Instant>,
    options: StreamOptions,
}

enum Woken {
    Read(usize),
    Written,
    Outgoing(bool),
    Stalled,
    Unwritable(std::io::Error),
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Carrier<R, W> {
    async fn carry(mut self) -> Result<(), TransportError> {
        loop {
            match self.wait().await? {
                Woken::Unwritable(error) => return Err(self.read_rest(error).await),
                Woken::Read(0) => return Err(TransportErrorKind::Disconnected.into()),
                Woken::Read(_) => self.take_lines().await?,
                Woken::Outgoing(false) => return self.close().await,
                Woken::Stalled => {
                    let error = TransportError::new(TransportErrorKind::Disconnected);
                    return Err(error.with_detail("the server does not read"));
                }
                Woken::Outgoing(true) => {
                    self.wire.let_callers_run().await;
                    self.take_over();
                }
                Woken::Written => self.take_over(),
            }
        }
    }

    /// Moves ready messages from the engine into the output, so that they leave together.
    fn take_over(&mut self) {
        while self.unsent.len() < self.options.max_unsent_bytes {
            let Some(outgoing) = self.wire.try_next() else {
                return;
            };
            self.push(outgoing.frame);
        }
    }

    fn push(&mut self, frame: pintle_proto::Frame) {
        if !frame.is_empty() {
            self.unsent.push(frame);
        }
    }

    /// Waits for the first event; among ready ones, the choice is random.
    async fn wait(&mut self) -> Result<Woken, TransportError> {
        let is_idle = self.unsent.is_empty();
        let write_timeout = self.options.write_timeout;
        let takes = self.unsent.len() < self.options.max_unsent_bytes;
        let reads = self.wire.has_room();
        let wire = &self.wire;
        let (reader, lines) = (&mut self.reader, &mut self.lines);
        let woken = tokio::select! {
            written = write(&mut self.unsent, &mut self.stalled_at, write_timeout), if !is_idle => written,
            next = poll_fn(|task| wire.poll_next(task)), if takes => match next {
                Some(outgoing) => {
                    if !outgoing.frame.is_empty() {
                        self.unsent.push(outgoing.frame);
                    }
                    Woken::Outgoing(true)
                }
                None => Woken::Outgoing(false),
            },
            read = poll_fn(|task| poll_read(reader, lines, task)), if reads => Woken::Read(read.map_err(lost)?),
        };
        Ok(woken)
    }

    async fn take_lines(&mut self) -> Result<(), TransportError> {
        let (mut taken, mut now) = (0, wire::now());
        while let Some(line) = self.lines.next_line() {
            match line {
                Line::Text(text) => self.wire.receive_at(now, text),
                Line::TooLong => return Err(TransportErrorKind::TooLarge.into()),
            }
            taken += 1;
            if taken % FAIR_LINES == 0 {
                yield_now().await;
                now = wire::now();
            }
        }
        Ok(())
    }

    /// Reads the last messages of a server that no longer reads, because it may have sent some
    /// before.
    async fn read_rest(mut self, error: std::io::Error) -> TransportError {
        let reading = async {
            loop {
                let read = poll_fn(|task| poll_read(&mut self.reader, &mut self.lines, task));
                match read.await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                if self.take_lines().await.is_err() {
                    return;
                }
            }
        };
        // The read ends after this time even if the server does not close.
        let _ = tokio::time::timeout(LAST_WORDS, reading).await;
        lost(error)
    }

    /// Sends the queued messages, closes our end, and gives the server time to close its own.
    async fn close(mut self) -> Result<(), TransportError> {
        let until = Instant::now() + self.options.close_timeout;
        let closing = async {
            while !self.unsent.is_empty() {
                self.unsent.write().await.map_err(lost)?;
            }
            self.unsent.shutdown().await.map_err(lost)?;
            let mut rest = [0; 1024];
            while self.reader.read(&mut rest).await.map_err(lost)? > 0 {}
            Ok(())
        };
        tokio::select! {
            done = closing => done,
            () = sleep_until(until) => Ok(()),
        }
    }
}

fn lost(error: std::io::Error) -> TransportError {
    TransportError::new(TransportErrorKind::Disconnected).with_source(error)
}

/// Writes some of the unsent bytes. `stalled_at` is the first instant at which the server did not
/// read; the timer starts only then.
async fn write<W: AsyncWrite + Unpin>(
    unsent: &mut Unsent<W>,
    stalled_at: &mut Option<Instant>,
    timeout: Duration,
) -> Woken {
    let stall = async {
        let since = *stalled_at.get_or_insert_with(Instant::now);
        sleep_until(since + timeout).await;
    };
    let written = tokio::select! {
        biased;
        written = unsent.write() => written,
        () = stall => return Woken::Stalled,
    };
    match written {
        Ok(()) => {
            *stalled_at = None;
            Woken::Written
        }
        Err(error) => Woken::Unwritable(error),
    }
}
