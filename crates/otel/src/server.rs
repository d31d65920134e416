//! A layer with a span and a measurement for each request to a server.

use std::time::Instant;

use http::request::Parts;
use opentelemetry::trace::{
    FutureExt as _, Link, SpanKind, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context as TraceContext, KeyValue};
use pintle_model::{Error, RequestId};
use pintle_proto::Reply;
use pintle_runtime::{Context, Service};
use tower_layer::Layer;

use crate::attributes as key;
use crate::digest;
use crate::operation::{End, Target, span_name};
use crate::telemetry::Telemetry;

impl Telemetry {
    /// Returns a layer that observes the requests to a server.
    pub fn server_layer(&self) -> ServerLayer {
        ServerLayer {
            telemetry: self.clone(),
        }
    }
}

/// Layer that wraps a service in [`Observed`]: see [`Telemetry::server_layer`].
#[derive(Debug, Clone)]
pub struct ServerLayer {
    telemetry: Telemetry,
}

impl<S> Layer<S> for ServerLayer {
    type Service = Observed<S>;

    fn layer(&self, inner: S) -> Observed<S> {
        Observed {
            inner,
            telemetry: self.telemetry.clone(),
        }
    }
}

/// A service whose requests each have a span and a measurement.
#[derive(Debug, Clone)]
pub struct Observed<S> {
    inner: S,
    telemetry: Telemetry,
}

impl<S: Service> Service for Observed<S> {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let running = RunningOperation::begin(&self.telemetry, &cx);
        let trace = running.trace.clone();
        let reply = self.inner.call(cx).with_context(trace).await;
        running.end(&reply);
        reply
    }

    pintle_runtime::delegate_to_inner!();
}

/// A request that runs. Dropping it before its end records that the request was cancelled.
struct RunningOperation {
    telemetry: Telemetry,
    trace: TraceContext,
    started: Instant,
    method: String,
    target: Target,
    /// The attributes that spans and metrics share.
    common: Vec<KeyValue>,
    is_ended: bool,
}

impl RunningOperation {
    fn begin(telemetry: &Telemetry, cx: &Context) -> Self {
        let request = cx.request();
        let (method, target) = (request.method.as_str(), Target::of(request));
        let common = common_attributes(cx);
        let mut attributes = common.clone();
        attributes.push(KeyValue::new(key::METHOD, method.to_owned()));
        attributes.extend(target.span_attributes());
        attributes.extend(identifiers(cx));
        let trace = begin_span(telemetry, cx, span_name(method, &target), attributes);
        Self {
            telemetry: telemetry.clone(),
            trace,
            started: Instant::now(),
            method: method.to_owned(),
            target,
            common,
            is_ended: false,
        }
    }

    fn end(mut self, reply: &Result<Reply, Error>) {
        let end = End::of(matches!(self.target, Target::Tool(_)), reply);
        self.record(&end);
    }

    fn record(&mut self, end: &End) {
        self.is_ended = true;
        let (inner, span) = (&self.telemetry.0, self.trace.span());
        let method = inner.metric_method(&self.method, end);
        let target = inner.metric_target(&self.target, end);
        if method == key::OTHER || target.name() != self.target.name() {
            span.update_name(span_name(&method, &target));
        }
        let failure = end.attributes();
        if !failure.is_empty() {
            span.set_attributes(failure.clone());
            // The message of an error may repeat arguments, so the description is empty.
            span.set_status(Status::error(""));
        }
        span.end();
        let mut attributes = std::mem::take(&mut self.common);
        attributes.push(KeyValue::new(key::METHOD, method));
        attributes.extend(target.metric_attributes());
        attributes.extend(failure);
        let seconds = self.started.elapsed().as_secs_f64();
        inner
            .instruments
            .server_operation
            .record(seconds, &attributes);
    }
}

impl Drop for RunningOperation {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record(&End::Cancelled);
        }
    }
}

/// Begins the span of a request. Its parent is the trace of the client; a span that is current, such as that of
/// the HTTP request, is then linked.
fn begin_span(
    telemetry: &Telemetry,
    cx: &Context,
    name: std::borrow::Cow<'static, str>,
    attributes: Vec<KeyValue>,
) -> TraceContext {
    let inner = &telemetry.0;
    let here = TraceContext::current();
    let parent = inner.propagation.extract(&here, cx.request());
    let mut builder = inner.tracer.span_builder(name);
    builder.span_kind = Some(SpanKind::Server);
    builder.attributes = Some(attributes);
    let ambient = here.span().span_context().clone();
    if ambient.is_valid() && ambient != *parent.span().span_context() {
        builder.links = Some(vec![Link::with_context(ambient)]);
    }
    let span = inner.tracer.build_with_context(builder, &parent);
    parent.with_span(span)
}

/// The attributes that spans and metrics share: the revision and the transport.
fn common_attributes(cx: &Context) -> Vec<KeyValue> {
    let revision = cx.terms().revision.as_str();
    let mut attributes = vec![KeyValue::new(key::PROTOCOL_VERSION, revision)];
    if cx.extension::<Parts>().is_some() {
        attributes.push(KeyValue::new(key::TRANSPORT, "tcp"));
        attributes.push(KeyValue::new(key::PROTOCOL, "http"));
    } else {
        attributes.push(KeyValue::new(key::TRANSPORT, "pipe"));
    }
    attributes
}

/// The attributes that are different in each request or session, and thus in spans only.
fn identifiers(cx: &Context) -> Vec<KeyValue> {
    let mut attributes = Vec::new();
    if let Some(id) = cx.engine_handle().request_id(cx.key()) {
        let id = match id {
            RequestId::Integer(number) => number.to_string(),
            RequestId::String(text) => text.into(),
        };
        attributes.push(KeyValue::new(key::REQUEST_ID, id));
    }
    let parts = cx.extension::<Parts>();
    let session = parts
        .as_ref()
        .and_then(|parts| parts.headers.get("mcp-session-id"));
    if let Some(session) = session {
        attributes.push(KeyValue::new(
            key::SESSION_ID,
            digest::of_session(session.as_bytes()),
        ));
    }
    attributes
}
