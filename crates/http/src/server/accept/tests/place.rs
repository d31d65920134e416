//! A server that listens in memory, and its peers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pintle_model::{CallToolResult, Error, Implementation, ServerCapabilities};
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::Context;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::server::site::Site;

/// Capacity of a pipe, in bytes.
const HELD: usize = 64 << 10;

/// Slow or talkative tools, and how their calls left.
#[derive(Clone, Default)]
struct Tools(Arc<Left>);

#[derive(Default)]
struct Left {
    finished: AtomicUsize,
    dropped: AtomicUsize,
}

/// Counts a call out.
struct Call(Arc<Left>, bool);

impl Drop for Call {
    fn drop(&mut self) {
        let count = if self.1 {
            &self.0.finished
        } else {
            &self.0.dropped
        };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

impl Service for Tools {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        if cx.request().method.as_str() != "tools/call" {
            return Reply::complete(CallToolResult::text(""), cx.terms().revision);
        }
        let mut call = Call(Arc::clone(&self.0), false);
        let params: Value = cx.request().params.decode()?;
        let much = params["arguments"]["much"].as_u64().unwrap_or_default();
        let text = match params["name"].as_str() {
            Some("large") => "x".repeat(much as usize),
            Some("ask") => match cx.list_roots().await {
                Ok(roots) => format!("{} roots", roots.len()),
                Err(error) => error.to_string(),
            },
            _ => {
                tokio::time::sleep(Duration::from_secs(much)).await;
                "slow is done".to_owned()
            }
        };
        call.1 = true;
        Reply::complete(CallToolResult::text(text), cx.terms().revision)
    }

    fn profile(&self) -> Arc<ServerProfile> {
        let capabilities = json!({ "tools": { "listChanged": true } });
        let capabilities: ServerCapabilities =
            serde_json::from_value(capabilities).expect("capabilities");
        let identity = Implementation::new("tools", "0");
        Arc::new(ServerProfile::new(identity, capabilities))
    }
}

/// A connection, and the address of its other end.
type Accepted = (DuplexStream, Option<IpAddr>);

/// Whatever is accepted next.
struct Offered(tokio::sync::Mutex<UnboundedReceiver<io::Result<Accepted>>>);

impl Source for Offered {
    type Stream = DuplexStream;

    async fn accept(&self) -> io::Result<Accepted> {
        match self.0.lock().await.recv().await {
            Some(offered) => offered,
            None => std::future::pending().await,
        }
    }

    fn attend(_: &DuplexStream, _: &HttpLimits) -> io::Result<()> {
        Ok(())
    }
}

/// A running server.
pub(super) struct Place {
    offers: UnboundedSender<io::Result<Accepted>>,
    left: Arc<Left>,
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Place {
    pub(super) fn open(options: HttpOptions) -> Self {
        let (offers, offered) = unbounded_channel();
        let (end, ended) = oneshot::channel();
        let tools = Tools::default();
        let left = Arc::clone(&tools.0);
        let service = HttpService::new(tools, options);
        let front = Front::Bare(Site::new(service.clone()));
        let (closing, closed) = ShutdownHandle::new();
        let offered = Offered(tokio::sync::Mutex::new(offered));
        let acceptor = Acceptor::new(offered, service, front, closed);
        let running = tokio::spawn(acceptor.run_until(closing, async {
            let _ = ended.await;
        }));
        Self {
            offers,
            left,
            end: Some(end),
            running,
        }
    }

    /// Makes the next attempt to accept a connection fail.
    pub(super) fn fail(&self) {
        self.offer(Err(io::ErrorKind::Other.into()));
    }

    pub(super) fn connect(&self) -> Remote {
        self.connect_from(None)
    }

    pub(super) fn connect_from(&self, address: Option<IpAddr>) -> Remote {
        let (near, far) = tokio::io::duplex(HELD);
        self.offer(Ok((far, address)));
        Remote(near)
    }

    fn offer(&self, offered: io::Result<Accepted>) {
        self.offers.send(offered).expect("it runs");
    }

    pub(super) fn begin_end(&mut self) {
        let end = self.end.take().expect("ended once");
        end.send(()).expect("it runs");
    }

    /// Waits for the end; how many calls have finished, and how many were dropped.
    pub(super) async fn ended(self) -> (usize, usize) {
        self.running.await.expect("no panic");
        let count = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (count(&self.left.finished), count(&self.left.dropped))
    }
}

/// The other end of a connection.
pub(super) struct Remote(DuplexStream);

impl Remote {
    pub(super) async fn send(&mut self, request: &str) {
        let sent = self.0.write_all(request.as_bytes()).await;
        sent.expect("the server reads");
    }

    /// Reads the response to its end and returns its status; 0 without a response.
    pub(super) async fn status(&mut self) -> u16 {
        self.answer().await.map_or(0, |(status, _)| status)
    }

    pub(super) async fn ask(&mut self, request: &str) -> u16 {
        self.send(request).await;
        self.status().await
    }

    /// Reads the response to its end and returns its head.
    pub(super) async fn head(&mut self) -> String {
        let (status, head) = self.answer().await.expect("an answer");
        assert_eq!(status, 200);
        head
    }

    /// Reads up to a message of an event stream; the message.
    pub(super) async fn message(&mut self) -> Value {
        let mut line = Vec::new();
        loop {
            line.push(self.0.read_u8().await.expect("a message"));
            if line.ends_with(b"\n") {
                let data = line.strip_prefix(b"data: ");
                if let Some(message) = data.and_then(|data| serde_json::from_slice(data).ok()) {
                    return message;
                }
                line.clear();
            }
        }
    }

    /// Opens a session; its id.
    pub(super) async fn session(&mut self) -> String {
        self.send(&initialize()).await;
        let (_, head) = self.answer().await.expect("an answer");
        let id = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        id.expect("a session").to_owned()
    }

    /// Status and head of an answer of a declared length.
    async fn answer(&mut self) -> Option<(u16, String)> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).expect("text");
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .expect("a length");
        let mut body = vec![0; length.parse().expect("a number")];
        self.0.read_exact(&mut body).await.ok()?;
        let status = head.split(' ').nth(1).expect("a status");
        Some((status.parse().expect("a number"), head))
    }

    /// Sends one byte after every `silence`, until all are sent or the server has ended. Returns the
    /// bytes that the server sent.
    pub(super) async fn trickle(&mut self, bytes: &[u8], silence: Duration) -> String {
        let (mut read, mut write) = tokio::io::split(&mut self.0);
        let trickling = async {
            for byte in bytes {
                if write.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(silence).await;
            }
            std::future::pending::<()>().await;
        };
        let mut said = String::new();
        tokio::select! {
            biased;
            read = read.read_to_string(&mut said) => {
                read.expect("text");
            }
            () = trickling => {}
        }
        said
    }

    /// Reads nothing, until the server has left.
    pub(super) async fn until_left(&mut self) {
        while self.0.write_u8(b'\n').await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Everything that still comes, until the server has ended.
    pub(super) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).await.expect("text");
        rest
    }
}

/// Fails, and notes when it was asked.
pub(super) struct Failing {
    kind: io::ErrorKind,
    asked: Mutex<Vec<Instant>>,
}

impl Failing {
    pub(super) fn new(kind: io::ErrorKind) -> Self {
        Self {
            kind,
            asked: Mutex::default(),
        }
    }

    /// When it was asked, the first `times`.
    pub(super) async fn until_asked(self, times: usize) -> Vec<Instant> {
        let (_closing, closed) = ShutdownHandle::new();
        let service = HttpService::new(Tools::default(), HttpOptions::default());
        let front = Front::Bare(Site::new(service.clone()));
        let mut acceptor = Acceptor::new(self, service, front, closed);
        for _ in 0..times {
            acceptor.step().await;
        }
        acceptor.listener.asked.into_inner().expect("no panic")
    }
}

impl Source for Failing {
    type Stream = DuplexStream;

    async fn accept(&self) -> io::Result<Accepted> {
        self.asked.lock().expect("no panic").push(Instant::now());
        Err(self.kind.into())
    }

    fn attend(_: &DuplexStream, _: &HttpLimits) -> io::Result<()> {
        Ok(())
    }
}

/// A request of 2026-07-28.
fn modern(method: &str, params: Value, name: &str) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let head = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}");
    post(&head, &body)
}

fn post(head: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{head}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub(super) fn list() -> String {
    modern("tools/list", json!({}), "")
}

pub(super) fn call(tool: &str, much: usize) -> String {
    let params = json!({ "name": tool, "arguments": { "much": much } });
    modern("tools/call", params, &format!("mcp-name: {tool}\r\n"))
}

pub(super) fn listen() -> String {
    let params = json!({ "notifications": { "toolsListChanged": true } });
    modern("subscriptions/listen", params, "")
}

pub(super) fn initialize() -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "roots": {} }, "clientInfo": { "name": "t", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    post("", &body)
}

/// A message of a client in its session.
pub(super) fn in_session(session: &str, message: &Value) -> String {
    post(&format!("mcp-session-id: {session}\r\n"), message)
}

/// A request for the stream of a session.
pub(super) fn get(session: &str) -> String {
    format!(
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n"
    )
}

/// A check of health, as a supervisor sends it.
pub(super) fn check(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: 10.0.0.1:8000\r\n\r\n")
}
