//! An MCP endpoint among the routes of an axum application.

use axum::Router;
use axum::routing::get;
use pintle::prelude::*;

/// Says how the application is.
#[tool(read_only)]
async fn status() -> &'static str {
    "all is well"
}

fn app() -> pintle::Result<Router> {
    // The endpoint is a tower service: routes, layers and graceful shutdown are axum's.
    let endpoint = Server::new("status", env!("CARGO_PKG_VERSION"))
        .tool::<status>()
        .into_http()?;
    Ok(Router::new()
        .route("/health", get(async || "ok"))
        .route_service("/mcp", endpoint))
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, app()?).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, StatusCode};
    use serde_json::{Value, json};
    use tower_service::Service as _;

    use super::app;

    #[tokio::test]
    async fn both_routes_are_served() -> pintle::Result<()> {
        let mut app = app()?;
        let health = app
            .call(Request::get("/health").body(Body::empty())?)
            .await?;
        assert_eq!(health.status(), StatusCode::OK);

        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "status", "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "status")
            .body(Body::from(call.to_string()))?;
        let answer = app.call(request).await?;
        let answer: Value = serde_json::from_slice(&to_bytes(answer.into_body(), 1 << 16).await?)?;
        assert_eq!(
            answer["result"]["content"][0]["text"], "all is well",
            "{answer}"
        );
        Ok(())
    }
}
