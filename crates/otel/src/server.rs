//! A layer with a span and a measurement for each request to a server.

use http::Version;
use http::request::Parts;
use opentelemetry::trace::FutureExt as _;
use opentelemetry::{Context as TraceContext, KeyValue};
use pintle_model::Error;
use pintle_proto::Reply;
use pintle_runtime::{Context, Service};
use tower_layer::Layer;

use crate::attributes as key;
use crate::digest;
use crate::operation::{End, Target};
use crate::running::{Begun, Running, Side, request_id};
use crate::telemetry::Telemetry;

impl Telemetry {
    /// Reads a request and the trace of its client.
    fn read(&self, cx: &Context) -> (Begun, TraceContext) {
        let request = cx.request();
        let begun = Begun {
            side: Side::Server,
            method: request.method.as_str().to_owned(),
            target: Target::of(request),
            common: common_attributes(cx),
            identifiers: identifiers(cx),
        };
        let here = TraceContext::current();
        (begun, self.0.propagation.extract(&here, request))
    }

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
        let (begun, parent) = self.telemetry.read(&cx);
        let running = Running::begin(&self.telemetry, begun, &parent);
        let trace = running.trace().clone();
        let reply = self.inner.call(cx).with_context(trace).await;
        let end = End::of(running.is_tool_call(), &reply);
        running.end(&end);
        reply
    }

    pintle_runtime::delegate_to_inner!();
}

/// The attributes that spans and metrics share: the revision and the transport.
fn common_attributes(cx: &Context) -> Vec<KeyValue> {
    let revision = cx.terms().revision.as_str();
    let mut attributes = vec![KeyValue::new(key::PROTOCOL_VERSION, revision)];
    if let Some(parts) = cx.extension::<Parts>() {
        attributes.push(KeyValue::new(key::TRANSPORT, "tcp"));
        attributes.push(KeyValue::new(key::PROTOCOL, "http"));
        let version = http_version(parts.version);
        attributes.extend(version.map(|it| KeyValue::new(key::NETWORK_PROTOCOL_VERSION, it)));
    } else {
        attributes.push(KeyValue::new(key::TRANSPORT, "pipe"));
    }
    attributes
}

/// The attributes that are different in each request or session, and thus in spans only.
fn identifiers(cx: &Context) -> Vec<KeyValue> {
    let mut attributes = Vec::new();
    if let Some(id) = cx.engine_handle().request_id(cx.key()) {
        attributes.push(request_id(&id));
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

/// The version of HTTP in the form of `network.protocol.version`.
fn http_version(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        Version::HTTP_3 => Some("3"),
        _ => None,
    }
}
