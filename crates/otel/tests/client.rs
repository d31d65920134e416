//! Spans and measurements of a client, and the trace that both ends share.

use std::time::Duration;

use opentelemetry::baggage::BaggageExt as _;
use opentelemetry::trace::{FutureExt as _, SpanKind};
use opentelemetry::{Context, KeyValue};
use pintle::model::Revision;
use serde_json::json;

use crate::desk::{REVISIONS, Recorded, attribute, client};

#[tokio::test]
async fn a_client_and_a_server_share_a_trace_in_every_era() {
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let client = client(&recorded, revision).await;
        client
            .call_tool("add", json!({ "a": 1, "b": 2 }))
            .await
            .expect("a sum");
        let sent = recorded.span(&SpanKind::Client, "tools/call add");
        let served = recorded.span(&SpanKind::Server, "tools/call add");
        assert_eq!(sent.span_context.trace_id(), served.span_context.trace_id());
        assert_eq!(served.parent_span_id, sent.span_context.span_id());
        assert!(served.parent_span_is_remote, "the context was in `_meta`");
        let version = attribute(&sent, "mcp.protocol.version");
        assert_eq!(version.as_deref(), Some(revision.as_str()));
    }
}

#[tokio::test]
async fn baggage_of_the_client_reaches_the_handler() {
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let client = client(&recorded, revision).await;
        let cx = Context::new().with_baggage([KeyValue::new("tenant", "blue")]);
        let call = async { client.call_tool("tenant", json!({})).await };
        let result = call.with_context(cx).await.expect("a result");
        let text = serde_json::to_string(&result.content).expect("JSON");
        assert!(text.contains("blue"), "{text}");
    }
}

#[tokio::test]
async fn a_trace_parent_of_the_caller_is_not_replaced() {
    let recorded = Recorded::new();
    let client = client(&recorded, Revision::V2026_07_28).await;
    let call = client.call_tool("add", json!({ "a": 1, "b": 2 }));
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    call.meta("traceparent", parent).await.expect("a sum");
    let served = recorded.span(&SpanKind::Server, "tools/call add");
    assert_eq!(served.parent_span_id.to_string(), "b7ad6b7169203331");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_is_measured_as_a_timeout() {
    let recorded = Recorded::new();
    let client = client(&recorded, Revision::V2026_07_28).await;
    let call = client
        .call_tool("hang", json!({}))
        .timeout(Duration::from_secs(1));
    call.await.expect_err("a timeout");
    let (_, series) = recorded.histogram("mcp.client.operation.duration");
    let text = format!("{series:?}");
    assert!(text.contains("error.type=timeout"), "{text}");
}

#[tokio::test]
async fn the_duration_of_a_conversation_is_measured_when_it_ends() {
    const DURATION: &str = "mcp.client.session.duration";
    for revision in REVISIONS {
        let recorded = Recorded::new();
        let client = client(&recorded, revision).await;
        assert_eq!(recorded.histogram(DURATION).1, [], "it is open");
        client.close().await;
        while recorded.histogram(DURATION).1.is_empty() {
            tokio::task::yield_now().await;
        }
        let (_, series) = recorded.histogram(DURATION);
        let version = format!("mcp.protocol.version={revision}");
        let expected = vec![version, "network.transport=pipe".to_owned()];
        assert_eq!(series, [(expected, 1)]);
    }
}
