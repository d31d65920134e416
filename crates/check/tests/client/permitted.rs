//! Clients that do an unusual thing which the specification permits. No check fails.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request};
use pintle_check::{CheckOptions, Report, Visitor, check_client};
use pintle_http::client::{BoxIo, HttpClient as _, HttpClientOptions, WebClient};
use pintle_model::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};

use super::{findings, has_failed};

const MODERN: Revision = Revision::V2026_07_28;
const LEGACY: Revision = Revision::V2025_11_25;

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": MODERN.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "toy", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test(start_paused = true)]
async fn a_client_may_probe_in_a_process_of_its_own() {
    let visitor = Visitor::stdio(|server| {
        Box::pin(async move {
            for method in ["server/discover", "tools/list"] {
                let (near, far) = duplex(1 << 22);
                let server = server.clone();
                let serving = tokio::spawn(async move { server.serve(BoxIo::new(far)).await });
                let mut near = BufReader::new(near);
                let line = format!("{}\n", modern(1, method, json!({})));
                near.write_all(line.as_bytes()).await.expect("open");
                let mut answer = String::new();
                near.read_line(&mut answer).await.expect("an answer");
                drop(near);
                serving.await.expect("served");
            }
            true
        })
    });
    let mut options = CheckOptions::default();
    options.revisions = vec![MODERN];
    let report = check_client(&visitor, options).await.expect("a report");
    passes(&report, "client-discover-first");
}

fn passes(report: &Report, id: &str) {
    let findings = findings(report, id);
    assert!(
        findings.iter().any(|finding| finding.was_made()) && !has_failed(report, id),
        "{findings:#?}"
    );
}

/// Sends a request, with these headers beside those of each request.
async fn send(url: &str, method: Method, body: &Value, headers: &[(&'static str, &str)]) {
    let body = match body {
        Value::Null => Bytes::new(),
        body => body.to_string().into(),
    };
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = url.parse().expect("a URL");
    let both = ("accept", "application/json, text/event-stream");
    let head = [both, ("content-type", "application/json")];
    for (name, value) in head.iter().chain(headers) {
        let value = HeaderValue::from_str(value).expect("a value");
        let name = HeaderName::from_static(name);
        request.headers_mut().append(name, value);
    }
    let client = WebClient::new(&HttpClientOptions::default());
    // The head of a response arrives after the request was read.
    drop(client.fetch(request).await);
}

async fn report_of(revision: Revision, visitor: Visitor) -> Report {
    let mut options = CheckOptions::default();
    options.revisions = vec![revision];
    check_client(&visitor, options).await.expect("a report")
}

#[tokio::test]
async fn a_client_that_cannot_read_a_list_repeats_no_argument() {
    let visitor = Visitor::http(|url| {
        Box::pin(async move {
            let is_usual = url.ends_with("/plain") || url.ends_with("/bare");
            let call = modern(
                2,
                "tools/call",
                json!({ "name": "region", "arguments": { "region": "a" } }),
            );
            let version = ("mcp-protocol-version", MODERN.as_str());
            let list = modern(1, "tools/list", json!({ "cursor": "" }));
            let method = ("mcp-method", "tools/list");
            send(&url, Method::POST, &list, &[version, method]).await;
            let mut headers = vec![
                version,
                ("mcp-method", "tools/call"),
                ("mcp-name", "region"),
            ];
            headers.extend(is_usual.then_some(("mcp-param-region", "a")));
            send(&url, Method::POST, &call, &headers).await;
            true
        })
    });
    let report = report_of(MODERN, visitor).await;
    passes(&report, "client-header-param");
}

#[tokio::test]
async fn a_client_that_cannot_read_a_handshake_names_no_revision() {
    let visitor = Visitor::http(|url| {
        Box::pin(async move {
            let params = json!({ "protocolVersion": LEGACY.as_str(), "capabilities": {},
                "clientInfo": { "name": "toy", "version": "1" } });
            let initialize =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
            send(&url, Method::POST, &initialize, &[]).await;
            if !url.ends_with("/plain") {
                send(&url, Method::DELETE, &Value::Null, &[]).await;
                return false;
            }
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let version = ("mcp-protocol-version", LEGACY.as_str());
            send(&url, Method::POST, &initialized, &[version]).await;
            true
        })
    });
    let report = report_of(LEGACY, visitor).await;
    passes(&report, "client-version-header");
}
