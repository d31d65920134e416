//! Tools from an OpenAPI document: each operation is a tool, and a call of it is a request to the API.
//!
//! `API=https://api.example.com OPENAPI=FILE tools_from_openapi` serves the operations of a document of OpenAPI 3.1. `DELETE`,
//! `PUT` and `PATCH` are left out.

use std::fs;
use std::sync::Arc;

use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::model::JsonObject;
use pintle::prelude::*;
use pintle::runtime::{Fetch as _, FetchRequest, NetworkScope};
use serde_json::{Map, Value, json};

/// The API, with an HTTP client that reads at most 1 MiB of a response within 30 seconds.
struct Api {
    url: String,
    web: DocumentClient,
}

/// An operation of the document.
struct Operation {
    is_post: bool,
    /// The path, with `{name}` for each argument in it.
    path: String,
    /// The names of the arguments in the query.
    query: Vec<String>,
}

/// Returns a tool for each operation that the example supports.
fn tools(document: &Value, api: &Arc<Api>) -> Result<Vec<Tool>> {
    let mut tools = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in ["get", "post"] {
            if let Some(operation) = item.get(method) {
                tools.push(tool(document, path, method, operation, api)?);
            }
        }
    }
    Ok(tools)
}

fn tool(
    document: &Value,
    path: &str,
    method: &str,
    operation: &Value,
    api: &Arc<Api>,
) -> Result<Tool> {
    let name = operation["operationId"]
        .as_str()
        .ok_or("an operation has no id")?;
    let text = |member: &Value| member.as_str().unwrap_or_default().to_owned();
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let is_query = |parameter: &&Value| parameter["in"] == "query";
    let call = Operation {
        is_post: method == "post",
        path: path.to_owned(),
        query: parameters
            .filter(is_query)
            .map(|one| text(&one["name"]))
            .collect(),
    };
    let api = Arc::clone(api);
    Ok(Tool::from_schema(name, schema(document, operation)?)?
        .description(text(&operation["summary"]))
        .read_only(method == "get")
        .handler(move |arguments: JsonObject| {
            let request = call.request(&api, &arguments);
            let api = Arc::clone(&api);
            async move { api.send(request?).await }
        }))
}

/// Returns the schema of the arguments: one property for each parameter, and `body` for the body.
fn schema(document: &Value, operation: &Value) -> Result<JsonObject> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"]
            .as_str()
            .ok_or("a parameter has no name")?;
        let mut schema = parameter["schema"].clone();
        if let Some(text) = parameter.get("description") {
            schema["description"] = text.clone();
        }
        properties.insert(name.to_owned(), schema);
        if parameter["required"] == true {
            required.push(name);
        }
    }
    if let Some(body) = operation.get("requestBody") {
        let schema = body["content"]["application/json"]["schema"].clone();
        properties.insert("body".to_owned(), schema);
        if body["required"] == true {
            required.push("body");
        }
    }
    let schema = json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false, "$defs": document["components"]["schemas"],
    });
    // A reference of the document points to its components, which are definitions here.
    let text = schema
        .to_string()
        .replace("#/components/schemas/", "#/$defs/");
    Ok(serde_json::from_str(&text)?)
}

impl Operation {
    /// Returns the request of a call, whose arguments match the schema.
    fn request(&self, api: &Api, arguments: &JsonObject) -> Result<FetchRequest> {
        let mut url = format!("{}{}", api.url, self.path);
        let mut query = String::new();
        for (name, value) in arguments {
            let value = encoded(value);
            if self.query.contains(name) {
                let gap = if query.is_empty() { '?' } else { '&' };
                query = format!("{query}{gap}{name}={value}");
            }
            url = url.replace(&format!("{{{name}}}"), &value);
        }
        let url = url + &query;
        Ok(match arguments.get("body").filter(|_| self.is_post) {
            Some(body) => FetchRequest::post(url, "application/json", serde_json::to_vec(body)?),
            None if self.is_post => FetchRequest::post(url, "application/json", ""),
            None => FetchRequest::get(url),
        })
    }
}

/// Encodes a value for a URL, because an argument of a model must not reach another path or another parameter.
fn encoded(value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                encoded.push(byte.into())
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

impl Api {
    /// Sends a request, and returns the text of the response. A failure is an error that the model reads.
    async fn send(&self, mut request: FetchRequest) -> Result<String> {
        // The user names the API, so it may be in the private network.
        request.network = NetworkScope::Private;
        let response = self
            .web
            .fetch(request.header("accept", "application/json"))
            .await?;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        match response.status {
            200..300 => Ok(text),
            status => Err(format!("the API answered with HTTP status {status}: {text}").into()),
        }
    }
}

fn server(document: &str, url: &str) -> Result<Server> {
    let api = Arc::new(Api {
        url: url.trim_end_matches('/').to_owned(),
        web: DocumentClient::new(&HttpClientOptions::default()),
    });
    let tools = tools(&serde_json::from_str(document)?, &api)?;
    let server = Server::new("gateway", env!("CARGO_PKG_VERSION"));
    Ok(tools.into_iter().fold(server, Server::add_tool))
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let file = std::env::var("OPENAPI").unwrap_or_else(|_| "examples/openapi.json".to_owned());
    let url = std::env::var("API").unwrap_or_else(|_| "http://127.0.0.1:9000".to_owned());
    server(&fs::read_to_string(file)?, &url)?.run().await?;
    Ok(())
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

    use super::server;

    const DOCUMENT: &str = include_str!("../../openapi.json");

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
        let mut client = client_of(server(DOCUMENT, &api().await?)?)?;
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
        let mut client = client_of(server(DOCUMENT, &api().await?)?)?;
        for name in ["../ships", "a/b?limit=9", "x#y", ".."] {
            let text = client.call("get_ship", json!({ "name": name })).await?;
            assert!(text.contains("HTTP status 404"), "{text}");
            assert!(text.contains(&format!("no ship {name:?}")), "{text}");
        }
        Ok(())
    }

    #[tokio::test]
    async fn the_schemas_of_the_document_are_enforced() -> pintle::Result<()> {
        // No request is sent, so this address needs no server.
        let mut client = client_of(server(DOCUMENT, "http://127.0.0.1:1")?)?;
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
