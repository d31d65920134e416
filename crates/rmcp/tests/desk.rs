//! A server as its author writes it for rmcp.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    CallToolResult, ContentBlock, Implementation, ProgressNotificationParam, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) struct Desk {
    tool_router: ToolRouter<Self>,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first addend.
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Seat {
    row: i64,
}

rmcp::elicit_safe!(Seat);

#[tool_router]
impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            tool_router: Self::tool_router(),
        }
    }

    #[tool(description = "Adds two numbers", annotations(read_only_hint = true))]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(description = "Fails for the model")]
    async fn fail(&self) -> Result<CallToolResult, ErrorData> {
        Ok(CallToolResult::error(vec![ContentBlock::text("no ink")]))
    }

    #[tool(description = "Fails for the client")]
    async fn refuse(&self) -> Result<CallToolResult, ErrorData> {
        Err(ErrorData::invalid_params(
            "no desk",
            Some(json!({ "desk": 3 })),
        ))
    }

    #[tool(description = "Counts to three")]
    async fn count(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let Some(token) = context.meta.get_progress_token() else {
            return Ok("no token".to_owned());
        };
        for step in 1..=3 {
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
            let progress = progress.with_total(3.0).with_message("counted");
            let sent = context.peer.notify_progress(progress).await;
            sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        Ok("three".to_owned())
    }

    #[tool(description = "Reserves a seat")]
    async fn reserve(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let seat = context.peer.elicit::<Seat>("Which row?").await;
        let seat = seat.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(seat.map_or("nothing".to_owned(), |seat| format!("row {}", seat.row)))
    }

    #[tool(description = "Names the type of the body")]
    async fn headers(&self, context: RequestContext<RoleServer>) -> String {
        let parts = context.extensions.get::<http::request::Parts>();
        let kind = parts.and_then(|parts| parts.headers.get("content-type"));
        kind.and_then(|kind| kind.to_str().ok())
            .unwrap_or("none")
            .to_owned()
    }

    #[tool(description = "Describes the client")]
    async fn client(&self, context: RequestContext<RoleServer>) -> String {
        let version = context.protocol_version();
        let client = context.client_info();
        format!(
            "{} {}",
            client.map(|client| client.name).unwrap_or_default(),
            version
                .map(|version| version.to_string())
                .unwrap_or_default()
        )
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("desk", "2.1.0").with_title("The desk"))
            .with_instructions("Ask before you sit down.")
    }
}
