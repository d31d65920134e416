//! Spans and measurements of a server.

use std::time::Duration;

use opentelemetry::trace::{SpanKind, Status};
use pintle::model::Revision;
use pintle_otel::TelemetryOptions;
use serde_json::json;

use crate::desk::{REVISIONS, Recorded, attribute, client};

const DURATION: &str = "mcp.server.operation.duration";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

#[tokio::test]
async fn a_server_span_continues_the_trace_of_the_request() {
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let client = client(&recorded, revision).await;
        let call = client.call_tool("add", json!({ "a": 1, "b": 2 }));
        let call = call.meta("traceparent", format!("00-{TRACE}-{PARENT}-01"));
        call.meta("tracestate", "k=v").await.expect("a sum");
        let span = recorded.span(&SpanKind::Server, "tools/call add");
        assert_eq!(span.span_kind, SpanKind::Server);
        assert_eq!(span.span_context.trace_id().to_string(), TRACE);
        assert_eq!(span.span_context.trace_state().get("k"), Some("v"));
        assert_eq!(span.parent_span_id.to_string(), PARENT);
        assert!(span.parent_span_is_remote);
        assert_eq!(span.status, Status::Unset);
    }
}

#[tokio::test]
async fn a_server_span_has_the_attributes_of_the_conventions() {
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let client = client(&recorded, revision).await;
        client
            .call_tool("add", json!({ "a": 1, "b": 2 }))
            .await
            .expect("a sum");
        let span = recorded.span(&SpanKind::Server, "tools/call add");
        let expected = [
            ("mcp.method.name", "tools/call"),
            ("mcp.protocol.version", revision.as_str()),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "add"),
            ("network.transport", "pipe"),
        ];
        for (key, value) in expected {
            assert_eq!(attribute(&span, key).as_deref(), Some(value), "{key}");
        }
        let id = attribute(&span, "jsonrpc.request.id").expect("an id");
        assert!(id.parse::<u64>().is_ok(), "{id}");
        assert_eq!(attribute(&span, "error.type"), None);
    }
}

#[tokio::test]
async fn a_tool_result_with_an_error_is_a_tool_error() {
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let client = client(&recorded, revision).await;
        client.call_tool("fail", json!({})).await.expect("a result");
        let span = recorded.span(&SpanKind::Server, "tools/call fail");
        assert_eq!(
            attribute(&span, "error.type").as_deref(),
            Some("tool_error")
        );
        assert_eq!(span.status, Status::error(""));
    }
}

#[tokio::test]
async fn the_histogram_has_the_boundaries_and_attributes_of_the_conventions() {
    let recorded = Recorded::new();
    let client = client(&recorded, Revision::V2026_07_28).await;
    client
        .call_tool("add", json!({ "a": 1, "b": 2 }))
        .await
        .expect("a sum");
    client
        .call_tool("add", json!({ "a": 1, "b": 2 }))
        .await
        .expect("a sum");
    let (bounds, series) = recorded.histogram(DURATION);
    let expected = [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
    ];
    assert_eq!(bounds, expected);
    let calls = [
        "gen_ai.operation.name=execute_tool",
        "gen_ai.tool.name=add",
        "mcp.method.name=tools/call",
        "mcp.protocol.version=2026-07-28",
        "network.transport=pipe",
    ];
    let calls = (calls.map(str::to_owned).to_vec(), 2);
    assert!(series.contains(&calls), "{series:?}");
}

#[tokio::test]
async fn a_tool_that_the_server_lacks_is_not_in_metrics() {
    let recorded = Recorded::new();
    let client = client(&recorded, Revision::V2026_07_28).await;
    for name in ["invented-1", "invented-2"] {
        client
            .call_tool(name, json!({}))
            .await
            .expect_err("an unknown tool");
    }
    let (_, series) = recorded.histogram(DURATION);
    let failed: Vec<_> = series
        .iter()
        .filter(|(pairs, _)| pairs.contains(&"error.type=-32602".to_owned()))
        .collect();
    assert!(matches!(failed[..], [(_, 2)]), "one series: {series:?}");
    assert!(!format!("{series:?}").contains("invented"), "{series:?}");
    assert!(
        recorded
            .spans()
            .iter()
            .all(|span| !span.name.contains("invented"))
    );
}

#[tokio::test]
async fn tools_beyond_the_limit_are_measured_without_their_names() {
    let mut options = TelemetryOptions::default();
    options.max_metric_names = 1;
    let recorded = Recorded::with_options(&options);
    let client = client(&recorded, Revision::V2026_07_28).await;
    client
        .call_tool("add", json!({ "a": 1, "b": 2 }))
        .await
        .expect("a sum");
    client.call_tool("fail", json!({})).await.expect("a result");
    let text = format!("{:?}", recorded.histogram(DURATION));
    assert!(text.contains("gen_ai.tool.name=add"), "{text}");
    assert!(!text.contains("gen_ai.tool.name=fail"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_ends_its_span() {
    let recorded = Recorded::new();
    let client = client(&recorded, Revision::V2026_07_28).await;
    let call = client
        .call_tool("hang", json!({}))
        .timeout(Duration::from_secs(1));
    call.await.expect_err("a timeout");
    client.close().await;
    let span = recorded.spans().into_iter().find(|span| {
        span.span_kind == SpanKind::Server
            && attribute(span, "gen_ai.tool.name").as_deref() == Some("hang")
    });
    let span = span.expect("the span has ended");
    assert_eq!(attribute(&span, "error.type").as_deref(), Some("cancelled"));
}
