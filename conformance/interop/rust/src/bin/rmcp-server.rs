//! A server on rmcp, for `pintle` to visit: `rmcp-server stdio`, or `rmcp-server http`, which prints its address.
//!
//! It offers a little of what `server.py` and `server.mjs` offer, in both eras.

use std::error::Error;
use std::sync::Arc;

use rmcp::handler::server::tool::InputResponses as GivenResponses;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, schemars::JsonSchema)]
struct Terms {
    a: i64,
    b: i64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Sum {
    result: i64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Mooring {
    vessel: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Berth {
    /// The berth
    name: String,
    hours: Option<u8>,
}

rmcp::elicit_safe!(Berth);

#[derive(Clone)]
struct PilotBook;

#[tool_router]
impl PilotBook {
    #[tool(description = "Adds two numbers.")]
    async fn add(&self, Parameters(Terms { a, b }): Parameters<Terms>) -> Json<Sum> {
        Json(Sum { result: a + b })
    }

    #[tool(description = "Runs aground.")]
    async fn ground(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("she sits on the bar")])
    }

    #[tool(description = "Asks for a berth, and moors.")]
    async fn moor(
        &self,
        Parameters(Mooring { vessel }): Parameters<Mooring>,
        GivenResponses(given): GivenResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(given) = given {
            let berth = serde_json::from_value(given["berth"]["content"].clone());
            return Ok(moored(&vessel, berth.ok()).into());
        }
        if context
            .protocol_version()
            .is_some_and(|spoken| spoken >= ProtocolVersion::V_2026_07_28)
        {
            return Ok(question()?.into());
        }
        let berth = context.peer.elicit::<Berth>("Where does she lie?").await;
        let berth = berth.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(moored(&vessel, berth).into())
    }
}

fn moored(vessel: &str, berth: Option<Berth>) -> CallToolResult {
    let Some(Berth { name, hours }) = berth else {
        return CallToolResult::error(vec![ContentBlock::text("no berth")]);
    };
    let hours = hours.unwrap_or(6);
    let text = format!("{vessel} lies at {name} for {hours} hours");
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A question for a client of 2026-07-28, which repeats the call with the answer.
fn question() -> Result<InputRequiredResult, ErrorData> {
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let requested_schema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Where does she lie?".into(),
        requested_schema,
    };
    let request = InputRequest::Elicitation(ElicitRequest::new(form));
    let requests = InputRequests::from([("berth".to_owned(), request)]);
    Ok(InputRequiredResult::new(Some(requests), None))
}

#[tool_handler]
impl ServerHandler for PilotBook {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("pilot-book", "1.0"))
            .with_instructions("Ask for the tide first.")
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(
            "log://guide",
            "guide",
        )]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "log://guide" {
            return Err(ErrorData::resource_not_found(
                "the log has only a guide",
                None,
            ));
        }
        let guide = ResourceContents::text("# Guide\n\nKeep the light to port.\n", request.uri);
        Ok(ReadResourceResult::new(vec![guide]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let vessel = PromptArgument::new("vessel").with_required(true);
        let arguments = vec![vessel, PromptArgument::new("tone")];
        let passage = Prompt::new("passage", Some("Plans a passage."), Some(arguments));
        Ok(ListPromptsResult::with_all_items(vec![passage]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let word = |name: &str| {
            given
                .get(name)
                .and_then(|value| value.as_str())
                .map(str::to_owned)
        };
        let vessel =
            word("vessel").ok_or_else(|| ErrorData::invalid_params("vessel is missing", None))?;
        let tone = word("tone").unwrap_or_else(|| "brief".to_owned());
        let text = format!("Plan a {tone} passage for {vessel}.");
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let book = PilotBook;
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => drop(book.serve(stdio()).await?.waiting().await?),
        Some("http") => serve_http(book).await?,
        _ => return Err("usage: rmcp-server stdio|http".into()),
    }
    Ok(())
}

async fn serve_http(book: PilotBook) -> std::io::Result<()> {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(book.clone()),
        sessions,
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
}
