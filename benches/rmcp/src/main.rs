//! The work of `bench-server`, on rmcp: a server to measure beside it.
//!
//! `rmcp-server stdio`, `rmcp-server http HOST:PORT stateful` (sessions, 2025-11-25) and
//! `rmcp-server http HOST:PORT stateless` (2026-07-28). The endpoint is `/mcp`. It has the fastest
//! settings that we found. Tools are routed by a table that is built once. Answers are JSON where
//! there is a choice. Standard input and output use the faster of its two transports. Packets leave
//! at once.
//!
//! Further words are settings, as `scale-server` has them. `tools=N` serves the N tools that `scale`
//! calls, and `threads=N` has so many worker threads. `documented` serves these tools as the documentation
//! of rmcp shows it: see [`documented`].

mod documented;
mod payload;
mod scaled;
mod settings;

use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::handler::server::common::schema_for_type;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_router};

use documented::Documented;
use settings::Settings;

type Called = Result<CallToolResult, ErrorData>;

/// Why the program ends.
type Failure = Box<dyn std::error::Error>;

const TEXT: &str = "bench://text/1m";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// The text to return
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Progress {
    /// How many notifications to send
    steps: u64,
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

#[derive(Clone)]
struct Bench {
    tools: Arc<ToolRouter<Bench>>,
}

fn said(text: impl Into<String>) -> Called {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

#[tool_router]
impl Bench {
    #[tool(description = "Returns no text.")]
    async fn empty(&self) -> Called {
        Ok(CallToolResult::success(vec![]))
    }

    #[tool(description = "Returns its text.")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> Called {
        said(text)
    }

    #[tool(description = "Returns 64 KiB of text.")]
    async fn big_text(&self) -> Called {
        said(payload::text_64k())
    }

    #[tool(description = "Returns an image of 1 MiB.")]
    async fn big_image(&self) -> Called {
        let image = ContentBlock::image(payload::image_1m(), "image/png");
        Ok(CallToolResult::success(vec![image]))
    }

    #[tool(description = "Reports progress in steps.")]
    async fn progress(
        &self,
        Parameters(Progress { steps }): Parameters<Progress>,
        context: RequestContext<RoleServer>,
    ) -> Called {
        let token = context.meta.get_progress_token();
        let token = token.ok_or_else(|| ErrorData::invalid_params("no progress token", None))?;
        for step in 1..=steps {
            let notice = ProgressNotificationParam::new(token.clone(), step as f64)
                .with_total(steps as f64)
                .with_message(format!("step {step}"));
            let sent = context.peer.notify_progress(notice).await;
            sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        said("done")
    }

    #[tool(description = "Announces a change of bench://counter.")]
    async fn bump(&self) -> Called {
        said("bumped")
    }
}

impl Bench {
    /// The tools of `bench-server`, or those of `scale-server` if their number is set.
    fn new(settings: &Settings) -> Self {
        let tools = match settings.tools {
            Some(count) => scaled::router(count),
            None => Self::hundred(),
        };
        Self {
            tools: Arc::new(tools),
        }
    }

    fn hundred() -> ToolRouter<Self> {
        let mut tools = Self::tool_router();
        let schema = schema_for_type::<Filler>();
        for at in 6..100 {
            let description =
                format!("Filler tool {at}: looks up a record by its key and returns a short text.");
            let tool = Tool::new(format!("tool_{at:03}"), description, schema.clone());
            tools.add_route(ToolRoute::new(tool, filler));
        }
        tools
    }
}

async fn filler(Parameters(filler): Parameters<Filler>) -> Called {
    said(filler.key)
}

impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rmcp-server", "0"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = ToolCallContext::new(self, request, context);
        self.tools.call(call).await
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.list_all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.get(name).cloned()
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != TEXT {
            return Err(ErrorData::resource_not_found("there is no such text", None));
        }
        let contents = ResourceContents::text(payload::text_1m(), request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn main() -> Result<(), Failure> {
    let (settings, words) = Settings::read(std::env::args().skip(1))?;
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    settings.runtime()?.block_on(async {
        match settings.is_documented {
            true => documented::serve(&words, Documented::new(&settings)).await,
            false => serve(&words, Bench::new(&settings)).await,
        }
    })
}

/// The error of a wrong command line.
fn usage() -> Failure {
    "usage: rmcp-server stdio | http HOST:PORT stateful|stateless [tools=N] [threads=N] [documented]"
        .into()
}

async fn serve(words: &[&str], bench: Bench) -> Result<(), Failure> {
    match words {
        ["stdio"] => drop(bench.serve(stdio_pipes()).await?.waiting().await?),
        ["http", address, mode] => serve_http(address, *mode == "stateful", bench).await?,
        _ => return Err(usage()),
    }
    Ok(())
}

async fn serve_http(address: &str, has_sessions: bool, bench: Bench) -> std::io::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(has_sessions)
        .with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(bench.clone()), sessions, config);
    let listener = tokio::net::TcpListener::bind(address).await?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
}
