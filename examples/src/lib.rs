//! Examples: one idea each, in `src/bin`. Every example has its own tests: `cargo test -p
//! pintle-examples`.
//!
//! | example | shows |
//! |---|---|
//! | `calculator` | the smallest server |
//! | `without_macros` | the same without attributes |
//! | `axum_mount` | an endpoint among the routes of an axum application |
//! | `unix_socket` | a server on a Unix socket |
//! | `require_bearer` | a server that accepts only requests with a valid token |
//! | `middleware` | layers around calls and around requests |
//! | `client` | a client that answers questions, follows progress and gives up |
//! | `child_process` | a client that starts its server, and ends it |
//! | `dynamic_tools` | tools that come and go |
//! | `extension` | an extension of the protocol, from a crate of its own |
//! | `testing_in_memory` | a test of a whole server, without a process or a port |
//! | `stray_print` | a handler that prints, and does no harm |

use std::io;
use std::sync::Arc;

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
