//! A request that runs, at either end: its span and its measurement.

use std::time::Instant;

use opentelemetry::metrics::Histogram;
use opentelemetry::trace::{Link, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use pintle_model::RequestId;

use crate::attributes as key;
use crate::operation::{End, Target, span_name};
use crate::telemetry::{Inner, Telemetry};

/// The attribute of a JSON-RPC id.
pub(crate) fn request_id(id: &RequestId) -> KeyValue {
    let id = match id {
        RequestId::Integer(number) => number.to_string(),
        RequestId::String(text) => text.to_string(),
    };
    KeyValue::new(key::REQUEST_ID, id)
}

/// The end of the conversation that observes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    fn kind(self) -> SpanKind {
        match self {
            Self::Client => SpanKind::Client,
            Self::Server => SpanKind::Server,
        }
    }

    fn histogram(self, inner: &Inner) -> &Histogram<f64> {
        match self {
            Self::Client => &inner.instruments.client_operation,
            Self::Server => &inner.instruments.server_operation,
        }
    }
}

/// A request when its observation begins.
pub(crate) struct Begun {
    pub(crate) side: Side,
    pub(crate) method: String,
    pub(crate) target: Target,
    /// The attributes that spans and metrics share.
    pub(crate) common: Vec<KeyValue>,
    /// The attributes of the span alone.
    pub(crate) identifiers: Vec<KeyValue>,
}

impl Begun {
    fn span_attributes(&self) -> Vec<KeyValue> {
        let mut attributes = self.common.clone();
        attributes.push(KeyValue::new(key::METHOD, self.method.clone()));
        attributes.extend(self.target.span_attributes());
        attributes.extend(self.identifiers.iter().cloned());
        attributes
    }
}

/// A request that runs. Dropping it before its end records that the request was cancelled.
pub(crate) struct Running {
    telemetry: Telemetry,
    trace: Context,
    started: Instant,
    begun: Begun,
    is_ended: bool,
}

impl Running {
    /// Begins the span of a request as a child of `parent`. The span that is current, such as that of an HTTP request, is
    /// linked if it is another one.
    pub(crate) fn begin(telemetry: &Telemetry, begun: Begun, parent: &Context) -> Self {
        let tracer = &telemetry.0.tracer;
        let mut builder = tracer.span_builder(span_name(&begun.method, &begun.target));
        builder.span_kind = Some(begun.side.kind());
        builder.attributes = Some(begun.span_attributes());
        let current = Context::map_current(|here| here.span().span_context().clone());
        if current.is_valid() && current != *parent.span().span_context() {
            builder.links = Some(vec![Link::with_context(current)]);
        }
        let span = tracer.build_with_context(builder, parent);
        Self {
            telemetry: telemetry.clone(),
            trace: parent.with_span(span),
            started: Instant::now(),
            begun,
            is_ended: false,
        }
    }

    /// Adds an attribute to the span.
    pub(crate) fn identify(&self, attribute: KeyValue) {
        self.trace.span().set_attribute(attribute);
    }

    /// Returns the context whose span is that of the request.
    pub(crate) fn trace(&self) -> &Context {
        &self.trace
    }

    /// Returns true if the request calls a tool.
    pub(crate) fn is_tool_call(&self) -> bool {
        matches!(self.begun.target, Target::Tool(_))
    }

    pub(crate) fn end(mut self, end: &End) {
        self.record(end);
    }

    fn record(&mut self, end: &End) {
        self.is_ended = true;
        let (inner, begun) = (&self.telemetry.0, &mut self.begun);
        let method = inner.metric_method(&begun.method, end);
        let target = inner.metric_target(&begun.target, end);
        let span = self.trace.span();
        if method != begun.method || target.name() != begun.target.name() {
            span.update_name(span_name(&method, &target));
        }
        let failure = end.attributes();
        if !failure.is_empty() {
            span.set_attributes(failure.clone());
            // The message of an error may repeat arguments, so the description is empty.
            span.set_status(Status::error(""));
        }
        span.end();
        let mut attributes = std::mem::take(&mut begun.common);
        attributes.push(KeyValue::new(key::METHOD, method));
        attributes.extend(target.metric_attributes());
        attributes.extend(failure);
        let seconds = self.started.elapsed().as_secs_f64();
        begun.side.histogram(inner).record(seconds, &attributes);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record(&End::Cancelled);
        }
    }
}
