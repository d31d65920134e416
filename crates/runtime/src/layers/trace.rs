//! A layer with a `tracing` span for each request to a server. Its fields follow the OpenTelemetry
//! conventions for MCP.

use std::borrow::Cow;
use std::fmt;

use pintle_model::Error;
use pintle_model::jsonrpc::Member;
use pintle_model::method::{CallTool, GetPrompt, Method as _};
use pintle_model::names::check_tool_name;
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

/// A service whose requests each have a span, at debug level. Arguments and results are never recorded.
///
/// `otel.name` is the method, with the name of the tool or of the prompt. `otel.kind` is `server`.
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
        otel.name = %SpanName(request),
        otel.kind = "server",
        mcp.method.name = request.method.as_str(),
        mcp.protocol.version = request.terms.revision.as_str(),
        traceparent = trace.and_then(|trace| trace.parent.as_deref()),
        rpc.response.status_code = field::Empty,
    )
}

/// The name of a span: `{method}`, or `{method} {target}`.
struct SpanName<'r>(&'r IncomingRequest);

impl SpanName<'_> {
    /// The tool or the prompt. Other text than a name is left out, because the peer chooses it.
    fn target(&self) -> Option<Cow<'_, str>> {
        let is_named = matches!(self.0.method.as_str(), CallTool::NAME | GetPrompt::NAME);
        let members = self.0.params.members().filter(|_| is_named)?;
        let name = members.get(Member::Name)?.as_text()?;
        check_tool_name(&name).is_ok().then_some(name)
    }
}

impl fmt::Display for SpanName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.method.as_str())?;
        match self.target() {
            Some(target) => write!(f, " {target}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pintle_model::Revision;
    use pintle_model::method::ReadResource;
    use pintle_proto::{RequestKey, Terms};
    use serde_json::value::to_raw_value;

    use super::*;

    fn name_of(method: &'static str, params: &serde_json::Value) -> String {
        let terms = Arc::new(Terms::new(Revision::V2026_07_28));
        let mut request = IncomingRequest::new(RequestKey::NONE, method.into(), terms);
        request.params = to_raw_value(params).expect("JSON").as_ref().into();
        SpanName(&request).to_string()
    }

    #[test]
    fn a_span_name_has_the_method_and_a_valid_target() {
        let name = serde_json::json!({ "name": "echo", "uri": "file:///a" });
        assert_eq!(name_of(CallTool::NAME, &name), "tools/call echo");
        assert_eq!(name_of(GetPrompt::NAME, &name), "prompts/get echo");
        assert_eq!(name_of(ReadResource::NAME, &name), "resources/read");
        for name in ["a\nb", "", &"a".repeat(129)] {
            let params = serde_json::json!({ "name": name });
            assert_eq!(name_of(CallTool::NAME, &params), "tools/call", "{name:?}");
        }
    }
}
