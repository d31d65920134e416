//! An observer with a span and a measurement for each request of a client.

use std::any::Any;
use std::time::Instant;

use opentelemetry::{Context, KeyValue};
use pintle_model::{Meta, RequestId};
use pintle_proto::PeerCallError;
use pintle_proto::lifecycle::Binding;
use pintle_runtime::{
    CallObserver, ObservedConversation, ObservedRequest, RequestEnd, RequestObserver,
};

use crate::attributes as key;
use crate::operation::{End, Target};
use crate::running::{Begun, Running, Side, request_id};
use crate::telemetry::Telemetry;

impl Telemetry {
    /// Returns an observer for `ClientBuilder::observer`.
    ///
    /// It adds `traceparent`, `tracestate` and `baggage` to the `_meta` of each request, unless the caller has set
    /// `traceparent` itself.
    pub fn client_observer(&self) -> ClientObserver {
        ClientObserver {
            telemetry: self.clone(),
        }
    }
}

/// Observes the requests and the conversations of a client: see [`Telemetry::client_observer`].
#[derive(Debug, Clone)]
pub struct ClientObserver {
    telemetry: Telemetry,
}

impl CallObserver for ClientObserver {
    fn begin(&self, request: &ObservedRequest<'_>, meta: &mut Meta) -> Box<dyn RequestObserver> {
        let begun = Begun {
            side: Side::Client,
            method: request.method.to_owned(),
            target: Target::of_params(request.method, request.params),
            common: common_attributes(&request.conversation),
            identifiers: Vec::new(),
        };
        let running = Running::begin(&self.telemetry, begun, &Context::current());
        self.telemetry.0.propagation.inject(running.trace(), meta);
        Box::new(ObservedCall(running))
    }

    fn open(&self, conversation: ObservedConversation) -> Box<dyn Any + Send + Sync> {
        Box::new(OpenConversation {
            telemetry: self.telemetry.clone(),
            attributes: common_attributes(&conversation),
            opened: Instant::now(),
        })
    }
}

struct ObservedCall(Running);

impl RequestObserver for ObservedCall {
    fn sent(&mut self, id: &RequestId) {
        self.0.identify(request_id(id));
    }

    fn end(self: Box<Self>, end: RequestEnd<'_>) {
        let end = match end {
            RequestEnd::Result(result) => {
                End::of_result(self.0.is_tool_call(), result.get().as_bytes())
            }
            RequestEnd::Failed(failure) => end_of(failure),
            RequestEnd::NotSent => End::Unanswered("not_sent"),
        };
        self.0.end(&end);
    }
}

fn end_of(failure: &PeerCallError) -> End {
    match failure {
        PeerCallError::Answered(error) => End::Failed(error.code),
        PeerCallError::TimedOut(_) => End::Unanswered("timeout"),
        PeerCallError::Cancelled => End::Cancelled,
        PeerCallError::Closed | PeerCallError::Lost(_) => End::Unanswered("disconnected"),
        _ => End::Unanswered("invalid_answer"),
    }
}

/// A conversation that is open. Dropping it records its duration.
struct OpenConversation {
    telemetry: Telemetry,
    attributes: Vec<KeyValue>,
    opened: Instant,
}

impl Drop for OpenConversation {
    fn drop(&mut self) {
        let seconds = self.opened.elapsed().as_secs_f64();
        let histogram = &self.telemetry.0.instruments.client_session;
        histogram.record(seconds, &self.attributes);
    }
}

fn common_attributes(conversation: &ObservedConversation) -> Vec<KeyValue> {
    let revision = conversation.revision.as_str();
    let mut attributes = vec![KeyValue::new(key::PROTOCOL_VERSION, revision)];
    let is_http = conversation.binding == Binding::Http;
    let is_network = is_http || conversation.server.is_some();
    let transport = if is_network { "tcp" } else { "pipe" };
    attributes.push(KeyValue::new(key::TRANSPORT, transport));
    if is_http {
        attributes.push(KeyValue::new(key::PROTOCOL, "http"));
    }
    if let Some(server) = &conversation.server {
        let host = server.host.to_string();
        attributes.push(KeyValue::new(key::SERVER_ADDRESS, host));
        attributes.push(KeyValue::new(key::SERVER_PORT, i64::from(server.port)));
    }
    attributes
}
