//! A peer made of lines, and a service that misbehaves on request.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::cell::Cell;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

use pintle_model::{CallToolResult, Error, Implementation, ServerCapabilities};
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{Context, PipeEnd, PipeOptions, Service, serve_pipe};

thread_local! {
    static DROPPED: Cell<usize> = const { Cell::new(0) };
}

/// How many handlers were dropped before they were done, in this test: each has a thread.
pub(crate) fn dropped() -> usize {
    DROPPED.get()
}

/// Answers `tools/call` by the name of the tool: it panics, hangs, is slow, or echoes.
pub(crate) struct Misbehaving;

impl Service for Misbehaving {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let params: Value = cx.request().params.decode()?;
        let text = match params["name"].as_str() {
            Some("panic") => panic!("as asked"),
            Some("late-panic") => {
                tokio::task::yield_now().await;
                panic!("as asked, later")
            }
            Some("hang") => {
                let _guard = CountDrop;
                std::future::pending::<()>().await;
                unreachable!("a hanging handler is dropped")
            }
            Some("slow") => {
                tokio::time::sleep(Duration::from_secs(60)).await;
                "slow"
            }
            Some("progress") => {
                for step in 1..=params["arguments"]["steps"].as_u64().unwrap_or(3) {
                    cx.progress(step as f64, None, ()).await;
                }
                "done"
            }
            _ => "echo",
        };
        Reply::complete(CallToolResult::text(text), cx.terms().revision)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        Arc::new(ServerProfile::new(
            Implementation::new("misbehaving", "1.0.0"),
            capabilities,
        ))
    }
}

struct CountDrop;

impl Drop for CountDrop {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
    }
}

/// The other end of a pipe.
pub(crate) struct Peer {
    pub(crate) writer: WriteHalf<DuplexStream>,
    pub(crate) lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) driver: JoinHandle<std::io::Result<PipeEnd>>,
}

impl Peer {
    pub(crate) fn connect(service: impl Service, options: PipeOptions) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let driver =
            tokio::spawn(
                async move { serve_pipe(Arc::new(service), reader, writer, options).await },
            );
        let (reader, writer) = tokio::io::split(near);
        Self {
            writer,
            lines: BufReader::new(reader).lines(),
            driver,
        }
    }

    /// A peer that has shaken hands.
    pub(crate) async fn initialized(revision: &str) -> Self {
        Self::connect_in(revision, Misbehaving, PipeOptions::default()).await
    }

    /// A peer that is ready to speak `revision`.
    pub(crate) async fn connect_in(
        revision: &str,
        service: impl Service,
        options: PipeOptions,
    ) -> Self {
        let mut peer = Self::connect(service, options);
        if revision == "2026-07-28" {
            return peer;
        }
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        peer.send(
            json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params }),
        )
        .await;
        let welcome = peer.receive().await;
        assert_eq!(welcome["result"]["protocolVersion"], revision);
        peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        peer
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.writer
            .write_all(text.as_bytes())
            .await
            .expect("the server reads");
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = self
            .lines
            .next_line()
            .await
            .expect("the server writes")
            .expect("a line");
        serde_json::from_str(&line).expect("every line is JSON")
    }

    /// Closes our writing end and waits for the driver to come to its end.
    pub(crate) async fn finish(mut self) -> PipeEnd {
        self.writer.shutdown().await.expect("shuts down");
        within(self.driver)
            .await
            .expect("the driver does not panic")
            .expect("no I/O error")
    }
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(600), future)
        .await
        .expect("in time")
}

/// A call of a tool, in either era.
pub(crate) fn call(revision: &str, id: i64, tool: &str) -> Value {
    let mut params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": id } });
    if revision == "2026-07-28" {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(revision);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

pub(crate) const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// A peer ready to call in `revision`.
pub(crate) async fn ready(revision: &str) -> Peer {
    if revision == "2026-07-28" {
        return Peer::connect(Misbehaving, PipeOptions::default());
    }
    Peer::initialized(revision).await
}
