//! A server that accepts only requests with a valid token, with a verifier of its own.
//!
//! Tokens of an authorization server need no code: `RequireBearer::jwks(issuer, fetch)`.

use std::collections::BTreeMap;

use axum::Router;
use pintle::auth::resource::{RequireBearer, TokenError, TokenVerifier, VerifiedToken};
use pintle::auth::{Scopes, Secret};
use pintle::prelude::*;

/// The URL of the server for clients.
const HERE: &str = "http://127.0.0.1:8000/mcp";
/// The issuer of the keys.
const ISSUER: &str = "http://127.0.0.1:8000/keys";

/// The issued keys, with their principals.
struct Keys(BTreeMap<&'static str, (&'static str, &'static str)>);

impl TokenVerifier for Keys {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        let known = self.0.iter().find(|(key, _)| token.is(key));
        let (_, (owner, scopes)) = known.ok_or(TokenError::invalid("the key is unknown"))?;
        let mut grant = VerifiedToken::new(ISSUER, owner);
        grant.audiences.push(HERE.into());
        grant.scopes = Scopes::parse(scopes).map_err(TokenError::unavailable)?;
        Ok(grant)
    }
}

/// Returns the name of the caller.
#[tool(read_only)]
async fn whoami(who: Principal) -> String {
    who.id().to_owned()
}

/// Empties the store. The tool is hidden from callers without its scope; a call asks for more.
#[tool(scopes("store:write"))]
async fn empty() -> &'static str {
    "it is empty"
}

fn app() -> pintle::Result<Router> {
    let keys = Keys(BTreeMap::from([
        ("key-of-ada", ("ada", "store:read store:write")),
        ("key-of-bob", ("bob", "store:read")),
    ]));
    let guard = RequireBearer::verifier(ISSUER, keys)
        .audience(HERE)
        .require("store:read")
        .build()?;
    let endpoint = Server::new("store", env!("CARGO_PKG_VERSION"))
        .tools::<(whoami, empty)>()
        .into_http()?;
    // The layer surrounds the whole router, because it also serves the metadata beside the endpoint.
    Ok(Router::new().route_service("/mcp", endpoint).layer(guard))
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
    use serde_json::json;
    use tower_service::Service as _;

    use super::{HERE, app};

    async fn call(tool: &str, key: Option<&str>) -> pintle::Result<(StatusCode, String)> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let answer = app()?
            .call(request.body(Body::from(call.to_string()))?)
            .await?;
        let challenge = answer.headers().get("www-authenticate");
        let challenge = challenge.map_or(Ok(""), |line| line.to_str())?.to_owned();
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 1 << 16).await?;
        Ok((status, challenge + std::str::from_utf8(&body)?))
    }

    #[tokio::test]
    async fn a_key_lets_its_owner_in_and_no_further_than_it_goes() -> pintle::Result<()> {
        let (status, said) = call("whoami", Some("key-of-bob")).await?;
        assert!(status == StatusCode::OK && said.contains("bob"), "{said}");
        let (status, said) = call("empty", Some("key-of-ada")).await?;
        assert!(
            status == StatusCode::OK && said.contains("it is empty"),
            "{said}"
        );
        let (status, said) = call("empty", Some("key-of-bob")).await?;
        assert_eq!(status, StatusCode::FORBIDDEN);
        assert!(said.contains(r#"scope="store:read store:write""#), "{said}");
        for key in [None, Some("key-of-eve")] {
            let (status, said) = call("whoami", key).await?;
            assert_eq!(status, StatusCode::UNAUTHORIZED);
            assert!(
                said.contains("/.well-known/oauth-protected-resource/mcp"),
                "{said}"
            );
        }
        Ok(())
    }

    #[tokio::test]
    async fn the_metadata_is_public_and_names_the_server() -> pintle::Result<()> {
        let place = "/.well-known/oauth-protected-resource/mcp";
        let request = Request::get(place).body(Body::empty())?;
        let answer = app()?.call(request).await?;
        assert_eq!(answer.status(), StatusCode::OK);
        let body = to_bytes(answer.into_body(), 1 << 16).await?;
        assert!(std::str::from_utf8(&body)?.contains(HERE));
        Ok(())
    }
}
