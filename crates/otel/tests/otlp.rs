//! Exports to a collector.

use std::time::{Duration, Instant};

use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::model::Revision;
use pintle_otel::{ExportError, Exports};
use serde_json::json;
use tokio::net::TcpListener;

use crate::collector::Collector;
use crate::desk::{client_of, server_of};

const TIMEOUT: Duration = Duration::from_secs(30);

fn exports(url: &str) -> Exports {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let exports = Exports::builder("desk", "1.0.0").otlp(Some(url), fetch);
    exports.expect("valid settings").build()
}

#[tokio::test]
async fn a_shutdown_exports_spans_and_metrics() {
    let mut collector = Collector::start().await;
    let exports = exports(&collector.url);
    let client = client_of(exports.telemetry(), Revision::V2026_07_28).await;
    let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
    sum.expect("a sum");
    exports.shutdown(TIMEOUT).await.expect("a collector");
    let received = collector.exports();
    let spans: Vec<_> = received.iter().filter_map(|it| it.spans()).collect();
    let spans = format!("{spans:?}");
    assert!(spans.contains("\"tools/call add\""), "{spans}");
    assert!(
        spans.contains("service.name") && spans.contains("\"desk\""),
        "{spans}"
    );
    let metrics: Vec<_> = received.iter().filter_map(|it| it.metrics()).collect();
    let metrics = format!("{metrics:?}");
    assert!(
        metrics.contains("mcp.server.operation.duration"),
        "{metrics}"
    );
    assert!(
        metrics.contains("mcp.client.operation.duration"),
        "{metrics}"
    );
    assert!(received[0].head.contains("application/x-protobuf"));
}

#[tokio::test]
async fn a_shutdown_ends_in_time_if_the_collector_does_not_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = silent.local_addr().expect("an address");
    let exports = exports(&format!("http://{address}"));
    let server = server_of(exports.telemetry());
    let client = pintle::client::Client::builder().connect(server).await;
    client
        .expect("a server")
        .list_tools()
        .await
        .expect("a list");
    let (began, limit) = (Instant::now(), Duration::from_millis(200));
    let error = exports.shutdown(limit).await.expect_err("no answer");
    assert_eq!(error, ExportError::TimedOut(limit));
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn otlp_outside_of_a_runtime_is_an_error() {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let error = Exports::builder("desk", "1").otlp(None, fetch);
    assert_eq!(error.expect_err("no runtime"), ExportError::NoRuntime);
}

#[tokio::test]
async fn an_endpoint_that_is_not_a_url_is_an_error() {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let error = Exports::builder("desk", "1").otlp(Some("http://[oops"), fetch);
    assert!(matches!(error, Err(ExportError::Setting(_))), "{error:?}");
}
