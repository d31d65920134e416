//! An MCP server inside a web application: one route among others of an axum router.
//!
//! `cargo run -p pintle-examples --bin axum-mount` serves `http://127.0.0.1:8000/mcp` for agents
//! and `http://127.0.0.1:8000/health` for whoever watches the machine.

use axum::Router;
use axum::routing::get;
use pintle::http::{HttpService, ServeHttp};
use pintle::prelude::*;
use tokio::net::TcpListener;

/// Adds two numbers.
#[tool(read_only)]
async fn add(
    /// The first addend.
    a: i64,
    /// The second addend.
    b: i64,
) -> i64 {
    a + b
}

fn router() -> pintle::Result<(Router, HttpService<impl pintle::runtime::Service>)> {
    let server = Server::new("calculator", env!("CARGO_PKG_VERSION")).tool::<add>();
    let mcp = server.into_http()?;
    let router = Router::new()
        .route("/health", get(|| async { "well" }))
        .route_service("/mcp", mcp.clone());
    Ok((router, mcp))
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let (router, mcp) = router()?;
    let listener = TcpListener::bind("127.0.0.1:8000").await?;
    // Streams end when they are told to, so that the web server can end gracefully.
    let end = async move {
        let _ = tokio::signal::ctrl_c().await;
        mcp.close();
    };
    axum::serve(listener, router).with_graceful_shutdown(end).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, StatusCode};
    use tower_service::Service;

    use super::*;

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
        "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#;

    #[tokio::test]
    async fn the_application_answers_agents_and_everybody_else() {
        let (mut router, _) = router().expect("a server without mistakes");
        let ask = Request::post("/mcp")
            .header("host", "127.0.0.1:8000")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Body::from(INITIALIZE))
            .expect("a request");
        let answer = router.call(ask).await.expect("it never fails");
        assert_eq!(answer.status(), StatusCode::OK);
        let body = to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
        assert!(String::from_utf8_lossy(&body).contains("\"calculator\""));
        let ask = Request::get("/health").body(Body::empty()).expect("a request");
        assert_eq!(router.call(ask).await.expect("it never fails").status(), StatusCode::OK);
    }
}
