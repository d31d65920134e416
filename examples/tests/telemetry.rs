//! The example with telemetry: a collector on this machine, and the files for operators.

use std::collections::BTreeSet;
use std::process::Stdio;

use pintle::client::Client as PintleClient;
use pintle::otel::Exports;
use pintle::prelude::*;
use pintle_examples::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

/// Reads one export, and answers it. Returns the request as text.
async fn collect(mut stream: TcpStream) -> String {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut part).await.expect("a request");
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let length = text.split_once("content-length: ");
        let length = length.and_then(|(_, rest)| rest.lines().next()?.parse::<usize>().ok());
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n");
        if let (Some(length), Some(head)) = (length, head)
            && bytes.len() >= head + 4 + length
        {
            break;
        }
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer).await.expect("a client");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn a_call_has_a_span_at_the_collector_and_a_line_in_the_audit_log() {
    let collector = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = collector.local_addr().expect("an address");
    let mut child = Command::new(env!("CARGO_BIN_EXE_telemetry"))
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("starts");
    let reader = child.stdout.take().expect("piped");
    let mut client = Client::new(reader, child.stdin.take().expect("piped"));
    let sum = client.call("add", json!({ "a": 20, "b": 22 })).await;
    assert_eq!(sum.expect("a sum"), "42");
    drop(client);
    let mut exports = Vec::new();
    while exports.len() < 2 {
        let (stream, _) = collector.accept().await.expect("the program");
        exports.push(collect(stream).await);
    }
    let spans = exports.iter().find(|text| text.contains("POST /v1/traces"));
    let spans = spans.expect("an export of spans");
    assert!(spans.contains("tools/call add") && spans.contains("calculator"));
    assert!(exports.iter().any(|text| text.contains("POST /v1/metrics")));
    let output = child.wait_with_output().await.expect("ends");
    let log = String::from_utf8_lossy(&output.stderr);
    let line = log.lines().find(|line| line.contains("tools/call"));
    let line: Value = serde_json::from_str(line.expect("a line")).expect("JSON");
    assert_eq!(line["outcome"], "ok");
    assert_eq!(line["trace"].as_str().map(str::len), Some(32));
}

/// Adds two numbers.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns the metrics of a server and its client after a call and a failure, as the text of Prometheus.
async fn metrics() -> String {
    let exports = Exports::builder("calculator", "1").prometheus();
    let exports = exports.expect("a registry").build();
    let telemetry = exports.telemetry();
    let server = Server::new("calculator", "1").tool::<add>();
    let client = PintleClient::builder().observer(telemetry.client_observer());
    let client = client.connect(server.layer(telemetry.server_layer())).await;
    let client = client.expect("a server");
    let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
    sum.expect("a sum");
    let absent = client.call_tool("absent", json!({})).await;
    absent.expect_err("an unknown tool");
    exports.metrics().expect("metrics").render().expect("text")
}

#[tokio::test]
async fn each_metric_and_label_of_the_dashboard_exists() {
    let text = include_str!("../telemetry/dashboard.json");
    let dashboard: Value = serde_json::from_str(text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().map(|panel| &panel["targets"][0]["expr"]);
    let queries: Vec<_> = targets
        .map(|expr| expr.as_str().expect("a query"))
        .collect();
    let words = queries.iter().flat_map(|query| {
        query.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
    });
    let prefixes = ["mcp_", "gen_ai_", "error_"];
    let names: BTreeSet<_> = words
        .filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)))
        .collect();
    assert!(names.len() >= 6, "{names:?}");
    let metrics = metrics().await;
    for name in names {
        assert!(metrics.contains(name), "{name} is not in: {metrics}");
    }
}
