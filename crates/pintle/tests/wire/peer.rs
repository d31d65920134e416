//! The peers that send the bytes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use crate::wire::server::Running;

/// A timeout that no answer here needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The era of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25, after a handshake.
    Legacy,
    /// 2026-07-28, request by request.
    Modern,
}

impl Era {
    /// Replaces `META` in a text by the metadata of this era.
    pub(crate) fn fill(self, text: &[u8]) -> Vec<u8> {
        let meta: &[u8] = match self {
            Self::Legacy => br#""_meta":{}"#,
            Self::Modern => {
                br#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
            }
        };
        let mut filled = Vec::with_capacity(text.len() + meta.len());
        let mut rest = text;
        while let Some(at) = rest.windows(4).position(|four| four == b"META") {
            filled.extend_from_slice(&rest[..at]);
            filled.extend_from_slice(meta);
            rest = &rest[at + 4..];
        }
        filled.extend_from_slice(rest);
        filled
    }
}

/// The response to some bytes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Came {
    /// The status of HTTP; 0 on a pipe, and for a connection that was closed without an answer.
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The message; null without an answer.
    pub(crate) message: Value,
}

impl Came {
    pub(crate) fn code(&self) -> Option<i64> {
        self.message["error"]["code"].as_i64()
    }
}

/// A peer over a socket of lines.
pub(crate) struct Lines {
    pub(crate) server: Running,
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
    asked: u64,
}

impl Lines {
    pub(crate) async fn connect(era: Era) -> Self {
        let server = Running::on_lines().await;
        let stream = TcpStream::connect(server.address).await.expect("a server");
        let (read, write) = stream.into_split();
        let mut lines = Self {
            server,
            read: BufReader::new(read),
            write,
            asked: 0,
        };
        if era == Era::Legacy {
            let welcome = lines.send(initialize().to_string().as_bytes()).await;
            assert!(welcome.message["result"].is_object(), "{welcome:?}");
            lines.send(initialized().to_string().as_bytes()).await;
        }
        lines
    }

    /// Returns the answer to a line, if one arrives before the answer to a following request.
    pub(crate) async fn send(&mut self, line: &[u8]) -> Came {
        let mut said = self.exchange(line).await;
        assert!(said.len() < 2, "{said:?}");
        Came {
            message: said.pop().unwrap_or_default(),
            ..Came::default()
        }
    }

    /// Returns all messages between a line and the answer to a following request.
    pub(crate) async fn exchange(&mut self, line: &[u8]) -> Vec<Value> {
        self.asked += 1;
        let next = format!("next {}", self.asked);
        let text = format!(
            "\n{{\"jsonrpc\":\"2.0\",\"id\":{next:?},\"method\":\"tools/list\",\"params\":{{META}}}}\n"
        );
        let after = Era::Modern.fill(text.as_bytes());
        self.write.write_all(line).await.expect("it reads");
        self.write.write_all(&after).await.expect("it reads");
        let mut said = Vec::new();
        loop {
            let message = self.receive().await;
            if message["id"] == json!(next) {
                assert!(message["result"].is_object(), "{message}");
                return said;
            }
            said.push(message);
        }
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.read.read_line(&mut line)).await;
        assert_ne!(read.expect("in time").expect("text"), 0, "it ended");
        serde_json::from_str(&line).expect("one message on a line")
    }
}

/// A peer over HTTP.
pub(crate) struct Posts {
    pub(crate) server: Running,
    pub(crate) era: Era,
    session: Option<String>,
}

impl Posts {
    pub(crate) async fn connect(era: Era) -> Self {
        let server = Running::on_http().await;
        let mut posts = Self {
            server,
            era,
            session: None,
        };
        if era == Era::Legacy {
            let welcome = posts.post("", initialize().to_string().as_bytes()).await;
            let id = welcome
                .head
                .lines()
                .find_map(|line| line.strip_prefix("mcp-session-id: "));
            posts.session = Some(id.expect("a session").to_owned());
            let headers = posts.headers("", None);
            let confirmed = posts
                .post(&headers, initialized().to_string().as_bytes())
                .await;
            assert_eq!(confirmed.status, 202);
        }
        posts
    }

    /// The headers of this era, for a message with a method and perhaps a name.
    pub(crate) fn headers(&self, method: &str, name: Option<&str>) -> String {
        match (&self.session, name) {
            (Some(id), _) => {
                format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n")
            }
            (None, None) => format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n"),
            (None, Some(name)) => {
                format!(
                    "mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: {name}\r\n"
                )
            }
        }
    }

    pub(crate) async fn post(&self, headers: &str, body: &[u8]) -> Came {
        self.send(&self.request(headers, body)).await
    }

    /// The whole response, as text.
    pub(crate) async fn post_for_text(&self, headers: &str, body: &[u8]) -> String {
        let came = self.exchange(&self.request(headers, body)).await;
        String::from_utf8(came).expect("text")
    }

    fn request(&self, headers: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n",
            self.server.address,
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// Sends bytes on a new connection, and reads until it is closed.
    pub(crate) async fn send(&self, bytes: &[u8]) -> Came {
        Came::of(&self.exchange(bytes).await)
    }

    async fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let stream = TcpStream::connect(self.server.address).await;
        let (mut read, mut write) = stream.expect("a server").into_split();
        let bytes = bytes.to_vec();
        let writing = tokio::spawn(async move {
            // A server that has answered may close before it has read everything.
            let _ = write.write_all(&bytes).await;
            write
        });
        let mut came = Vec::new();
        // A connection reset after the answer is an ordinary end.
        let end = timeout(PATIENCE, read.read_to_end(&mut came)).await;
        let _ = end.expect("an end");
        writing.abort();
        came
    }

    /// Sends a request of this era, and checks that it is served.
    pub(crate) async fn assert_served(&self, after: &str) {
        let text = br#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{META}}"#;
        let headers = self.headers("tools/list", None);
        let came = self.post(&headers, &self.era.fill(text)).await;
        assert_eq!(
            (came.status, &came.message["id"]),
            (200, &json!(8)),
            "after {after}"
        );
    }
}

impl Came {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            message: serde_json::from_str(body).unwrap_or(Value::Null),
        }
    }
}

fn initialize() -> Value {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}
