//! Reads and writes of a pipe, counted: messages that are read together leave together.
#![cfg(unix)]

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::common::{Misbehaving, call, within};
use pintle_runtime::{PipeEnd, PipeOptions, serve_pipe};

/// The reads that gave bytes, and the writes.
#[derive(Debug, Default)]
struct Counts {
    reads: AtomicUsize,
    writes: AtomicUsize,
}

impl Counts {
    /// The reads and writes since the last call.
    fn take(&self) -> (usize, usize) {
        let reads = self.reads.swap(0, Ordering::SeqCst);
        (reads, self.writes.swap(0, Ordering::SeqCst))
    }
}

struct CountedReader(OwnedReadHalf, Arc<Counts>);

impl AsyncRead for CountedReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(cx, buffer);
        if read.is_ready() {
            self.1.reads.fetch_add(1, Ordering::SeqCst);
        }
        read
    }
}

struct CountedWriter(OwnedWriteHalf, Arc<Counts>);

impl AsyncWrite for CountedWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.1.writes.fetch_add(1, Ordering::SeqCst);
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Sends `calls` calls in one write, and waits for their answers.
async fn exchange(stream: &mut BufReader<UnixStream>, calls: i64) {
    let texts = (0..calls).map(|id| format!("{}\n", call("2026-07-28", id, "echo")));
    let texts: String = texts.collect();
    stream
        .write_all(texts.as_bytes())
        .await
        .expect("the server reads");
    for id in 0..calls {
        let mut line = String::new();
        within(stream.read_line(&mut line)).await.expect("a line");
        assert!(line.contains(&format!("\"id\":{id},")), "{line}");
    }
}

#[tokio::test]
async fn requests_of_one_read_are_answered_in_one_write() {
    let (near, far) = UnixStream::pair().expect("a pair");
    let counts = Arc::new(Counts::default());
    let (reader, writer) = far.into_split();
    let driver = tokio::spawn(serve_pipe(
        Arc::new(Misbehaving),
        CountedReader(reader, Arc::clone(&counts)),
        CountedWriter(writer, Arc::clone(&counts)),
        PipeOptions::default(),
    ));
    let mut near = BufReader::new(near);
    // The buffer of the reader grows to the size of one write of the client.
    exchange(&mut near, 16).await;
    counts.take();
    for calls in [1, 2, 15, 16] {
        exchange(&mut near, calls).await;
        assert_eq!(counts.take(), (1, 1), "{calls} calls");
    }
    near.shutdown().await.expect("shuts down");
    let end = within(driver).await.expect("the driver does not panic");
    assert_eq!(end.expect("no I/O error"), PipeEnd::EndOfInput);
}
