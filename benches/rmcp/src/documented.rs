//! A server as the documentation of rmcp shows it.
//!
//! The attribute `tool_handler` without arguments builds the router for each request. `stdio()` is the
//! transport. A session, or a request without one, makes a handler. The options of HTTP are the default
//! ones, so answers are events, and axum accepts connections as it does by default.

use std::sync::Arc;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt, tool_handler};

use crate::settings::Settings;
use crate::{Failure, scaled, usage};

/// A handler without a router of its own.
#[derive(Clone)]
pub(crate) struct Documented {
    tools: usize,
}

impl Documented {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            tools: settings.tools.unwrap_or(100),
        }
    }

    fn tool_router(&self) -> ToolRouter<Self> {
        scaled::router(self.tools)
    }
}

// The default argument calls `Self::tool_router()`, which cannot know the number of tools.
#[tool_handler(router = self.tool_router())]
impl ServerHandler for Documented {}

/// Serves standard input and output, or HTTP. The mode is not read, because the default serves both eras.
pub(crate) async fn serve(words: &[&str], handler: Documented) -> Result<(), Failure> {
    match words {
        ["stdio"] => drop(handler.serve(stdio()).await?.waiting().await?),
        ["http", address, _mode] => serve_http(address, handler).await?,
        _ => return Err(usage()),
    }
    Ok(())
}

async fn serve_http(address: &str, handler: Documented) -> std::io::Result<()> {
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(tokio::net::TcpListener::bind(address).await?, router).await
}
