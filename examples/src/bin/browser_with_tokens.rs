//! An endpoint for web pages of another origin whose users sign in: a guard of tokens, CORS and axum together.
//!
//! The order of the layers matters. CORS is outside of the guard, because a preflight has no token. The page can then also
//! read the challenge of a 401, and the metadata of the guard.

use axum::Router;
use axum::http::Method;
use axum::routing::get;
use pintle::auth::resource::{RequireBearer, TokenError, TokenVerifier, VerifiedToken};
use pintle::auth::{Scopes, Secret};
use pintle::http::{HostPolicy, HttpOptions};
use pintle::prelude::*;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// The URL of the server for clients.
const HERE: &str = "http://localhost:8000/mcp";
/// The authorization server.
const ISSUER: &str = "https://login.example.com";
/// The origin of the pages.
const PAGES: &str = "https://app.example.com";

/// Verifies the only token. A server in production uses `RequireBearer::jwks(ISSUER, fetch)`.
struct OneToken;

impl TokenVerifier for OneToken {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        if !token.is("token-of-ada") {
            return Err(TokenError::invalid("the token is unknown"));
        }
        let mut grant = VerifiedToken::new(ISSUER, "ada");
        grant.audiences.push(HERE.into());
        grant.scopes = Scopes::parse("notes").map_err(TokenError::unavailable)?;
        Ok(grant)
    }
}

/// Returns the name of the caller.
#[tool(read_only)]
async fn whoami(who: Principal) -> String {
    who.id().to_owned()
}

fn app() -> pintle::Result<Router> {
    let guard = RequireBearer::verifier(ISSUER, OneToken)
        .audience(HERE)
        .require("notes")
        .build()?;
    let mut options = HttpOptions::default();
    // The endpoint rejects other origins with 403, because a browser sends some requests without a preflight.
    options.host_policy = HostPolicy::hosts(["localhost"])?.with_origin(PAGES)?;
    let endpoint = Server::new("notes", env!("CARGO_PKG_VERSION"))
        .tool::<whoami>()
        .into_http_with(options)?;
    // `Authorization` must be named by the server: a browser does not cover it by `*`.
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::exact(PAGES.parse()?))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(["mcp-session-id".parse()?, "www-authenticate".parse()?]);
    Ok(Router::new()
        .route_service("/mcp", endpoint)
        .layer(guard)
        .layer(cors)
        .route("/health", get(async || "ok")))
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

    use super::{HERE, PAGES, app};

    async fn send(
        mut request: Request<Body>,
        origin: &str,
        token: Option<&str>,
    ) -> pintle::Result<(Response<()>, String)> {
        let headers = request.headers_mut();
        headers.insert("origin", origin.parse()?);
        if let Some(token) = token {
            headers.insert("authorization", format!("Bearer {token}").parse()?);
        }
        let (head, body) = app()?.call(request).await?.into_parts();
        Ok((Response::from_parts(head, ()), text(body).await?))
    }

    fn header<'a>(answer: &'a Response<()>, name: &str) -> &'a str {
        let value = answer.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    #[tokio::test]
    async fn a_preflight_needs_no_token() -> pintle::Result<()> {
        let preflight = Request::options("/mcp")
            .header("host", "localhost")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,mcp-method")
            .body(Body::empty())?;
        let (answer, _) = send(preflight, PAGES, None).await?;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(header(&answer, "access-control-allow-origin"), PAGES);
        let allowed = header(&answer, "access-control-allow-headers");
        assert_eq!(allowed, "authorization,mcp-method");
        Ok(())
    }

    #[tokio::test]
    async fn the_page_can_read_where_to_sign_in() -> pintle::Result<()> {
        for token in [None, Some("stolen")] {
            let (answer, _) = send(post("whoami", json!({}))?, PAGES, token).await?;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
            assert_eq!(header(&answer, "access-control-allow-origin"), PAGES);
            let exposed = header(&answer, "access-control-expose-headers");
            assert!(exposed.contains("www-authenticate"), "{exposed}");
            let challenge = header(&answer, "www-authenticate");
            let place = "/.well-known/oauth-protected-resource/mcp";
            assert!(challenge.contains(place), "{challenge}");
            let metadata = Request::get(place).header("host", "localhost");
            let (answer, body) = send(metadata.body(Body::empty())?, PAGES, None).await?;
            assert_eq!(header(&answer, "access-control-allow-origin"), PAGES);
            assert!(body.contains(HERE), "{body}");
        }
        Ok(())
    }

    #[tokio::test]
    async fn the_page_calls_a_tool_with_a_token() -> pintle::Result<()> {
        let request = post("whoami", json!({}))?;
        let (answer, body) = send(request, PAGES, Some("token-of-ada")).await?;
        assert_eq!(answer.status(), StatusCode::OK, "{body}");
        assert_eq!(header(&answer, "access-control-allow-origin"), PAGES);
        assert!(body.contains("ada"), "{body}");
        Ok(())
    }

    #[tokio::test]
    async fn a_page_of_another_origin_is_rejected_with_a_valid_token() -> pintle::Result<()> {
        let request = post("whoami", json!({}))?;
        let evil = "https://evil.example";
        let (answer, _) = send(request, evil, Some("token-of-ada")).await?;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
        Ok(())
    }

    #[tokio::test]
    async fn the_check_of_health_needs_no_token() -> pintle::Result<()> {
        let request = Request::get("/health").body(Body::empty())?;
        let answer = app()?.call(request).await?;
        assert_eq!(answer.status(), StatusCode::OK);
        Ok(())
    }
}
