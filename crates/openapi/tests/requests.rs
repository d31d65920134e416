//! The requests of calls, and their results.

use std::sync::Mutex;
use std::time::Duration;

use pintle_openapi::{OpenApi, OpenApiCallError, OpenApiLimits};
use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse, NetworkScope};
use serde_json::{Value, json};

use crate::{document, of};

/// Records requests, and answers each with one response.
struct Recorder {
    response: FetchResponse,
    requests: Mutex<Vec<FetchRequest>>,
}

impl Recorder {
    fn new(status: u16, body: &'static [u8]) -> Self {
        Self {
            response: FetchResponse::new(status, body),
            requests: Mutex::default(),
        }
    }
}

impl Fetch for Recorder {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        self.requests.lock().expect("no panic").push(request);
        Ok(self.response.clone())
    }
}

/// Calls the first operation, and returns its request.
async fn request(api: &OpenApi, arguments: Value) -> Result<FetchRequest, OpenApiCallError> {
    let fetch = Recorder::new(200, b"ok");
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let operations = api.operations().expect("an operation");
    operations[0].call(&fetch, &arguments).await?;
    Ok(fetch.requests.lock().expect("no panic").remove(0))
}

fn ship() -> OpenApi {
    let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "required": place == "path", "schema": {} });
    document(json!({ "/ships/{name}/moves.{form}": { "patch": {
        "parameters": [
            parameter("name", "path"),
            parameter("form", "path"),
            parameter("flags", "query"),
            parameter("X-Trace", "header"),
        ],
        "requestBody": { "content": { "application/merge-patch+json": { "schema": { "type": "object" } } } },
    } } }))
}

#[tokio::test]
async fn arguments_are_in_the_path_the_query_the_headers_and_the_body() {
    let arguments = json!({ "name": "a b", "form": "x", "flags": ["NL", "D&E"], "X-Trace": "7", "body": { "berth": 4 } });
    let request = request(&ship(), arguments).await.expect("a request");
    assert_eq!(request.method, "PATCH");
    assert_eq!(
        request.url,
        "https://api.example.com/v1/ships/a%20b/moves.x?flags=NL&flags=D%26E"
    );
    assert_eq!(&request.body[..], br#"{"berth":4}"#);
    let header = |name: &str| {
        let found = request.headers.iter().find(|(own, _)| **own == *name);
        found.map(|(_, value)| &**value)
    };
    assert_eq!(header("x-trace"), Some("7"));
    assert_eq!(header("content-type"), Some("application/merge-patch+json"));
}

#[tokio::test]
async fn an_argument_cannot_leave_its_place() {
    for name in [
        "a/b",
        "../x",
        "a?b=c",
        "a#b",
        "//evil.example",
        "a%2f..",
        "@evil.example",
        "a\\b",
        "\u{e9}",
    ] {
        let request = request(&ship(), json!({ "name": name, "form": "x" }))
            .await
            .expect("a request");
        let path = request
            .url
            .strip_prefix("https://api.example.com/v1/ships/")
            .expect("the base URL");
        assert_eq!(path.matches('/').count(), 1, "{path}");
        assert!(!path.contains(['?', '#', '\\', '@']), "{path}");
    }
    let api = document(json!({ "/files/{a}{b}": { "get": { "parameters": [
        { "name": "a", "in": "path", "schema": {} },
        { "name": "b", "in": "path", "schema": {} },
    ] } } }));
    for arguments in [
        json!({ "a": ".", "b": "." }),
        json!({ "a": "", "b": "x" }),
        json!({ "a": null, "b": "x" }),
        json!({ "a": [], "b": "x" }),
    ] {
        let refused = request(&api, arguments.clone()).await;
        assert!(
            matches!(refused, Err(OpenApiCallError::Argument { .. })),
            "{arguments}"
        );
    }
    for value in ["a\r\nhost: b", "\u{e9}", "a\0"] {
        let refused = request(
            &ship(),
            json!({ "name": "a", "form": "b", "X-Trace": value }),
        )
        .await;
        assert!(
            matches!(refused, Err(OpenApiCallError::Argument { .. })),
            "{value:?}"
        );
    }
}

#[tokio::test]
async fn members_of_an_object_are_parameters_that_replace_no_other() {
    let api = document(json!({ "/x": { "get": { "parameters": [
        { "name": "where", "in": "query", "schema": {} },
        { "name": "page", "in": "query", "schema": {} },
        { "name": "deep", "in": "query", "style": "deepObject", "schema": {} },
    ] } } }))
    .query("key", "secret");
    let request_of = async |arguments| request(&api, arguments).await;
    let sent = request_of(json!({ "where": { "flag": "N&L" }, "deep": { "a": 1 }, "page": null }))
        .await
        .expect("a request");
    let query = sent
        .url
        .split_once('?')
        .map(|(_, query)| query.to_owned())
        .expect("a query");
    assert_eq!(query, "deep%5Ba%5D=1&flag=N%26L&key=secret");
    for member in ["page", "key"] {
        assert!(
            request_of(json!({ "where": { member: 1 } })).await.is_err(),
            "{member}"
        );
    }
}

#[tokio::test]
async fn a_request_has_the_bounds_and_the_network_of_its_api() {
    let mut limits = OpenApiLimits::default();
    (limits.max_response_bytes, limits.request_timeout) = (7, Duration::from_secs(2));
    let arguments = || json!({ "name": "a", "form": "b" });
    let sent = request(
        &ship().limits(limits).header("X-Key", "secret"),
        arguments(),
    )
    .await
    .expect("a request");
    assert_eq!((sent.max_bytes, sent.timeout), (7, Duration::from_secs(2)));
    assert_eq!(sent.network, NetworkScope::Private);
    assert!(
        sent.headers
            .iter()
            .any(|(name, value)| **name == *"x-key" && **value == *"secret")
    );

    let servers = json!([{ "url": "https://harbour.example" }]);
    let document =
        json!({ "openapi": "3.1.0", "servers": servers, "paths": { "/x": { "get": {} } } });
    let api = OpenApi::from_value(document)
        .expect("a document")
        .server_of_document();
    let sent = request(&api, json!({})).await.expect("a request");
    assert_eq!(
        (sent.url.as_str(), sent.network),
        ("https://harbour.example/x", NetworkScope::Public)
    );
    let sent = request(&api.network(NetworkScope::Private), json!({}))
        .await
        .expect("a request");
    assert_eq!(sent.network, NetworkScope::Private);
}

#[tokio::test]
async fn a_response_is_text_or_an_error_that_names_the_status() {
    let api = of(json!({ "openapi": "3.1.0", "paths": { "/x": { "get": {} } } }));
    let operations = api.operations().expect("one");
    let mut texts = Vec::new();
    for (status, body) in [
        (200, &b"ok"[..]),
        (204, b""),
        (302, b""),
        (404, b"no ship"),
        (200, b"\xff"),
    ] {
        let called = operations[0]
            .call(&Recorder::new(status, body), &Default::default())
            .await;
        texts.push(called.unwrap_or_else(|error| error.to_string()));
    }
    let expected = [
        "ok",
        "done (HTTP status 204)",
        "the API redirects (HTTP status 302), which is not followed",
        "the API responded with HTTP status 404: no ship",
        "the response of the API is not text",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn secrets_are_not_in_debug_output() {
    let shown = format!(
        "{:?}",
        ship().header("X-Key", "hunter2").query("key", "hunter2")
    );
    assert!(!shown.contains("hunter2") && shown.contains("X-Key"));
}
