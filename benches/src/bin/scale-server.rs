//! The server that `scale` measures: an echo, a text of any size, and others up to a number.
//!
//! ```text
//! scale-server stdio [tools=N] [threads=N]
//! scale-server http HOST:PORT [stateful|stateless] [tools=N] [threads=N]
//! ```
//!
//! It has 100 tools and one thread by default. With more threads it has the runtime of several threads,
//! which `bench-server` does not contain. The endpoint is `/mcp`. A mode is not read: one endpoint serves
//! both eras.

use std::sync::Arc;

use pintle::http::{HttpOptions, HttpServer, HttpService};
use pintle::prelude::*;
use pintle::runtime::{IntoService, PipeOptions, serve_stdio};
use pintle::server::App;
use pintle_bench::payload;
use tokio::runtime::{Builder, Runtime};

/// Size of one message, in bytes. The largest result is 16 MiB before its line breaks are escaped.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Returns its text.
#[tool]
async fn echo(
    /// The text to return
    text: String,
) -> String {
    text
}

/// Returns so much text.
#[tool]
async fn text(
    /// Size of the text, up to 16 MiB
    bytes: usize,
) -> Result<&'static str> {
    Ok(payload::text_of(bytes).ok_or("the text is larger than 16 MiB")?)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only the schema is of interest")]
struct Filler {
    /// Key of the record
    key: String,
    /// Maximum number of results
    limit: i64,
    /// Return all fields
    verbose: bool,
}

/// A server with so many tools, at least the two that have work to do.
fn server(tools: usize) -> Server {
    let mut server = Server::new("scale-server", env!("CARGO_PKG_VERSION"))
        .page_size(tools.max(2))
        .tools::<(echo, text)>();
    for at in 2..tools {
        let tool = Tool::new(format!("tool_{at:03}")).description(format!(
            "Filler tool {at}: looks up a record by its key and returns a short text."
        ));
        server = server.add_tool(tool.handler(async |filler: Filler| filler.key));
    }
    server
}

fn main() -> pintle::Result<()> {
    let (mut tools, mut threads, mut words) = (100, 1, Vec::new());
    for word in std::env::args().skip(1) {
        match word.split_once('=') {
            Some(("tools", count)) => tools = count.parse()?,
            Some(("threads", count)) => threads = count.parse()?,
            _ => words.push(word),
        }
    }
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    runtime(threads)?.block_on(serve(&words, server(tools).into_service()?))
}

/// A runtime with so many worker threads. One thread needs no scheduler of several.
fn runtime(threads: usize) -> std::io::Result<Runtime> {
    let mut builder = match threads {
        0 | 1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(threads.max(1)).enable_all().build()
}

async fn serve(words: &[&str], app: App) -> pintle::Result<()> {
    match words {
        ["stdio"] => {
            let mut options = PipeOptions::default();
            Arc::make_mut(&mut options.limits).max_outgoing_bytes = MAX_MESSAGE_BYTES;
            serve_stdio(Arc::new(app), options).await?;
        }
        ["http", address, ..] => {
            let mut options = HttpOptions::default();
            Arc::make_mut(&mut options.conversation_limits).max_outgoing_bytes = MAX_MESSAGE_BYTES;
            let service = HttpService::new(app, options);
            HttpServer::bind(service, address).await?.run().await;
        }
        _ => return Err("usage: scale-server stdio | http HOST:PORT [tools=N] [threads=N]".into()),
    }
    Ok(())
}
