//! A span per request, named by the OpenTelemetry conventions for MCP.

use pintle_model::Error;
use pintle_proto::{IncomingRequest, Reply};
use tower_layer::Layer;
use tracing::{Instrument, Span, debug_span, field};

use super::delegate_to_inner;
use crate::context::Context;
use crate::service::Service;

/// Layer that wraps a service in [`Trace`].
#[derive(Debug, Clone, Copy, Default)]
pub struct TraceLayer;

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Trace<S> {
        Trace { inner }
    }
}

/// A service whose requests each have a span, at debug level. Payloads are never recorded.
#[derive(Debug, Clone)]
pub struct Trace<S> {
    inner: S,
}

impl<S: Service> Service for Trace<S> {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let span = span_of(cx.request());
        let answer = self.inner.call(cx).instrument(span.clone()).await;
        if let Err(error) = &answer {
            span.record("rpc.response.status_code", error.code.0);
        }
        answer
    }

    delegate_to_inner!();
}

fn span_of(request: &IncomingRequest) -> Span {
    let trace = request.terms.trace.as_ref();
    debug_span!(
        "mcp.server",
        mcp.method.name = request.method.as_str(),
        mcp.protocol.version = request.terms.revision.as_str(),
        traceparent = trace.and_then(|trace| trace.parent.as_deref()),
        rpc.response.status_code = field::Empty,
    )
}
