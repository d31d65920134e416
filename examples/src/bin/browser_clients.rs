//! An endpoint for web pages of another origin. Two programs check the origin: the endpoint and the browser.

use axum::Router;
use axum::http::Method;
use pintle::http::{HostPolicy, HttpOptions};
use pintle::prelude::*;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// The origin of the pages.
const PAGES: &str = "https://app.example.com";

/// Returns the depth of the fairway in metres.
#[tool(read_only)]
async fn depth() -> f64 {
    7.5
}

fn app() -> pintle::Result<Router> {
    let mut options = HttpOptions::default();
    // The endpoint rejects other origins with 403, because a browser sends some requests without a preflight.
    options.host_policy = HostPolicy::hosts(["localhost", "127.0.0.1"])?.with_origin(PAGES)?;
    let endpoint = Server::new("fairway", env!("CARGO_PKG_VERSION"))
        .tool::<depth>()
        .into_http_with(options)?;
    // The browser hides an answer from the page unless these headers permit the page to read it.
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::exact(PAGES.parse()?))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(["mcp-session-id".parse()?, "www-authenticate".parse()?]);
    Ok(Router::new().route_service("/mcp", endpoint).layer(cors))
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, app()?).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, Response, StatusCode};
    use pintle_examples::{post, text};
    use serde_json::json;
    use tower_service::Service as _;

    use super::{PAGES, app};

    async fn send(
        mut request: Request<Body>,
        origin: &str,
    ) -> pintle::Result<(Response<()>, String)> {
        request.headers_mut().insert("origin", origin.parse()?);
        let (head, body) = app()?.call(request).await?.into_parts();
        Ok((Response::from_parts(head, ()), text(body).await?))
    }

    #[tokio::test]
    async fn a_browser_permits_the_page_to_send_the_headers_of_mcp() -> pintle::Result<()> {
        let preflight = Request::options("/mcp")
            .header("host", "localhost")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "mcp-method,mcp-name")
            .body(Body::empty())?;
        let (answer, _) = send(preflight, PAGES).await?;
        let header = |name| answer.headers()[name].to_str();
        assert_eq!(header("access-control-allow-origin")?, PAGES);
        assert_eq!(
            header("access-control-allow-headers")?,
            "mcp-method,mcp-name"
        );
        assert!(header("access-control-allow-methods")?.contains("POST"));
        Ok(())
    }

    #[tokio::test]
    async fn the_page_reads_the_result() -> pintle::Result<()> {
        let (answer, body) = send(post("depth", json!({}))?, PAGES).await?;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["access-control-allow-origin"], PAGES);
        assert!(body.contains("7.5"), "{body}");
        Ok(())
    }

    #[tokio::test]
    async fn a_page_of_another_origin_is_rejected() -> pintle::Result<()> {
        let (answer, _) = send(post("depth", json!({}))?, "https://evil.example").await?;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
        Ok(())
    }
}
