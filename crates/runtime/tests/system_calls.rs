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
use pintle_model::{ClientCapabilities, Implementation, JsonObject, Revision};
use pintle_proto::{Connection, NewCall};
use pintle_runtime::{Peer, PipeEnd, PipeOptions, StreamTransport, drive, serve_pipe};

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

/// A client that calls over `stream`, its reads and writes counted.
fn client(stream: UnixStream, counts: &Arc<Counts>) -> Peer {
    let (reader, writer) = stream.into_split();
    let (reader, writer) = (
        CountedReader(reader, Arc::clone(counts)),
        CountedWriter(writer, Arc::clone(counts)),
    );
    let identity = Implementation::new("t", "1");
    let mut engine = Connection::client(identity, ClientCapabilities::default(), Arc::default());
    engine.use_revision(Revision::LATEST);
    let peer = Peer::new(engine);
    let transport = StreamTransport::new(reader, writer);
    tokio::spawn(drive(peer.clone(), transport, drop));
    peer
}

/// Reads `calls` calls, and returns an answer to each.
async fn answers(stream: &mut BufReader<UnixStream>, calls: usize) -> String {
    let mut answers = String::new();
    for _ in 0..calls {
        let mut line = String::new();
        within(stream.read_line(&mut line)).await.expect("a line");
        let call: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let id = &call["id"];
        answers += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    }
    answers
}

// On one worker thread, because tokio runs the task that a caller wakes before the other callers.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn callers_that_one_read_woke_share_one_write() {
    const CALLERS: usize = 8;
    let (near, far) = UnixStream::pair().expect("a pair of sockets");
    let (counts, mut far) = (Arc::<Counts>::default(), BufReader::new(far));
    let peer = client(near, &counts);
    for _ in 0..CALLERS {
        let peer = peer.clone();
        tokio::spawn(async move {
            loop {
                let call = peer.call(NewCall::new("tools/list", JsonObject::new()));
                call.expect("room").outcome().await.expect("a result");
            }
        });
    }
    let mut waiting = answers(&mut far, CALLERS).await;
    for _ in 0..10 {
        counts.take();
        let written = far.write_all(waiting.as_bytes()).await;
        written.expect("the client reads");
        waiting = answers(&mut far, CALLERS).await;
        assert_eq!(counts.take().1, 1);
    }
}
