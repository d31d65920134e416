//! A connection whose peer must read what we write, sooner or later.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A stream whose writes fail once the peer has taken nothing for a while.
#[derive(Debug)]
pub(super) struct Stall<T> {
    io: T,
    patience: Duration,
    /// Set for as long as a write waits.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<T> Stall<T> {
    /// Gives a peer at most `patience` for every write.
    pub(super) fn new(io: T, patience: Duration) -> Self {
        Self {
            io,
            patience,
            alarm: None,
        }
    }

    /// Passes on what a write came to, unless it waits for too long.
    fn watch<R>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if poll.is_ready() {
            self.alarm = None;
            return poll;
        }
        let patience = self.patience;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        std::task::ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the peer does not read",
        )))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stall<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Stall<T> {
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
        self.watch(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.io).poll_shutdown(cx);
        self.watch(cx, poll)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    // hardening: H-186
    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_read_is_given_up() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut stream = Stall::new(ours, Duration::from_secs(30));
        let began = Instant::now();
        let error = stream.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_slowly_is_waited_for() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stream = Stall::new(ours, Duration::from_secs(30));
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
}
