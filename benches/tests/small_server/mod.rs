//! A server of a hundred tools, and peers that allocate nothing while they call it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use pintle::http::{HttpOptions, HttpService};
use pintle::prelude::*;
use pintle::runtime::{IntoService, PipeEnd, PipeOptions, serve_pipe};
use pintle::server::App;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;
use tower_service::Service;

/// Gives back what it is given.
#[tool(read_only)]
async fn echo(
    /// What to give back.
    text: String,
) -> String {
    text
}

fn server() -> App {
    let mut server = Server::new("small", "1.0.0").tool::<echo>();
    for at in 1..100 {
        let tool = Tool::new(format!("tool_{at:03}"))
            .description("One of many.")
            .handler(async || "text");
        server = server.add_tool(tool);
    }
    server.into_service().expect("a good server")
}

/// A small call, as a client of 2026-07-28 makes it.
pub(crate) fn call() -> String {
    request(
        "tools/call",
        json!({ "name": "echo", "arguments": { "text": "hello" } }),
    )
}

/// A list of tools.
pub(crate) fn list() -> String {
    request("tools/list", json!({}))
}

fn request(method: &str, mut params: serde_json::Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    format!(
        "{}\n",
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
    )
}

/// A client on an in-memory pipe.
pub(crate) struct PipePeer {
    stream: DuplexStream,
    buffer: Vec<u8>,
    driver: JoinHandle<io::Result<PipeEnd>>,
}

impl PipePeer {
    pub(crate) fn connect() -> Self {
        let (stream, far) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(far);
        let service = Arc::new(server());
        let driver = tokio::spawn(serve_pipe(service, reader, writer, PipeOptions::default()));
        Self {
            stream,
            driver,
            buffer: vec![0; 1 << 20],
        }
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn round_trip(&mut self, request: &str) {
        self.stream
            .write_all(request.as_bytes())
            .await
            .expect("the server reads");
        let mut read = 0;
        while !self.buffer[..read].ends_with(b"\n") {
            let more = self
                .stream
                .read(&mut self.buffer[read..])
                .await
                .expect("the server writes");
            if more == 0 {
                panic!("the server is gone: {:?}", (&mut self.driver).await);
            }
            read += more;
        }
        assert!(
            self.buffer
                .starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":")
        );
    }
}

/// A client that calls the HTTP service without a socket.
pub(crate) struct HttpPeer {
    service: HttpService<App>,
}

impl HttpPeer {
    pub(crate) fn new() -> Self {
        Self {
            service: HttpService::new(server(), HttpOptions::default()),
        }
    }

    /// Requests as hyper would hand them over.
    pub(crate) fn prepare(
        &self,
        method: &str,
        name: Option<&str>,
        body: &str,
        count: usize,
    ) -> Vec<Request<Full<Bytes>>> {
        let body = Bytes::from(body.to_owned());
        let make = |_| {
            let mut request = Request::post("/mcp")
                .header("host", "127.0.0.1:8000")
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", method);
            if let Some(name) = name {
                request = request.header("mcp-name", name);
            }
            request.body(Full::new(body.clone())).expect("a request")
        };
        (0..count).map(make).collect()
    }

    /// Sends a request and reads its answer to the end.
    pub(crate) async fn exchange(&mut self, request: Request<Full<Bytes>>) {
        let ready: Result<(), Infallible> =
            poll_fn(|cx| Service::<Request<Full<Bytes>>>::poll_ready(&mut self.service, cx)).await;
        ready.expect("always ready");
        let response: Response<_> = self.service.call(request).await.expect("never fails");
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.expect("never fails").data_ref().map_or(0, Bytes::len);
        }
        assert!(length > 40);
    }
}
