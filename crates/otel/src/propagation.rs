//! Trace context in `_meta`.

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use pintle_model::Meta;
use pintle_proto::{IncomingRequest, TraceContext};
use serde::Deserialize;

/// Reads the W3C trace context and baggage, which are the only formats that MCP has names for.
#[derive(Debug, Default)]
pub(crate) struct Propagation {
    trace: TraceContextPropagator,
    baggage: BaggagePropagator,
}

impl Propagation {
    /// Returns the context of a request: `here`, with the trace and the baggage of the client.
    ///
    /// In the modern era the terms have the trace. In the legacy era the terms are those of the session, so the trace
    /// is read from the parameters.
    pub(crate) fn extract(&self, here: &Context, request: &IncomingRequest) -> Context {
        if let Some(trace) = &request.terms.trace {
            return self.read(here, &TermsMembers(trace));
        }
        match meta_of(request) {
            Some(meta) => self.read(here, &MetaMembers(&meta)),
            None => here.clone(),
        }
    }

    /// Adds the trace and the baggage of a context to `_meta`. A `traceparent` that is there already stays.
    pub(crate) fn inject(&self, cx: &Context, meta: &mut Meta) {
        if meta.get("traceparent").is_some() {
            return;
        }
        let mut members = SentMembers(meta);
        self.trace.inject_context(cx, &mut members);
        self.baggage.inject_context(cx, &mut members);
    }

    fn read(&self, here: &Context, members: &dyn Extractor) -> Context {
        let cx = self.trace.extract_with_context(here, members);
        self.baggage.extract_with_context(&cx, members)
    }
}

/// Returns the `_meta` of a request; `None` if its text has no name of a trace member.
fn meta_of(request: &IncomingRequest) -> Option<Meta> {
    #[derive(Deserialize)]
    struct Tagged {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    let text = request.params.text();
    let may_have_trace = text.contains("traceparent") || text.contains("baggage");
    let tagged: Option<Tagged> = may_have_trace.then(|| serde_json::from_str(text).ok())?;
    Some(tagged?.meta)
}

struct SentMembers<'a>(&'a mut Meta);

impl Injector for SentMembers<'_> {
    fn set(&mut self, key: &str, value: String) {
        // A context without state or baggage has an empty value.
        if !value.is_empty() {
            self.0.insert(key, value);
        }
    }
}

struct TermsMembers<'a>(&'a TraceContext);

impl Extractor for TermsMembers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => self.0.parent.as_deref(),
            "tracestate" => self.0.state.as_deref(),
            "baggage" => self.0.baggage.as_deref(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate", "baggage"]
    }
}

struct MetaMembers<'a>(&'a Meta);

impl Extractor for MetaMembers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get_str(key)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.iter().map(|(key, _)| key.as_str()).collect()
    }
}
