//! A server of a hundred tools, and peers that allocate nothing while they call it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use pintle::http::{HttpOptions, HttpService};
use pintle::model::{CallToolResult, Feature, ImageContent, Revision};
use pintle::prelude::*;
use pintle::runtime::{IntoService, PipeEnd, PipeOptions, Service, serve_pipe};
use pintle::server::App;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;
use tower_service::Service as HttpRequests;

use crate::payload;

/// More than any answer has, in bytes.
const ROOM: usize = 4 << 20;

/// Progress notices of one call.
const NOTICES: usize = 100;

/// Returns the argument itself.
#[tool(read_only)]
async fn echo(
    /// The returned text.
    text: String,
) -> String {
    text
}

/// Returns 64 KiB of text.
#[tool(read_only)]
async fn text_64k() -> &'static str {
    payload::text_64k()
}

/// Returns 1 MiB of text.
#[tool(read_only)]
async fn text_1m() -> &'static str {
    payload::text_1m()
}

/// Returns an image of 1 MiB.
#[tool(read_only)]
async fn image_1m() -> CallToolResult {
    let image = ImageContent::new(payload::image_1m().clone(), "image/png");
    CallToolResult::new(vec![ContentBlock::Image(image)])
}

/// Sends a hundred progress notices.
#[tool(read_only)]
async fn progress(cx: Context) -> &'static str {
    for step in 1..=NOTICES {
        let note = "a step";
        cx.progress(step as f64, Some(NOTICES as f64), note).await;
    }
    "done"
}

fn server() -> App {
    let mut server =
        Server::new("small", "1.0.0").tools::<(echo, text_64k, text_1m, image_1m, progress)>();
    for at in 5..100 {
        let tool = Tool::new(format!("tool_{at:03}"))
            .description("One of many.")
            .handler(async || "text");
        server = server.add_tool(tool);
    }
    server.into_service().expect("a good server")
}

/// A request to the server, and the minimum number of bytes of its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    tool: Option<&'static str>,
    pub(super) least: usize,
    wants_progress: bool,
}

impl Ask {
    /// A small call.
    pub(super) const CALL: Self = Self::call("echo", 60);
    /// Lists all tools.
    pub(super) const LIST: Self = Self {
        tool: None,
        least: 4 << 10,
        wants_progress: false,
    };
    pub(super) const TEXT_64K: Self = Self::call("text_64k", 64 << 10);
    pub(super) const TEXT_1M: Self = Self::call("text_1m", 1 << 20);
    pub(super) const IMAGE_1M: Self = Self::call("image_1m", 4 << 18);

    pub(super) const PROGRESS: Self = Self {
        wants_progress: true,
        ..Self::call("progress", 130 * NOTICES)
    };

    const fn call(tool: &'static str, least: usize) -> Self {
        Self {
            tool: Some(tool),
            least,
            wants_progress: false,
        }
    }

    fn method(self) -> &'static str {
        match self.tool {
            Some(_) => "tools/call",
            None => "tools/list",
        }
    }

    /// The request, as a client of `revision` makes it.
    pub(super) fn message(self, revision: Revision) -> String {
        let mut params = match self.tool {
            Some("echo") => json!({ "name": "echo", "arguments": { "text": "hello" } }),
            Some(tool) => json!({ "name": tool, "arguments": {} }),
            None => json!({}),
        };
        if revision.has(Feature::Envelope) {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        if self.wants_progress {
            params["_meta"]["progressToken"] = json!("token-1");
        }
        request(self.method(), &params)
    }
}

fn request(method: &str, params: &serde_json::Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

fn initialize() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1.0.0" },
    });
    request("initialize", &params)
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A client on an in-memory pipe.
pub(super) struct PipePeer {
    stream: DuplexStream,
    buffer: Vec<u8>,
    driver: JoinHandle<io::Result<PipeEnd>>,
}

impl PipePeer {
    /// Connects, and opens the conversation where the revision has a handshake.
    pub(super) async fn connect(revision: Revision) -> Self {
        Self::of(server(), revision).await
    }

    /// Connects to a given server.
    pub(super) async fn of(server: impl Service, revision: Revision) -> Self {
        let (stream, far) = tokio::io::duplex(ROOM);
        let (reader, writer) = tokio::io::split(far);
        let service = Arc::new(server);
        let driver = tokio::spawn(serve_pipe(service, reader, writer, PipeOptions::default()));
        let mut peer = Self {
            stream,
            driver,
            buffer: vec![0; ROOM],
        };
        if revision.has(Feature::Handshake) {
            peer.round_trip(&(initialize() + "\n"), 0).await;
            peer.send(INITIALIZED).await;
            peer.send("\n").await;
        }
        peer
    }

    /// Sends a request and reads its notices and its answer.
    pub(super) async fn round_trip(&mut self, request: &str, least: usize) {
        self.send(request).await;
        let mut read = 0;
        while read <= least || !ends_with_answer(&self.buffer[..read]) {
            let more = self.stream.read(&mut self.buffer[read..]).await;
            match more.expect("the server writes") {
                0 => panic!("the server is gone: {:?}", (&mut self.driver).await),
                more => read += more,
            }
        }
    }

    /// Closes the pipe, and waits until the server has ended.
    pub(super) async fn close(self) {
        drop(self.stream);
        let ended = self.driver.await.expect("no panic");
        ended.expect("a regular end");
    }

    async fn send(&mut self, text: &str) {
        let sent = self.stream.write_all(text.as_bytes()).await;
        sent.expect("the server reads");
    }
}

/// Returns true if the last line is a whole answer.
fn ends_with_answer(read: &[u8]) -> bool {
    const ANSWER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    let Some(lines) = read.strip_suffix(b"\n") else {
        return false;
    };
    let last = || lines.rsplit(|byte| *byte == b'\n').next();
    lines.starts_with(ANSWER) || last().is_some_and(|line| line.starts_with(ANSWER))
}

/// A client that calls the HTTP service without a socket.
pub(super) struct HttpPeer {
    service: HttpService<App>,
    session: Option<HeaderValue>,
}

impl HttpPeer {
    /// Connects, and opens a session where the revision has sessions.
    pub(super) async fn connect(revision: Revision) -> Self {
        let service = HttpService::new(server(), HttpOptions::default());
        let mut peer = Self {
            service,
            session: None,
        };
        if revision.has(Feature::HttpSessions) {
            let opened = peer.send(post(None, initialize().into())).await;
            peer.session = opened.headers().get("mcp-session-id").cloned();
            peer.send(post(peer.session.as_ref(), INITIALIZED.into()))
                .await;
        }
        peer
    }

    /// Requests as hyper would hand them over.
    pub(super) fn prepare(
        &self,
        ask: Ask,
        revision: Revision,
        count: usize,
    ) -> Vec<Request<Full<Bytes>>> {
        let body = Bytes::from(ask.message(revision));
        let make = |_| {
            let mut request = post(self.session.as_ref(), body.clone());
            let headers = request.headers_mut();
            let mut put = |name, value| headers.insert(name, HeaderValue::from_static(value));
            put("mcp-protocol-version", revision.as_str());
            if revision.has(Feature::RoutingHeaders) {
                put("mcp-method", ask.method());
                ask.tool.map(|tool| put("mcp-name", tool));
            }
            request
        };
        (0..count).map(make).collect()
    }

    /// Sends a request and reads its answer to the end.
    pub(super) async fn exchange(&mut self, request: Request<Full<Bytes>>, least: usize) {
        let response = self.send(request).await;
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.expect("never fails").data_ref().map_or(0, Bytes::len);
        }
        assert!(length > least);
    }

    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Response<pintle::http::ResponseBody> {
        let ready: Result<(), Infallible> =
            poll_fn(|cx| HttpRequests::<Request<Full<Bytes>>>::poll_ready(&mut self.service, cx))
                .await;
        ready.expect("always ready");
        self.service.call(request).await.expect("never fails")
    }
}

fn post(session: Option<&HeaderValue>, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(Full::new(body)).expect("a request")
}
