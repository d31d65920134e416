//! A client on a pipe that sorts what it receives: answers, questions, notices.

use std::net::SocketAddr;
use std::sync::Arc;

use pintle_runtime::{PipeOptions, serve_pipe};
use pintle_server::{App, Server};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf,
};
use tokio::net::TcpStream;

pub(crate) const CORE: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A client that can be asked, and knows the extension where that exists.
pub(crate) fn able() -> Value {
    json!({ "elicitation": { "form": {} }, "sampling": {}, "extensions": { EXTENSION: {} } })
}

/// The client's end of a connection.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type BoxStream = Box<dyn Stream>;

pub(crate) struct Peer {
    pub(crate) revision: &'static str,
    pub(crate) capabilities: Value,
    pub(crate) log_level: Option<&'static str>,
    /// What the server said at the handshake.
    pub(crate) welcome: Value,
    writer: WriteHalf<BoxStream>,
    lines: Lines<BufReader<ReadHalf<BoxStream>>>,
    last_id: i64,
    /// What came while something else was waited for.
    pub(crate) notices: Vec<Value>,
    pub(crate) questions: Vec<Value>,
    answers: Vec<Value>,
}

impl Peer {
    pub(crate) async fn connect(server: Server, revision: &'static str) -> Self {
        let app = server.build().expect("the server starts");
        Self::join(&app, revision, able()).await
    }

    pub(crate) async fn join(app: &App, revision: &'static str, capabilities: Value) -> Self {
        let (near, far) = tokio::io::duplex(1 << 18);
        let app = Arc::new(app.clone());
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(far);
            serve_pipe(app, reader, writer, PipeOptions::default()).await
        });
        Self::open(Box::new(near), revision, capabilities).await
    }

    /// A client on a TCP connection of its own.
    pub(crate) async fn dial(address: SocketAddr, revision: &'static str) -> Self {
        let stream = TcpStream::connect(address).await.expect("connects");
        Self::open(Box::new(stream), revision, able()).await
    }

    async fn open(stream: BoxStream, revision: &'static str, capabilities: Value) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let mut peer = Self {
            revision,
            capabilities,
            log_level: None,
            welcome: Value::Null,
            writer,
            lines: BufReader::new(reader).lines(),
            last_id: 0,
            notices: Vec::new(),
            questions: Vec::new(),
            answers: Vec::new(),
        };
        peer.shake_hands().await;
        peer
    }

    async fn shake_hands(&mut self) {
        if self.revision == MODERN {
            self.welcome = self.request("server/discover", json!({})).await["result"].take();
            return;
        }
        let params = json!({ "protocolVersion": self.revision, "capabilities": self.capabilities,
            "clientInfo": { "name": "t", "version": "1" } });
        self.welcome = self.request("initialize", params).await["result"].take();
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(&notice).await;
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let written = self.writer.write_all(line.as_bytes()).await;
        written.expect("the server reads");
    }

    /// Takes the next message to its place.
    async fn receive(&mut self) {
        let line = self.lines.next_line().await.expect("the server writes");
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(_)) => self.questions.push(message),
            (Some(_), None) => self.notices.push(message),
            (None, _) => self.answers.push(message),
        }
    }

    /// Sends a request and does not wait.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        if self.revision == MODERN {
            let mut meta = params["_meta"].take();
            if meta.is_null() {
                meta = json!({});
            }
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.revision);
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "t", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            if let Some(level) = self.log_level {
                meta["io.modelcontextprotocol/logLevel"] = json!(level);
            }
            params["_meta"] = meta;
        }
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).await;
        id
    }

    /// Waits for the answer to a request.
    pub(crate) async fn answer_to(&mut self, id: i64) -> Value {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                return self.answers.remove(at);
            }
            self.receive().await;
        }
    }

    /// Takes messages to their places until the peer has what it waits for.
    pub(crate) async fn receive_until(&mut self, has_come: impl Fn(&Self) -> bool) {
        while !has_come(self) {
            self.receive().await;
        }
    }

    /// Whether a request has been answered by now, once everything has settled.
    pub(crate) async fn is_answered(&mut self, id: i64) -> bool {
        self.settle().await;
        self.answers.iter().any(|answer| answer["id"] == id)
    }

    /// Takes in everything that is on its way.
    pub(crate) async fn settle(&mut self) {
        let pause = std::time::Duration::from_millis(1);
        while tokio::time::timeout(pause, self.receive()).await.is_ok() {}
    }

    /// Waits for the next question.
    pub(crate) async fn question(&mut self) -> Value {
        while self.questions.is_empty() {
            self.receive().await;
        }
        self.questions.remove(0)
    }

    /// Answers a question.
    pub(crate) async fn reply(&mut self, question: &Value, result: Value) {
        let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        self.send(&reply).await;
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer_to(id).await
    }

    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// Calls a tool so that it becomes a task; gives the task.
    pub(crate) async fn start(&mut self, name: &str, arguments: Value) -> Value {
        let mut params = call(name, arguments);
        if self.revision != MODERN {
            params["task"] = json!({});
        }
        let mut result = self.result("tools/call", params).await;
        if self.revision == MODERN {
            assert_eq!(result["resultType"], "task", "{result}");
            return result;
        }
        result["task"].take()
    }

    /// Looks at a task.
    pub(crate) async fn look(&mut self, task: &Value) -> Value {
        self.result("tasks/get", id_of(task)).await
    }

    /// Looks at a task every second until it has ended.
    pub(crate) async fn ended(&mut self, task: &Value) -> Value {
        loop {
            let seen = self.look(task).await;
            let status = seen["status"].as_str().expect("a status");
            if ["completed", "failed", "cancelled"].contains(&status) {
                return seen;
            }
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
    }

    /// Looks at a task until it asks; gives what it asks.
    pub(crate) async fn asked(&mut self, task: &Value) -> Value {
        loop {
            let mut seen = self.look(task).await;
            if seen["status"] == "input_required" {
                return seen["inputRequests"].take();
            }
            assert_eq!(seen["status"], "working", "{seen}");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// The notices of a method so far.
    pub(crate) fn notices(&self, method: &str) -> Vec<&Value> {
        let notices = self
            .notices
            .iter()
            .filter(|notice| notice["method"] == method);
        notices.map(|notice| &notice["params"]).collect()
    }
}

/// The parameters that call a tool.
pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

/// The parameters that name a task.
pub(crate) fn id_of(task: &Value) -> Value {
    assert!(task["taskId"].is_string(), "{task}");
    json!({ "taskId": task["taskId"] })
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {result}"))
}

/// An accepted form.
pub(crate) fn named(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}
