//! A connection that is patient with its peer, within bounds.
//!
//! A peer must ask, once it has begun to, and must read what we write, sooner or later. Between two
//! requests it may be idle for a while. And a peer that still sends when we have answered and said
//! goodbye is listened to for a moment: closing at once would reset the connection, and with it the
//! answer that the peer has not read yet.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::HttpLimits;
use super::deadline::Deadline;
use super::request_phase::{RequestPhase, RequestPhases};

/// How long a peer is listened to after the end.
const FAREWELL: Duration = Duration::from_secs(1);

/// How often we read in one go then.
const READS_AT_ONCE: usize = 64;

/// How long a peer is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct IoTimeouts {
    /// For the whole head of a request, however it trickles.
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

/// A stream whose reads end once the peer is too slow to ask, whose writes fail once it has taken
/// nothing for a while, and whose end waits for the peer's, a moment.
#[derive(Debug)]
pub(super) struct TimeoutIo<T> {
    io: T,
    patience: IoTimeouts,
    turns: RequestPhases,
    asking: Asking,
    /// Set for as long as a write waits.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Set once our side has ended.
    farewell: Option<Pin<Box<Sleep>>>,
}

/// How far the peer has come in its turn.
#[derive(Debug)]
struct Asking {
    turn: RequestPhase,
    /// Whether the head has begun. The first one is expected at once.
    has_begun: bool,
    /// Until when it is waited for; not set before there was something to wait for.
    until: Deadline,
}

impl<T> TimeoutIo<T> {
    /// Is as patient with a peer as it is told, turn by turn.
    pub(super) fn new(io: T, patience: IoTimeouts, turns: RequestPhases) -> Self {
        Self {
            io,
            patience,
            turns,
            asking: Asking {
                turn: RequestPhase::FIRST,
                has_begun: true,
                until: Deadline::default(),
            },
            alarm: None,
            farewell: None,
        }
    }

    /// Something came from the peer: a head, if we owe nothing.
    fn heard(&mut self) {
        let turn = self.turns.now();
        if turn.is_the_peers() && (turn != self.asking.turn || !self.asking.has_begun) {
            self.asking.turn = turn;
            self.asking.has_begun = true;
            self.asking.until.clear();
        }
    }

    /// Ready once the peer has had its time.
    fn wait_for_head(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let turn = self.turns.now();
        if !turn.is_the_peers() {
            return Poll::Pending;
        }
        let Asking {
            turn: known,
            has_begun,
            until,
        } = &mut self.asking;
        if turn != *known {
            *known = turn;
            *has_begun = false;
            until.clear();
        }
        if !until.is_set() {
            until.set(if *has_begun {
                self.patience.head
            } else {
                self.patience.idle
            });
        }
        until.poll(cx)
    }

    /// Passes on what a write came to, unless it waits for too long.
    fn watch<R>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if poll.is_ready() {
            self.alarm = None;
            return poll;
        }
        let patience = self.patience.write;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        std::task::ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Err(too_slow("the peer does not read")))
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
                self.heard();
            }
            return poll;
        }
        std::task::ready!(self.wait_for_head(cx));
        if self.asking.has_begun {
            return Poll::Ready(Err(too_slow("the peer does not finish its request's head")));
        }
        // Nothing was begun, so nothing is broken: as if the peer had ended.
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
        // An answer has left, and nobody reads before there is something to read: the time that the
        // peer has for its next request begins here.
        if poll.is_ready() && self.wait_for_head(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        poll
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.farewell.is_none() {
            let poll = Pin::new(&mut self.io).poll_shutdown(cx);
            std::task::ready!(self.watch(cx, poll))?;
            self.farewell = Some(Box::pin(tokio::time::sleep(FAREWELL)));
        }
        self.poll_farewell(cx).map(Ok)
    }
}

impl<T: AsyncRead + Unpin> TimeoutIo<T> {
    /// Reads and drops what the peer still sends, until it ends or the time is up.
    fn poll_farewell(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(farewell) = &mut self.farewell
            && farewell.as_mut().poll(cx).is_ready()
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
        // There is more, but others want to be served as well.
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
        let patience = IoTimeouts {
            head: Duration::from_secs(20),
            idle: Duration::from_secs(60),
            write: Duration::from_secs(30),
        };
        TimeoutIo::new(io, patience, RequestPhases::default())
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
    async fn a_peer_that_still_sends_at_the_end_is_heard_for_a_moment() {
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
        assert_eq!(began.elapsed(), FAREWELL);
    }
}
