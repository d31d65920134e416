//! An endpoint on a port, and raw bytes to and from it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::common::{Ask, Counts, endpoint_with, initialize, notice};
use pintle_http::{HttpOptions, HttpServer};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than any answer takes here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
pub(crate) struct Port {
    pub(crate) address: SocketAddr,
    pub(crate) calls: Arc<Counts>,
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

/// A response as it was received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Came {
    /// 0 when the connection was closed without an answer.
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Port {
    pub(crate) async fn open() -> Self {
        Self::open_with(HttpOptions::default()).await
    }

    pub(crate) async fn open_with(options: HttpOptions) -> Self {
        let (endpoint, calls) = endpoint_with(options);
        let server = HttpServer::bind(endpoint.only().clone(), "127.0.0.1:0")
            .await
            .expect("a free port");
        let address = server.address().expect("an address");
        let (end, ended) = oneshot::channel();
        let running = tokio::spawn(server.run_until(async {
            let _ = ended.await;
        }));
        Self {
            address,
            calls,
            end: Some(end),
            running,
        }
    }

    /// Waits for the end that has begun.
    pub(crate) async fn ended(self) {
        timeout(PATIENCE, self.running)
            .await
            .expect("an end in time")
            .expect("no panic");
    }

    pub(crate) fn begin_end(&mut self) {
        let end = self.end.take().expect("ended once");
        end.send(()).expect("it runs");
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address)
            .await
            .expect("a connection")
    }

    /// Sends bytes, reads until the connection ends.
    pub(crate) async fn send(&self, bytes: impl Into<Vec<u8>>) -> Came {
        let (mut read, mut write) = self.connect().await.into_split();
        let bytes = bytes.into();
        let writing = tokio::spawn(async move {
            // A server that has made up its mind need not read on.
            let _ = write.write_all(&bytes).await;
            write
        });
        let mut came = Vec::new();
        // A reset after the answer is an end like another.
        let _ = timeout(PATIENCE, read.read_to_end(&mut came))
            .await
            .expect("an end");
        writing.abort();
        Came::of(&came)
    }

    /// Opens a session and confirms it.
    pub(crate) async fn session(&self) -> String {
        let opened = self.ask(initialize("2025-11-25")).await;
        let line = opened
            .head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let id = line.expect("a session").to_owned();
        let confirmed = self
            .ask(notice("notifications/initialized").in_session(&id))
            .await;
        assert_eq!(confirmed.status, 202);
        id
    }

    /// Asks, and closes the connection after the answer.
    pub(crate) async fn ask(&self, ask: Ask) -> Came {
        self.send(ask.with("connection", "close").bytes(self.address))
            .await
    }
}

impl Came {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        Self {
            status,
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Returns the body as JSON, or null without a body.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// Checks that a rejection states its reason, and reveals nothing about the server.
    pub(crate) fn assert_discreet(&self, said: &str) {
        let secrets = [
            "src/", ".rs:", "panicked", "/tmp", "/root", "RUST_", "thread '",
        ];
        let tells = |secret: &str| self.body.contains(secret) || self.head.contains(secret);
        assert!(!secrets.into_iter().any(tells), "{said}: {self:?}");
    }

    /// The code of the error in the body.
    pub(crate) fn code(&self) -> Option<i64> {
        self.json()["error"]["code"].as_i64()
    }
}

impl Ask {
    /// The request as it is written on a connection.
    pub(crate) fn bytes(self, address: SocketAddr) -> Vec<u8> {
        let mut text = format!("{} /mcp HTTP/1.1\r\n", self.verb);
        for (name, value) in &self.headers {
            let value = value.replace("PORT", &address.port().to_string());
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self
            .headers
            .iter()
            .any(|(name, _)| name == "content-length" || name == "transfer-encoding")
        {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}
