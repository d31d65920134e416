//! A client of two revisions that writes and reads lines.

use std::sync::Arc;
use std::time::Duration;

use pintle::model::Base64;
use pintle::runtime::{PipeOptions, serve_pipe};
use pintle::server::Server;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// The other end of a server's pipe.
pub(crate) struct Client {
    /// The description of the server, from the handshake or the discovery.
    pub(crate) welcome: Value,
    revision: &'static str,
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next_id: i64,
}

impl Client {
    pub(crate) async fn of(server: Server, revision: &'static str) -> Self {
        let app = Arc::new(server.build().expect("starts"));
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(serve_pipe(app, reader, writer, PipeOptions::default()));
        let (reader, writer) = tokio::io::split(near);
        let mut client = Self {
            welcome: Value::Null,
            revision,
            writer,
            lines: BufReader::new(reader).lines(),
            next_id: 0,
        };
        client.welcome = client.shake_hands().await;
        client
    }

    async fn shake_hands(&mut self) -> Value {
        if self.revision == MODERN {
            return self.result("server/discover", json!({})).await;
        }
        let client = json!({ "name": "t", "version": "1" });
        let params =
            json!({ "protocolVersion": self.revision, "capabilities": {}, "clientInfo": client });
        let welcome = self.result("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        welcome
    }

    /// The result of a request that succeeds.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        if self.revision == MODERN {
            assert_eq!(answer["result"]["resultType"], "complete", "{method}");
        }
        answer["result"].take()
    }

    /// The error of a request that fails.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// The bytes at a URI.
    pub(crate) async fn read(&mut self, uri: &str) -> Vec<u8> {
        let read = self.result("resources/read", json!({ "uri": uri })).await;
        let contents = &read["contents"][0];
        match contents["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => {
                let blob: Base64 =
                    serde_json::from_value(contents["blob"].clone()).expect("a blob");
                blob.decode().expect("base64")
            }
        }
    }

    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next_id += 1;
        if self.revision == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let id = json!(self.next_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        loop {
            let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await;
            let line = line
                .expect("in time")
                .expect("the server writes")
                .expect("a line");
            let answer: Value = serde_json::from_str(&line).expect("every line is JSON");
            if answer["id"] == id {
                return answer;
            }
        }
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer
            .write_all(line.as_bytes())
            .await
            .expect("the server reads");
    }
}
