//! How a pipe ends, and that it loses no answer on the way.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::common::{Misbehaving, Peer, call, within};
use pintle_model::{CallToolResult, Error, Implementation, LoggingLevel, ServerCapabilities};
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{Context, PipeEnd, PipeOptions, Service, ShutdownHandle, serve_pipe};

/// A handler that never ends, and counts its drop. Its context is shared with the test.
#[derive(Clone, Default)]
struct Endless {
    context: Arc<Mutex<Option<Context>>>,
    is_dropped: Arc<AtomicBool>,
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Service for Endless {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let _guard = SetOnDrop(Arc::clone(&self.is_dropped));
        *self.context.lock().expect("nobody panics") = Some(cx.clone());
        pending::<()>().await;
        Reply::complete(CallToolResult::text("never"), cx.terms().revision)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        capabilities.logging = Some(Default::default());
        Arc::new(ServerProfile::new(
            Implementation::new("endless", "1.0.0"),
            capabilities,
        ))
    }
}

/// A reader that gives one piece per read, then stays silent; it notes how much was asked for.
#[derive(Default)]
struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    most: Arc<AtomicUsize>,
    ends: bool,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.most.fetch_max(buffer.remaining(), Ordering::SeqCst);
        match self.pieces.pop_front() {
            Some(mut piece) => {
                let rest = piece.split_off(piece.len().min(buffer.remaining()));
                if !rest.is_empty() {
                    self.pieces.push_front(rest);
                }
                buffer.put_slice(&piece);
                Poll::Ready(Ok(()))
            }
            None if self.ends => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    }
}

fn pieces(messages: &[Value]) -> Pieces {
    let pieces = messages
        .iter()
        .map(|message| format!("{message}\n").into_bytes())
        .collect();
    Pieces {
        pieces,
        ..Pieces::default()
    }
}

/// Whenever something is written, something more is there to write.
struct Echoing {
    context: Arc<Mutex<Option<Context>>>,
    writes: usize,
}

impl AsyncWrite for Echoing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writes += 1;
        assert!(self.writes < 10_000, "the reader is never asked");
        if let Some(cx) = &*self.context.lock().expect("nobody panics") {
            cx.log(LoggingLevel::Error, None, "again");
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

// hardening: H-166
#[tokio::test(start_paused = true)]
async fn a_handler_that_always_sends_can_be_cancelled() {
    let service = Endless::default();
    let mut request = call("2026-07-28", 1, "any");
    request["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let reader = pieces(&[request, ping, cancel]);
    let writer = Echoing {
        context: Arc::clone(&service.context),
        writes: 0,
    };
    let is_dropped = Arc::clone(&service.is_dropped);
    let driver = tokio::spawn(serve_pipe(
        Arc::new(service),
        reader,
        writer,
        PipeOptions::default(),
    ));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(
        is_dropped.load(Ordering::SeqCst),
        "the cancellation is read"
    );
    driver.abort();
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_dropped_takes_its_handlers_along() {
    let service = Endless::default();
    let is_dropped = Arc::clone(&service.is_dropped);
    let reader = pieces(&[call("2026-07-28", 1, "any")]);
    let serving = serve_pipe(
        Arc::new(service),
        reader,
        tokio::io::sink(),
        PipeOptions::default(),
    );
    let _ = tokio::time::timeout(Duration::from_secs(1), serving).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(is_dropped.load(Ordering::SeqCst));
}

/// A writer that buffers its input until it has been asked to flush for a while.
struct Lazy {
    kept: Vec<u8>,
    written: Arc<Mutex<Vec<u8>>>,
    refuses: usize,
}

impl AsyncWrite for Lazy {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.kept.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        if self.refuses > 0 {
            self.refuses -= 1;
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        let kept = std::mem::take(&mut self.kept);
        self.written.lock().expect("nobody panics").extend(kept);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(task)
    }
}

// hardening: H-130
#[tokio::test(start_paused = true)]
async fn an_answer_is_flushed_before_the_end_whatever_comes_in_between() {
    let mut reader = pieces(&[json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })]);
    reader.ends = true;
    let written = Arc::new(Mutex::new(Vec::new()));
    let writer = Lazy {
        kept: Vec::new(),
        written: Arc::clone(&written),
        refuses: 5,
    };
    let end = serve_pipe(
        Arc::new(Misbehaving),
        reader,
        writer,
        PipeOptions::default(),
    )
    .await;
    assert_eq!(end.expect("no error"), PipeEnd::EndOfInput);
    let text = String::from_utf8(written.lock().expect("nobody panics").clone()).expect("text");
    assert_eq!(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_line_is_dropped_at_shutdown() {
    let (handle, shutdown) = ShutdownHandle::new();
    let mut options = PipeOptions::default();
    options.shutdown = shutdown;
    let mut peer = Peer::connect(Misbehaving, options);
    peer.send_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"meth").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    handle.begin();
    let end = within(peer.driver)
        .await
        .expect("no panic")
        .expect("no error");
    assert_eq!(end, PipeEnd::Shutdown);
    let mut rest = String::new();
    within(peer.lines.into_inner().read_to_string(&mut rest))
        .await
        .expect("an end");
    assert_eq!(rest, "");
}

// hardening: H-123
#[tokio::test(start_paused = true)]
async fn no_read_is_larger_than_a_piece_whatever_came_before() {
    let mut long = vec![b' '; 4 << 20];
    long.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    let mut reader = Pieces {
        pieces: [long].into(),
        ends: true,
        ..Pieces::default()
    };
    reader.pieces.push_back(b"\n".to_vec());
    let most = Arc::clone(&reader.most);
    let end = serve_pipe(
        Arc::new(Misbehaving),
        reader,
        tokio::io::sink(),
        PipeOptions::default(),
    )
    .await;
    assert_eq!(end.expect("no error"), PipeEnd::EndOfInput);
    assert!(
        most.load(Ordering::SeqCst) <= 64 << 10,
        "what is read at once is answered at once"
    );
}

#[tokio::test(start_paused = true)]
async fn the_longest_duration_is_accepted() {
    let mut options = PipeOptions::default();
    (options.write_timeout, options.drain_timeout) = (Duration::MAX, Duration::MAX);
    let mut peer = Peer::connect(Misbehaving, options);
    peer.send(call("2026-07-28", 1, "slow")).await;
    peer.send(call("2026-07-28", 2, "echo")).await;
    assert_eq!(within(peer.receive()).await["id"], 2);
    assert_eq!(peer.finish().await, PipeEnd::EndOfInput);
}

// hardening: H-199
#[tokio::test(start_paused = true)]
async fn a_peer_that_floods_leaves_others_their_turn() {
    let turns = Arc::new(AtomicUsize::new(0));
    let others = Arc::clone(&turns);
    let other = tokio::spawn(async move {
        loop {
            others.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
        }
    });
    let calls = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(100);
    let reader = Pieces {
        pieces: vec![calls.into_bytes(); 100].into(),
        ends: true,
        ..Pieces::default()
    };
    let options = PipeOptions::default();
    let end = serve_pipe(Arc::new(Misbehaving), reader, tokio::io::sink(), options).await;
    other.abort();
    assert_eq!(end.expect("no error"), PipeEnd::EndOfInput);
    assert!(turns.load(Ordering::SeqCst) >= 100);
}

/// A pipe that runs one request and lets one wait.
fn narrow(held_bytes: usize) -> PipeOptions {
    let mut limits = pintle_proto::Limits::default();
    limits.max_running_requests = 1;
    limits.max_waiting_requests = 1;
    let mut options = PipeOptions::default();
    options.limits = Arc::new(limits);
    options.max_held_bytes = held_bytes;
    options
}

// hardening: H-132
#[tokio::test(start_paused = true)]
async fn a_cancellation_is_found_behind_a_full_line() {
    for revision in crate::common::REVISIONS {
        let mut peer = Peer::connect_in(revision, Misbehaving, narrow(1 << 20)).await;
        peer.send(call(revision, 1, "hang")).await;
        for id in 2..=20 {
            peer.send(call(revision, id, "echo")).await;
        }
        peer.send(
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1 } }),
        )
        .await;
        for id in 2..=20 {
            let answer = within(peer.receive()).await;
            assert_eq!(answer["id"], id, "all are answered, in order");
        }
        assert_eq!(peer.finish().await, PipeEnd::EndOfInput);
    }
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_waiting_lines_are_bounded() {
    let mut peer = Peer::connect_in("2025-11-25", Misbehaving, narrow(64)).await;
    peer.send(call("2025-11-25", 1, "hang")).await;
    let flood = async {
        for id in 2.. {
            peer.send(call("2025-11-25", id, "echo")).await;
        }
    };
    let flood = tokio::time::timeout(Duration::from_secs(60), flood).await;
    assert!(flood.is_err(), "the pipe fills up");
}

// hardening: H-132
#[tokio::test(start_paused = true)]
async fn a_pipe_is_read_no_further_than_its_unsent_bytes() {
    // Bytes that are in the pipe itself, in either direction, and in one read.
    const ON_ITS_WAY: usize = 4 * (64 << 10);
    for unsent_bytes in [1, 1 << 20] {
        let mut options = PipeOptions::default();
        (options.max_unsent_bytes, options.write_timeout) = (unsent_bytes, Duration::MAX);
        let mut peer = Peer::connect(Misbehaving, options);
        let ping = json!({ "jsonrpc": "2.0", "id": "i".repeat(1_000), "method": "ping" });
        let mut sent = 0;
        let flood = async {
            loop {
                peer.send(ping.clone()).await;
                sent += 1_000;
            }
        };
        let flood = tokio::time::timeout(Duration::from_secs(60), flood).await;
        assert!(flood.is_err(), "the pipe fills up");
        let most = unsent_bytes + ON_ITS_WAY;
        assert!(
            (unsent_bytes..most).contains(&sent),
            "{sent} of {unsent_bytes}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_requests_are_answered_after_the_end_of_input() {
    let mut peer = Peer::connect_in("2025-11-25", Misbehaving, narrow(1 << 20)).await;
    for id in 1..=5 {
        peer.send(call("2025-11-25", id, "late")).await;
    }
    peer.writer.shutdown().await.expect("shuts down");
    for id in 1..=5 {
        assert_eq!(within(peer.receive()).await["id"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_opens_the_conversation_is_let_go() {
    let mut options = PipeOptions::default();
    options.opening_timeout = Some(Duration::from_secs(60));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let began = tokio::time::Instant::now();
    let mut silent = Peer::connect(Misbehaving, options.clone());
    silent.send(ping).await;
    silent.receive().await;
    let end = within(&mut silent.driver).await.expect("no panic");
    assert_eq!(end.expect("no error"), PipeEnd::OpeningTimedOut);
    assert_eq!(began.elapsed(), Duration::from_secs(60));

    for revision in crate::common::REVISIONS {
        let mut peer = Peer::connect_in(revision, Misbehaving, options.clone()).await;
        if revision == "2026-07-28" {
            peer.send(call(revision, 1, "echo")).await;
            peer.receive().await;
        }
        tokio::time::sleep(Duration::from_secs(86_400)).await;
        peer.send(call(revision, 2, "echo")).await;
        assert_eq!(
            peer.receive().await["id"],
            2,
            "it may be idle for as long as it likes"
        );
    }
}
