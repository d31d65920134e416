//! A client of any revision that writes and reads lines.

use std::sync::Arc;
use std::time::Duration;

use pintle::prelude::*;
use pintle::runtime::{PipeOptions, serve_pipe};
use pintle::server::App;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// Every revision, oldest first.
pub(crate) const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    MODERN,
];
/// The revision without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";
/// The last revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";

/// The other end of a server's pipe.
pub(crate) struct Peer {
    pub(crate) revision: &'static str,
    /// The identity of the server: the result of `initialize` or `server/discover`.
    pub(crate) welcome: Value,
    /// The messages that arrived during the wait for others.
    pub(crate) received: Vec<Value>,
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next_id: i64,
    /// The capabilities of the client.
    capabilities: Value,
}

impl Peer {
    /// A client of a server, ready to call.
    pub(crate) async fn of(server: Server, revision: &'static str) -> Self {
        Self::able(server, revision, json!({})).await
    }

    /// A client with these capabilities, ready to call.
    pub(crate) async fn able(server: Server, revision: &'static str, capabilities: Value) -> Self {
        Self::on(server.build().expect("starts"), revision, capabilities).await
    }

    /// A client of a server that other clients may share.
    pub(crate) async fn on(app: App, revision: &'static str, capabilities: Value) -> Self {
        let app = Arc::new(app);
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(serve_pipe(app, reader, writer, PipeOptions::default()));
        let (reader, writer) = tokio::io::split(near);
        let lines = BufReader::new(reader).lines();
        let mut peer = Self {
            revision,
            welcome: Value::Null,
            received: Vec::new(),
            writer,
            lines,
            next_id: 0,
            capabilities,
        };
        peer.welcome = peer.greet().await;
        peer
    }

    async fn greet(&mut self) -> Value {
        if self.is_modern() {
            return self.result("server/discover", json!({})).await;
        }
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": client });
        let welcome = self.result("initialize", params).await;
        assert_eq!(welcome["protocolVersion"], self.revision);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        // After this answer the server knows that the client is ready.
        self.result("ping", json!({})).await;
        welcome
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Whether the revision is this one or a later one.
    pub(crate) fn is_since(&self, revision: &str) -> bool {
        self.revision >= revision
    }

    /// Sends a request, and returns its id.
    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.next_id += 1;
        if self.is_modern() {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                self.capabilities.clone();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "t", "version": "1" });
        }
        let id = json!(self.next_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.first(|message| message["id"] == id).await
    }

    /// The result of a request that succeeds. It is complete, in revisions with `resultType`.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(
            answer.get("error").is_none(),
            "{}: {method}: {answer}",
            self.revision
        );
        let expected = if self.is_modern() {
            json!("complete")
        } else {
            Value::Null
        };
        assert_eq!(
            answer["result"]["resultType"], expected,
            "{}: {answer}",
            self.revision
        );
        answer["result"].take()
    }

    /// The error of a request that fails.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(
            answer.get("result").is_none(),
            "{}: {method}: {answer}",
            self.revision
        );
        answer["error"].take()
    }

    /// The result of a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
        .await
    }

    /// The next notification of a method, received already or later.
    pub(crate) async fn receive_method(&mut self, method: &str) -> Value {
        self.first(|message| message["method"] == method).await
    }

    /// The first message that matches; other messages before it are stored.
    pub(crate) async fn first(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(place) = self.received.iter().position(&is_wanted) {
                return self.received.remove(place);
            }
            let message = self.receive().await;
            self.received.push(message);
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
            .expect("the server reads");
    }

    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await;
        let line = line
            .expect("in time")
            .expect("the server writes")
            .expect("a line");
        serde_json::from_str(&line).expect("every line is JSON")
    }
}
