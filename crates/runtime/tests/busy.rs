//! Pipes that always have work, or whose peer does not read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::task::yield_now;

use crate::common::{Misbehaving, call, within};
use pintle_model::{CallToolResult, Error, Implementation, LoggingLevel, ServerCapabilities};
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{Context, PipeEnd, PipeOptions, Service, ShutdownHandle, serve_pipe};

const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

/// A reader that always has another ping.
struct Pings;

impl AsyncRead for Pings {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(PING);
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_is_always_busy_ends_at_shutdown() {
    let (handle, shutdown) = ShutdownHandle::new();
    let mut options = PipeOptions::default();
    options.shutdown = shutdown;
    let driver = tokio::spawn(serve_pipe(
        Arc::new(Misbehaving),
        Pings,
        tokio::io::sink(),
        options,
    ));
    yield_now().await;
    handle.begin();
    let end = within(driver).await.expect("the driver does not panic");
    assert_eq!(end.expect("no I/O error"), PipeEnd::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn a_pipe_that_is_always_busy_keeps_its_deadlines() {
    let mut options = PipeOptions::default();
    options.opening_timeout = Some(Duration::from_secs(60));
    let driver = tokio::spawn(serve_pipe(
        Arc::new(Misbehaving),
        Pings,
        tokio::io::sink(),
        options,
    ));
    yield_now().await;
    tokio::time::advance(Duration::from_secs(61)).await;
    let end = driver.await.expect("the driver does not panic");
    assert_eq!(end.expect("no I/O error"), PipeEnd::OpeningTimedOut);
}

/// A writer that never takes bytes.
struct Stuck;

impl AsyncWrite for Stuck {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
        _: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

/// How many messages the handler of [`Chatty`] logs.
const LOGGED: usize = 100;

/// A handler that logs, and counts the messages that then wait in the engine.
#[derive(Default)]
struct Chatty {
    queued: Arc<AtomicUsize>,
}

impl Service for Chatty {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        for _ in 0..LOGGED {
            cx.log(LoggingLevel::Error, None, "again");
            yield_now().await;
        }
        let queued = cx.engine_handle().with(|engine| engine.queued());
        self.queued.store(queued, Ordering::SeqCst);
        Reply::complete(CallToolResult::text("done"), cx.terms().revision)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        capabilities.logging = Some(Default::default());
        let identity = Implementation::new("chatty", "1.0.0");
        Arc::new(ServerProfile::new(identity, capabilities))
    }
}

// hardening: H-201
#[tokio::test(start_paused = true)]
async fn notices_stay_in_the_engine_while_the_peer_does_not_read() {
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let service = Chatty::default();
    let queued = Arc::clone(&service.queued);
    let driver = tokio::spawn(serve_pipe(
        Arc::new(service),
        far,
        Stuck,
        PipeOptions::default(),
    ));
    let mut request = call("2026-07-28", 1, "any");
    request["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let sent = near.write_all(format!("{request}\n").as_bytes()).await;
    sent.expect("the server reads");
    let end = within(driver).await.expect("the driver does not panic");
    assert_eq!(end.expect("no I/O error"), PipeEnd::WriteTimedOut);
    let queued = queued.load(Ordering::SeqCst);
    assert!(queued >= LOGGED - 2, "{queued} of {LOGGED}");
}
