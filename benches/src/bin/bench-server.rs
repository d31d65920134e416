//! A server to measure beside others: a hundred tools, two resources, three transports.
//!
//! `bench-server stdio`, `bench-server http HOST:PORT stateful` (sessions, 2025-11-25) and
//! `bench-server http HOST:PORT stateless` (2026-07-28); the endpoint is `/mcp`.

use std::sync::Arc;

use pintle::http::{HttpServer, HttpService};
use pintle::model::{Base64, CallToolResult, ImageContent};
use pintle::prelude::*;
use pintle::runtime::{IntoService, PipeOptions, serve_stdio};
use pintle::server::App;
use pintle_bench::payload;

const COUNTER: &str = "bench://counter";

/// Returns no text.
#[tool]
async fn empty() {}

/// Returns its text.
#[tool]
async fn echo(
    /// The text to return
    text: String,
) -> String {
    text
}

/// Returns 64 KiB of text.
#[tool]
async fn big_text() -> &'static str {
    payload::text_64k()
}

/// Returns an image of 1 MiB.
#[tool]
async fn big_image() -> CallToolResult {
    let image: Base64 = payload::image_1m().clone();
    CallToolResult::new(vec![ContentBlock::Image(ImageContent::new(
        image,
        "image/png",
    ))])
}

/// Reports progress in steps.
#[tool]
async fn progress(
    /// How many notifications to send
    steps: u64,
    ctx: Context,
) -> &'static str {
    for step in 1..=steps {
        ctx.progress(step as f64, Some(steps as f64), format!("step {step}"))
            .await;
    }
    "done"
}

/// Announces a change of bench://counter.
#[tool]
async fn bump(server: State<ServerHandle>) -> &'static str {
    server.changes().resource(COUNTER);
    "bumped"
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

fn server() -> Server {
    let mut server = Server::new("bench-server", env!("CARGO_PKG_VERSION"))
        .tools::<(empty, echo, big_text, big_image, progress, bump)>()
        .add_resource(
            Resource::new("bench://text/1m", "text")
                .mime("text/plain")
                .reader(async || payload::text_1m()),
        )
        .add_resource(Resource::text(COUNTER, "counter", "0"))
        .resource_updates();
    for at in 6..100 {
        let tool = Tool::new(format!("tool_{at:03}")).description(format!(
            "Filler tool {at}: looks up a record by its key and returns a short text."
        ));
        server = server.add_tool(tool.handler(async |filler: Filler| filler.key));
    }
    server
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> pintle::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let app: App = server().into_service()?;
    match arguments.first().map(String::as_str) {
        Some("stdio") => drop(serve_stdio(Arc::new(app), PipeOptions::default()).await?),
        Some("http") => {
            let address = arguments.get(1).ok_or("an address is missing")?.clone();
            let mut options = pintle::http::HttpOptions::default();
            // More than the idle ones that are counted.
            (options.limits.max_sessions, options.limits.max_streams) = (20_000, 20_000);
            options.limits.max_connections = 20_000;
            // All of them come from one address.
            (
                options.limits.max_sessions_per_peer,
                options.limits.max_streams_per_address,
            ) = (20_000, 20_000);
            (
                options.limits.max_calls_per_peer,
                options.limits.max_connections_per_address,
            ) = (20_000, 20_000);
            options.limits.max_pending_body_bytes = 1 << 30;
            options.limits.max_pending_body_bytes_per_peer = 1 << 30;
            let service = HttpService::new(app, options);
            HttpServer::bind(service, address).await?.run().await;
        }
        _ => return Err("usage: bench-server stdio | http HOST:PORT stateful|stateless".into()),
    }
    Ok(())
}
