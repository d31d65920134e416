//! Metrics as the text of Prometheus.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Method, Response};
use pintle::model::Revision;
use pintle_otel::{Exports, MetricsServer, MetricsText, TelemetryOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::desk::client_of;

fn exports(options: TelemetryOptions) -> Exports {
    let exports = Exports::builder("desk", "1.0.0").options(options);
    exports.prometheus().expect("a registry").build()
}

async fn text_of_a_call(options: TelemetryOptions, name: &str) -> (Exports, String) {
    let exports = exports(options);
    let client = client_of(exports.telemetry(), Revision::V2026_07_28).await;
    let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
    sum.expect("a sum");
    // The call of an unknown tool fails.
    let _ = client.call_tool(name, json!({})).await;
    let text = exports.metrics().expect("metrics").render();
    (exports, text.expect("text"))
}

#[tokio::test]
async fn the_text_has_the_histograms_in_seconds() {
    let (_exports, text) = text_of_a_call(TelemetryOptions::default(), "add").await;
    let histogram = "mcp_server_operation_duration_seconds";
    assert!(
        text.contains(&format!("# TYPE {histogram} histogram")),
        "{text}"
    );
    let is_count = |line: &&str| {
        line.starts_with(&format!("{histogram}_count"))
            && line.contains(r#"mcp_method_name="tools/call""#)
            && line.contains(r#"gen_ai_tool_name="add""#)
    };
    assert!(text.lines().any(|line| is_count(&line)), "{text}");
    assert!(
        text.contains(r#"le="0.01""#) && text.contains(r#"le="300""#),
        "{text}"
    );
    assert!(text.contains(r#"service_name="desk""#), "{text}");
}

#[tokio::test]
async fn names_that_a_client_invents_are_not_labels() {
    let (_exports, text) = text_of_a_call(TelemetryOptions::default(), "invented").await;
    let served = text
        .lines()
        .filter(|line| line.contains("mcp_server_operation"));
    let served: String = served.collect();
    assert!(served.contains(r#"error_type="-32602""#), "{text}");
    assert!(!served.contains("invented"), "{text}");
}

#[tokio::test]
async fn names_beyond_the_limit_are_not_labels() {
    let mut options = TelemetryOptions::default();
    options.max_metric_names = 0;
    let (_exports, text) = text_of_a_call(options, "add").await;
    assert!(!text.contains("gen_ai_tool_name"), "{text}");
}

async fn get(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a listener");
    let head = format!("{request} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("a listener");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test]
async fn a_listener_answers_with_the_metrics_and_nothing_else() {
    let (exports, _) = text_of_a_call(TelemetryOptions::default(), "add").await;
    let metrics = exports.metrics().expect("metrics").clone();
    let server = MetricsServer::bind("127.0.0.1:0", metrics).await;
    let server = server
        .expect("a port")
        .other_paths(|method, uri| async move {
            let is_health = method == Method::GET && uri.path() == "/healthz";
            is_health.then(|| Response::new(Bytes::from_static(b"ok")))
        });
    let address = server.address().expect("an address");
    let run = tokio::spawn(server.run());
    let answer = get(address, "GET /metrics").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(MetricsText::CONTENT_TYPE), "{answer}");
    assert!(answer.contains("mcp_client_operation_duration_seconds_bucket"));
    assert!(get(address, "GET /").await.starts_with("HTTP/1.1 404"));
    let health = get(address, "GET /healthz").await;
    assert!(health.ends_with("\r\n\r\nok"), "{health}");
    let refused = get(address, "POST /metrics").await;
    assert!(refused.starts_with("HTTP/1.1 405"), "{refused}");
    run.abort();
}
