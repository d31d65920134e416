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
mod metrics;
mod names;
mod operation;
mod propagation;
mod running;
mod server;
mod telemetry;

pub use client::ClientObserver;
pub use server::{Observed, ServerLayer};
pub use telemetry::{Telemetry, TelemetryOptions};
