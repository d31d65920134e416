//! A client of servers behind a URL, in every revision with HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pintle::client::{Client, EraMode};
use pintle::http::{HttpServer, ServeHttp};
use pintle::model::{Feature, Revision};
use pintle::prelude::*;
use pintle_http::client::{
    EndpointUrl, HttpClient, HttpClientBody, HttpClientError, HttpClientOptions, HttpConnect,
    WebClient,
};
use serde_json::json;
use tokio::time::timeout;

/// A timeout after which a test fails instead of waiting without end.
const PATIENCE: Duration = Duration::from_secs(30);

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("in time")
}

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// A server on its own port; returns its URL.
async fn serve() -> String {
    let server = Server::new("calculator", "1.0.0").tool::<add>();
    let service = server.into_http().expect("a good server");
    let server = HttpServer::bind(service, "127.0.0.1:0")
        .await
        .expect("a port");
    let address = server.address().expect("an address");
    tokio::spawn(server.run_until(std::future::pending()));
    format!("http://{address}/mcp")
}

async fn sum(client: &Client) -> String {
    let call = client.call_tool("add", json!({ "a": 20, "b": 22 }));
    let result = within(call.into_future()).await.expect("a result");
    let result = serde_json::to_value(result).expect("JSON");
    result["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned()
}

// spec: 2026-07-28 N-ERA-09
#[tokio::test]
async fn a_server_behind_an_address_is_found_in_every_revision() {
    let url = serve().await;
    let streamable = Revision::ALL.into_iter();
    let streamable = streamable.filter(|revision| revision.has(Feature::StreamableHttp));
    for mode in streamable
        .map(EraMode::Pinned)
        .chain([EraMode::Auto, EraMode::Legacy])
    {
        let target = HttpConnect::to(&url).expect("a URL");
        let client = within(Client::builder().mode(mode).connect(target)).await;
        let client = client.unwrap_or_else(|why| panic!("{mode:?}: {why}"));
        assert_eq!(sum(&client).await, "42", "{mode:?}");
        let tools = within(client.list_tools().into_future()).await;
        let tools = tools.expect("a list");
        assert_eq!(tools.len(), 1, "{mode:?}");
    }
}

/// The network, in front of a server that forgets its sessions on demand.
struct Forgetful {
    fetch: WebClient,
    forgets: AtomicBool,
    opened: AtomicUsize,
}

impl HttpClient for Forgetful {
    async fn fetch(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpClientError> {
        let opens = request
            .body()
            .windows(12)
            .any(|text| text == b"\"initialize\"");
        if opens {
            self.opened.fetch_add(1, Ordering::SeqCst);
            self.forgets.store(false, Ordering::SeqCst);
        }
        let is_named = request.headers().contains_key("mcp-session-id");
        if is_named && self.forgets.load(Ordering::SeqCst) {
            let mut forgotten = Response::new(HttpClientBody::whole(""));
            *forgotten.status_mut() = StatusCode::NOT_FOUND;
            return Ok(forgotten);
        }
        self.fetch.fetch(request).await
    }
}

// spec: 2025-11-25 TRANS-SESS-09
// hardening: H-160
#[tokio::test]
async fn a_session_that_the_server_forgot_is_opened_again_once() {
    let url = EndpointUrl::parse(&serve().await).expect("a URL");
    let options = HttpClientOptions::default();
    let network = Arc::new(Forgetful {
        fetch: WebClient::new(&options),
        forgets: AtomicBool::new(false),
        opened: AtomicUsize::new(0),
    });
    let target = HttpConnect::over(Arc::clone(&network), url, &options).expect("no header");
    let client = within(Client::builder().mode(EraMode::Legacy).connect(target)).await;
    let client = client.expect("a conversation");
    for opened in 1..4 {
        assert_eq!(sum(&client).await, "42");
        assert_eq!(network.opened.load(Ordering::SeqCst), opened);
        network.forgets.store(true, Ordering::SeqCst);
    }
}

/// A modern server of two tools; one of them declares a header of a type that headers cannot hold.
struct Careless;

impl HttpClient for Careless {
    async fn fetch(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpClientError> {
        let asked: serde_json::Value = serde_json::from_slice(request.body()).expect("a message");
        let tool = |name: &str, kind: &str| {
            let size = json!({ "type": kind, "x-mcp-header": "Size" });
            json!({ "name": name, "inputSchema": { "type": "object", "properties": { "size": size } } })
        };
        let result = match asked["method"].as_str() {
            Some("server/discover") => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "serverInfo": { "name": "careless", "version": "0" }, "ttlMs": 0, "cacheScope": "private",
            }),
            _ => json!({
                "resultType": "complete", "tools": [tool("bad", "number"), tool("good", "integer")],
                "ttlMs": 0, "cacheScope": "private",
            }),
        };
        let body = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string();
        let mut response = Response::new(HttpClientBody::whole(body));
        let json = http::HeaderValue::from_static("application/json");
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, json);
        Ok(response)
    }
}

// spec: 2026-07-28 N-XHDR-07
#[tokio::test]
async fn a_tool_that_no_header_can_repeat_is_left_out_and_named() {
    let url = EndpointUrl::parse("https://careless.example/mcp").expect("a URL");
    let options = HttpClientOptions::default();
    let target = HttpConnect::over(Careless, url, &options).expect("no header");
    let client = within(Client::connect(target))
        .await
        .expect("a conversation");
    let tools = within(client.list_tools().into_future())
        .await
        .expect("a list");
    let names: Vec<&str> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good"]);
    assert_eq!(tools.spoiled[0].name.as_deref(), Some("bad"));
}
