//! A connection with timeouts for its peer.
//!
//! The peer must finish the head of a request, and must read our responses, each within a timeout.
//! Between two requests it may be idle for some time. After our last response we read for a moment
//! what the peer still sends. To close at once would reset the connection, and the peer would lose a
//! response that it has not read.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::HttpLimits;
use super::connection_phase::{ConnectionPhase, ConnectionPhases};
use super::deadline::Deadline;

/// How long we read from the peer after our last response.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of these reads in one poll.
const READS_AT_ONCE: usize = 64;

/// The timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct IoTimeouts {
    /// For the whole head of a request.
    pub(super) head: Duration,
    /// For the beginning of another request.
    pub(super) idle: Duration,
    /// For every write.
    pub(super) write: Duration,
}

impl From<&HttpLimits> for IoTimeouts {
    fn from(limits: &HttpLimits) -> Self {
        Self {
            head: limits.header_timeout,
            idle: limits.connection_idle_timeout,
            write: limits.write_timeout,
        }
    }
}

/// A byte stream with timeouts. Reads end when a request is late, and writes fail when the peer does
/// not read. Shutdown waits a moment for the end of the peer.
#[derive(Debug)]
pub(super) struct TimeoutIo<T> {
    io: T,
    timeouts: IoTimeouts,
    phases: ConnectionPhases,
    asking: Asking,
    /// Set while a write waits.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Set once our side has ended.
    close_timer: Option<Pin<Box<Sleep>>>,
}

/// The state of the request that the peer sends next.
#[derive(Debug)]
struct Asking {
    phase: ConnectionPhase,
    /// Whether the head has begun. The first one is expected at once.
    has_begun: bool,
    /// The deadline of the request; not set before the connection waits for one.
    until: Deadline,
}

impl<T> TimeoutIo<T> {
    /// Wraps `io`; `phases` states whether the peer may send a request or we owe a response.
    pub(super) fn new(io: T, timeouts: IoTimeouts, phases: ConnectionPhases) -> Self {
        Self {
            io,
            timeouts,
            phases,
            asking: Asking {
                phase: ConnectionPhase::FIRST,
                has_begun: true,
                until: Deadline::default(),
            },
            alarm: None,
            close_timer: None,
        }
    }

    /// Records that bytes arrived. They begin a request head, unless we owe a response.
    fn note_input(&mut self) {
        let phase = self.phases.now();
        if phase.awaits_request() && (phase != self.asking.phase || !self.asking.has_begun) {
            self.asking.phase = phase;
            self.asking.has_begun = true;
            self.asking.until.clear();
        }
    }

    /// Returns `Ready` once the deadline of the request has passed.
    fn wait_for_head(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let phase = self.phases.now();
        if !phase.awaits_request() {
            return Poll::Pending;
        }
        let Asking {
            phase: last_phase,
            has_begun,
            until,
        } = &mut self.asking;
        if phase != *last_phase {
            *last_phase = phase;
            *has_begun = false;
            until.clear();
        }
        if !until.is_set() {
            until.set(if *has_begun {
                self.timeouts.head
            } else {
                self.timeouts.idle
            });
        }
        until.poll(cx)
    }

    /// Returns the result of a write, or an error if the write waits for too long.
    fn watch<R>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if poll.is_ready() {
            self.alarm = None;
            return poll;
        }
        let timeouts = self.timeouts.write;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(timeouts)));
        std::task::ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Err(too_slow("the peer has not read the response in time")))
    }
}

fn too_slow(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

impl<T: AsyncRead + Unpin> AsyncRead for TimeoutIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.io).poll_read(cx, buf);
        if poll.is_ready() {
            if buf.filled().len() > before {
                self.note_input();
            }
            return poll;
        }
        std::task::ready!(self.wait_for_head(cx));
        if self.asking.has_begun {
            return Poll::Ready(Err(too_slow(
                "the peer has not finished the request head in time",
            )));
        }
        // No request has begun, so this is a normal end of the connection.
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimeoutIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write(cx, buf);
        self.watch(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.watch(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.io).poll_flush(cx);
        let poll = self.watch(cx, poll);
        // A response has left. The timeout of the next request begins here, because hyper reads only
        // when bytes arrive.
        if poll.is_ready() && self.wait_for_head(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        poll
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.close_timer.is_none() {
            let poll = Pin::new(&mut self.io).poll_shutdown(cx);
            std::task::ready!(self.watch(cx, poll))?;
            self.close_timer = Some(Box::pin(tokio::time::sleep(CLOSE_TIMEOUT)));
        }
        self.poll_farewell(cx).map(Ok)
    }
}

impl<T: AsyncRead + Unpin> TimeoutIo<T> {
    /// Reads and drops bytes until the peer ends or the timeout has passed.
    fn poll_farewell(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(close_timer) = &mut self.close_timer
            && close_timer.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        let mut dropped = [0; 4096];
        for _ in 0..READS_AT_ONCE {
            let mut buffer = ReadBuf::new(&mut dropped);
            match Pin::new(&mut self.io).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(()),
            }
        }
        // More bytes wait, but other tasks must run, too.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    fn patient<T>(io: T) -> TimeoutIo<T> {
        let timeouts = IoTimeouts {
            head: Duration::from_secs(20),
            idle: Duration::from_secs(60),
            write: Duration::from_secs(30),
        };
        TimeoutIo::new(io, timeouts, ConnectionPhases::default())
    }

    // hardening: H-186
    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_read_is_given_up() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut stream = patient(ours);
        let began = Instant::now();
        let error = stream.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_slowly_is_waited_for() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stream = patient(ours);
        let reader = async {
            let mut buffer = [0; 8];
            for _ in 0..8 {
                tokio::time::sleep(Duration::from_secs(29)).await;
                theirs.read_exact(&mut buffer).await.expect("bytes");
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[0; 64]), reader);
        written.expect("all was read");
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_that_arrive_at_the_end_are_read_for_a_moment() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stream = patient(ours);
        let began = Instant::now();
        let (ended, sent) = tokio::join!(stream.shutdown(), async {
            let sent = theirs.write_all(&[0; 10_000]).await;
            drop(theirs);
            sent
        });
        ended.expect("an end");
        sent.expect("all was taken");
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_end_is_left() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut stream = patient(ours);
        let began = Instant::now();
        stream.shutdown().await.expect("an end");
        assert_eq!(began.elapsed(), CLOSE_TIMEOUT);
    }
}
