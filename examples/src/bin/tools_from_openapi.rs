//! Tools from an OpenAPI document: each operation is a tool, and a call of it is a request to the API.
//!
//! `API=https://api.example.com OPENAPI=FILE tools_from_openapi` serves the operations of a document of OpenAPI 3.0 or 3.1, except
//! those of the method `DELETE`.

use pintle::prelude::*;

fn server(api: OpenApi) -> Result<Server> {
    let tools = api
        .filter(|operation| operation.method != "DELETE")
        .tools()?;
    Ok(Server::new("gateway", env!("CARGO_PKG_VERSION")).add_tools(tools))
}

#[pintle::main]
fn main() -> Result<Server> {
    let file = std::env::var("OPENAPI").unwrap_or_else(|_| "examples/openapi.json".to_owned());
    let url = std::env::var("API").unwrap_or_else(|_| "http://127.0.0.1:9000".to_owned());
    server(OpenApi::read(file)?.base_url(url))
}

#[cfg(test)]
mod tests {
    use axum::extract::{Path, RawQuery};
    use axum::http::StatusCode;
    use axum::routing::{get, post};
    use axum::{Router, serve};
    use pintle_examples::client_of;
    use serde_json::{Value, json};
    use tokio::net::TcpListener;

    use pintle::prelude::*;

    const DOCUMENT: &str = include_str!("../../openapi.json");

    fn server(url: &str) -> pintle::Result<Server> {
        super::server(OpenApi::parse(DOCUMENT)?.base_url(url))
    }

    /// Serves the API on a free port, and returns its URL.
    async fn api() -> pintle::Result<String> {
        let list = async |RawQuery(query): RawQuery| format!("ships {}", query.unwrap_or_default());
        let one = async |Path(name): Path<String>| match name.as_str() {
            "Rudder" => (StatusCode::OK, "berth 4".to_owned()),
            name => (StatusCode::NOT_FOUND, format!("no ship {name:?}")),
        };
        let moved = async |Path(name): Path<String>, body: String| format!("{name} {body}");
        let app = Router::new()
            .route("/ships", get(list))
            .route("/ships/{name}", get(one))
            .route("/ships/{name}/moves", post(moved));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        tokio::spawn(async { serve(listener, app).await });
        Ok(url)
    }

    #[tokio::test]
    async fn a_call_is_a_request_to_the_api() -> pintle::Result<()> {
        let mut client = client_of(server(&api().await?)?)?;
        let ships = client
            .call("list_ships", json!({ "flag": "NL", "limit": 5 }))
            .await?;
        assert_eq!(ships, "ships flag=NL&limit=5");
        let ship = client.call("get_ship", json!({ "name": "Rudder" })).await?;
        assert_eq!(ship, "berth 4");
        let arguments = json!({ "name": "Rudder", "body": { "berth": 7 } });
        assert_eq!(
            client.call("move_ship", arguments).await?,
            r#"Rudder {"berth":7}"#
        );
        Ok(())
    }

    #[tokio::test]
    async fn an_argument_stays_in_its_place_of_the_url() -> pintle::Result<()> {
        let mut client = client_of(server(&api().await?)?)?;
        for name in ["../ships", "a/b?limit=9", "x#y"] {
            let text = client.call("get_ship", json!({ "name": name })).await?;
            assert!(text.contains("HTTP status 404"), "{text}");
            assert!(text.contains(&format!("no ship {name:?}")), "{text}");
        }
        let text = client.call("get_ship", json!({ "name": ".." })).await?;
        assert!(text.contains("invalid argument `name`"), "{text}");
        Ok(())
    }

    #[tokio::test]
    async fn a_large_response_is_an_error() -> pintle::Result<()> {
        let mut limits = pintle::openapi::OpenApiLimits::default();
        limits.max_response_bytes = 5;
        let document = OpenApi::parse(DOCUMENT)?;
        let server = super::server(document.base_url(api().await?).limits(limits))?;
        let text = client_of(server)?.call("list_ships", json!({})).await?;
        assert!(text.contains("more than 5 bytes"), "{text}");
        Ok(())
    }

    #[tokio::test]
    async fn the_schemas_of_the_document_are_enforced() -> pintle::Result<()> {
        // No request is sent, so this address needs no server.
        let mut client = client_of(server("http://127.0.0.1:1")?)?;
        for (tool, arguments, place) in [
            ("list_ships", json!({ "limit": 0 }), "/limit"),
            ("list_ships", json!({ "flag": "nl" }), "/flag"),
            ("get_ship", json!({}), "name"),
            (
                "move_ship",
                json!({ "name": "Rudder", "body": { "berth": 41 } }),
                "/body/berth",
            ),
        ] {
            let text = client.call(tool, arguments).await?;
            assert!(
                text.starts_with("invalid arguments") && text.contains(place),
                "{text}"
            );
        }
        let listed = client.ask("tools/list", json!({})).await?;
        let tools = listed["result"]["tools"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_read_only = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
        assert_eq!(tools.iter().filter(|tool| is_read_only(tool)).count(), 2);
        Ok(())
    }
}
