//! A client on a pipe that answers questions as its revision has them.

use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use pintle_runtime::{PipeOptions, serve_pipe};
use pintle_server::Server;

pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const MODERN: &str = "2026-07-28";

/// Everything a client can be asked.
pub(crate) fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} })
}

pub(crate) struct Peer {
    revision: &'static str,
    capabilities: Value,
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    last_id: i64,
    /// What was asked, in order: method and params.
    pub(crate) asked: Vec<(String, Value)>,
    /// How many rounds there were in which something was asked.
    pub(crate) rounds: usize,
}

impl Peer {
    pub(crate) async fn connect(
        server: Server,
        revision: &'static str,
        capabilities: Value,
    ) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let app = Arc::new(server.build().expect("the server starts"));
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(far);
            serve_pipe(app, reader, writer, PipeOptions::default()).await
        });
        let (reader, writer) = tokio::io::split(near);
        let mut peer = Self {
            revision,
            capabilities,
            writer,
            lines: BufReader::new(reader).lines(),
            last_id: 0,
            asked: Vec::new(),
            rounds: 0,
        };
        peer.shake_hands().await;
        peer
    }

    async fn shake_hands(&mut self) {
        if self.revision == MODERN {
            return;
        }
        let params = json!({ "protocolVersion": self.revision, "capabilities": self.capabilities,
            "clientInfo": { "name": "t", "version": "1" } });
        let welcome = self.request("initialize", params).await;
        assert_eq!(welcome["result"]["protocolVersion"], self.revision);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let written = self.writer.write_all(line.as_bytes()).await;
        written.expect("the server reads");
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("the server writes");
        serde_json::from_str(&line.expect("a line")).expect("every line is JSON")
    }

    /// Sends nothing more; messages of the server are still received.
    pub(crate) async fn hang_up(&mut self) {
        self.writer.shutdown().await.expect("shuts down");
    }

    /// Answers a request of the server.
    pub(crate) async fn answer_to(&mut self, asked: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
            .await;
    }

    /// Sends a request and does not wait.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        if self.revision == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Sends a request; the next message is its answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Makes a request and answers what it asks, until it is answered itself.
    pub(crate) async fn complete(
        &mut self,
        method: &str,
        params: Value,
        mut answer: impl FnMut(&str, &Value) -> Value,
    ) -> Value {
        if self.revision != MODERN {
            return self.complete_live(method, params, answer).await;
        }
        let mut retry = params.clone();
        loop {
            let answered = self.request(method, retry).await;
            let result = &answered["result"];
            if result["resultType"] != "input_required" {
                return answered;
            }
            self.rounds += 1;
            retry = params.clone();
            retry["requestState"] = result["requestState"].clone();
            let mut responses = json!({});
            for (name, request) in result["inputRequests"].as_object().into_iter().flatten() {
                responses[name] = self.answer(request, &mut answer);
            }
            retry["inputResponses"] = responses;
        }
    }

    async fn complete_live(
        &mut self,
        method: &str,
        params: Value,
        mut answer: impl FnMut(&str, &Value) -> Value,
    ) -> Value {
        let id = self.begin(method, params).await;
        loop {
            let message = self.receive().await;
            if message["method"].is_null() && message["id"] == id {
                return message;
            }
            self.rounds += 1;
            let result = self.answer(&message, &mut answer);
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
                .await;
        }
    }

    fn answer(&mut self, request: &Value, answer: &mut impl FnMut(&str, &Value) -> Value) -> Value {
        let method = request["method"].as_str().expect("a method").to_owned();
        self.asked.push((method.clone(), request["params"].clone()));
        answer(&method, &request["params"])
    }
}

/// The parameters of a call without arguments.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "arguments": {} })
}

/// The text of a result.
pub(crate) fn text(answer: &Value) -> &str {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer}"))
}

/// An accepted form.
pub(crate) fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}
