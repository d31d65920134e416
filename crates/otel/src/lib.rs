//! Telemetry of MCP servers and clients: spans and metrics by the OpenTelemetry conventions for MCP.
//!
//! [`Telemetry`] has a tracer and a meter. [`Telemetry::server_layer`] is a layer for
//! `Server::layer`, and [`Telemetry::client_observer`] is an observer for `ClientBuilder::observer`. A request has one span and one measurement:
//!
//! ```
//! use opentelemetry::global;
//! use pintle_otel::Telemetry;
//! # use pintle::prelude::*;
//!
//! let telemetry = Telemetry::new(global::tracer("pintle"), &global::meter("pintle"));
//! let server = Server::new("desk", "1.0.0").layer(telemetry.server_layer());
//! # let _ = server;
//! ```
//!
//! The parent of a span is the trace context in the `_meta` of the request. Spans of `tracing` inside a
//! handler become children if the program installs `tracing-opentelemetry`, because the span is current while
//! the handler runs.
//!
//! Arguments and results are never recorded. Names that a client invents are not in metrics: see
//! [`TelemetryOptions::max_metric_names`].

mod attributes;
mod client;
mod digest;
#[cfg(any(feature = "otlp", feature = "prometheus"))]
mod export_error;
#[cfg(any(feature = "otlp", feature = "prometheus"))]
mod exports;
mod metrics;
#[cfg(feature = "prometheus")]
mod metrics_text;
mod names;
mod operation;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "prometheus")]
mod prometheus;
mod propagation;
mod running;
mod server;
mod telemetry;

pub use client::ClientObserver;
#[cfg(any(feature = "otlp", feature = "prometheus"))]
pub use export_error::ExportError;
#[cfg(any(feature = "otlp", feature = "prometheus"))]
pub use exports::{Exports, ExportsBuilder};
#[cfg(feature = "prometheus")]
pub use metrics_text::MetricsText;
#[cfg(feature = "prometheus")]
pub use prometheus::MetricsServer;
pub use server::{Observed, ServerLayer};
pub use telemetry::{Telemetry, TelemetryOptions};

/// Returns the trace id of the current span; `None` outside of a span. It fits the option `trace_id` of an audit log, whose
/// layer must be inside the layer of the spans.
pub fn current_trace_id() -> Option<String> {
    use opentelemetry::trace::TraceContextExt as _;
    opentelemetry::Context::map_current(|cx| {
        let span = cx.span();
        let id = span.span_context().trace_id();
        span.span_context().is_valid().then(|| id.to_string())
    })
}
