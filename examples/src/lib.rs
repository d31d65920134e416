//! Examples: one idea each, in `src/bin`. Every example has its own tests: `cargo test -p
//! pintle-examples`.
//!
//! | example | shows |
//! |---|---|
//! | `calculator` | the smallest server |
//! | `without_macros` | the same without attributes |
//! | `axum_mount` | an endpoint among the routes of an axum application |
//! | `browser_clients` | an endpoint for web pages of another origin (CORS) |
//! | `browser_with_tokens` | the same with a guard of tokens: the order of the layers |
//! | `unix_socket` | a server on a Unix socket |
//! | `require_bearer` | a server that accepts only requests with a valid token |
//! | `middleware` | layers around calls and around requests |
//! | `client` | a client that answers questions, follows progress and gives up |
//! | `child_process` | a client that starts its server, and ends it |
//! | `agent_loop` | the loop of an agent over the tools of a server, with a scripted model |
//! | `dynamic_tools` | tools that come and go |
//! | `tools_from_a_file` | tools that a file describes, with their JSON Schemas |
//! | `tools_from_openapi` | tools that call the operations of an OpenAPI document |
//! | `state_per_user` | a state for each user of a token |
//! | `database` | tools over a SQLite database |
//! | `file_server` | the files of a folder as resources, with subscriptions |
//! | `durable_task` | a long job that outlives its process |
//! | `extension` | an extension of the protocol, from a crate of its own |
//! | `testing_in_memory` | a test of a whole server, without a process or a port |
//! | `stray_print` | a handler that prints, and does no harm |
//!
//! `identity-provider` beside `src` shows a sign-in with a real identity provider.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io};

use axum::body::{Body, to_bytes};
use axum::http::{Request, request};
use pintle::prelude::*;
use pintle::runtime::{PipeOptions, serve_pipe};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::io::{DuplexStream, Lines, ReadHalf, WriteHalf};

/// A minimal client: it sends requests and reads answers.
#[derive(Debug)]
pub struct Client<R, W> {
    lines: Lines<BufReader<R>>,
    writer: W,
}

/// A client of a server in the same process.
///
/// # Errors
///
/// An invalid description of the server.
pub fn client_of(
    server: Server,
) -> pintle::Result<Client<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>> {
    let app = Arc::new(server.build()?);
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve_pipe(app, reader, writer, PipeOptions::default()));
    let (reader, writer) = tokio::io::split(near);
    Ok(Client::new(reader, writer))
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<R, W> {
    /// A client on two streams.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
        }
    }

    /// Sends a request of 2026-07-28 and waits for the answer: a result or an error.
    ///
    /// # Errors
    ///
    /// Every failure of the streams, and the end of them.
    pub async fn ask(&mut self, method: &str, mut params: Value) -> io::Result<Value> {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.writer
            .write_all(format!("{request}\n").as_bytes())
            .await?;
        loop {
            let line = self
                .lines
                .next_line()
                .await?
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == 1 {
                return Ok(answer);
            }
        }
    }

    /// Calls a tool, and returns the text of its result.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub async fn call(&mut self, tool: &str, arguments: Value) -> io::Result<String> {
        let answer = self
            .ask(
                "tools/call",
                json!({ "name": tool, "arguments": arguments }),
            )
            .await?;
        let text = answer["result"]["content"][0]["text"].as_str();
        Ok(text.map_or_else(|| answer.to_string(), str::to_owned))
    }
}

/// Returns an HTTP request of 2026-07-28 that calls a tool.
///
/// # Errors
///
/// A name that no header can have.
pub fn post(tool: &str, arguments: Value) -> pintle::Result<Request<Body>> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = request::Builder::new()
        .method("POST")
        .uri("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool);
    Ok(request.body(Body::from(call.to_string()))?)
}

/// Reads a body of at most 64 KiB to its end.
///
/// # Errors
///
/// A longer body, or a body that is not text.
pub async fn text(body: Body) -> pintle::Result<String> {
    let bytes = to_bytes(body, 1 << 16).await?;
    Ok(String::from_utf8(bytes.into())?)
}

/// A new folder for a test. Dropping it deletes the folder.
#[derive(Debug)]
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes a folder below the folder of the system for temporary files.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-example-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // The system deletes it later if this fails.
        let _ = fs::remove_dir_all(&self.0);
    }
}
