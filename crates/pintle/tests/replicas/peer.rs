//! A client of 2026-07-28 with tasks, on a connection to one replica.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

/// Pause between two polls.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Peer {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    last_id: u64,
}

impl Peer {
    pub(super) async fn dial(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("connects");
        let (reader, writer) = stream.into_split();
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            last_id: 0,
        }
    }

    /// Calls a tool that becomes a task, and returns the task.
    pub(super) async fn begin(&mut self, tool: &str) -> Value {
        let task = self
            .result("tools/call", json!({ "name": tool, "arguments": {} }))
            .await;
        assert_eq!(task["resultType"], "task", "{task}");
        task
    }

    /// Polls a task until it asks, and returns its questions.
    pub(super) async fn asked(&mut self, task: &Value) -> Value {
        loop {
            let mut seen = self.poll(task).await;
            if seen["status"] == "input_required" {
                return seen["inputRequests"].take();
            }
            assert_eq!(seen["status"], "working", "{seen}");
            sleep(PAUSE).await;
        }
    }

    /// Polls a task until it has ended.
    pub(super) async fn ended(&mut self, task: &Value) -> Value {
        loop {
            let seen = self.poll(task).await;
            if !["working", "input_required"].contains(&seen["status"].as_str().expect("a status"))
            {
                return seen;
            }
            sleep(PAUSE).await;
        }
    }

    /// Answers the first of the questions with a name.
    pub(super) async fn answer(&mut self, task: &Value, asked: &Value, name: &str) {
        let key = asked.as_object().and_then(|asked| asked.keys().next());
        let answer = json!({ "action": "accept", "content": { "name": name } });
        let answers = json!({ key.expect("a question"): answer });
        let update = json!({ "taskId": task["taskId"], "inputResponses": answers });
        self.result("tasks/update", update).await;
    }

    async fn poll(&mut self, task: &Value) -> Value {
        self.result("tasks/get", json!({ "taskId": task["taskId"] }))
            .await
    }

    async fn result(&mut self, method: &str, mut params: Value) -> Value {
        let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities":
                { "elicitation": { "form": {} }, "extensions": extensions },
        });
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let line = format!("{request}\n");
        let written = self.writer.write_all(line.as_bytes()).await;
        written.expect("the replica reads");
        loop {
            let line = self.lines.next_line().await.expect("the replica writes");
            let mut answer: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }
}
