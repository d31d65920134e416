//! The time of a small call on a pipe, with and without spans, metrics and an audit log.
//!
//! The variants take turns, so that a change of the machine meets all of them. Spans go to an exporter that drops them,
//! and the audit log to a writer that drops its lines.

use std::io;
use std::time::{Duration, Instant};

use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::metrics::noop::NoopMeterProvider;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::trace::noop::NoopTracerProvider;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::{ManualReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use pintle::audit::{Audit, AuditOptions};
use pintle::client::Client;
use pintle::otel::Telemetry;
use pintle::prelude::*;
use serde_json::json;

/// Calls of one turn of a variant.
const CALLS: u32 = 2_000;
/// Turns of each variant.
const TURNS: usize = 30;

/// Returns the argument itself.
#[tool(read_only)]
async fn echo(text: String) -> String {
    text
}

/// Drops all spans.
#[derive(Debug)]
struct Drain;

impl SpanExporter for Drain {
    async fn export(&self, _batch: Vec<SpanData>) -> OTelSdkResult {
        Ok(())
    }
}

struct Variant {
    name: &'static str,
    client: Client,
    turns: Vec<Duration>,
}

impl Variant {
    async fn new(name: &'static str, server: Server) -> Self {
        let client = Client::builder().connect(server).await;
        let client = client.expect("a server in the process");
        let turns = Vec::new();
        Self {
            name,
            client,
            turns,
        }
    }

    async fn turn(&mut self) {
        let began = Instant::now();
        for _ in 0..CALLS {
            let call = self.client.call_tool("echo", json!({ "text": "hello" }));
            call.await.expect("an echo");
        }
        self.turns.push(began.elapsed() / CALLS);
    }

    /// Returns the median in microseconds.
    fn median(&mut self) -> f64 {
        self.turns.sort();
        self.turns[self.turns.len() / 2].as_secs_f64() * 1e6
    }
}

fn server() -> Server {
    Server::new("small", "1.0.0").tool::<echo>()
}

fn telemetry(tracers: Option<&SdkTracerProvider>, meters: Option<&SdkMeterProvider>) -> Telemetry {
    let tracer = match tracers {
        Some(tracers) => BoxedTracer::new(Box::new(tracers.tracer("bench"))),
        None => BoxedTracer::new(Box::new(NoopTracerProvider::new().tracer("bench"))),
    };
    match meters {
        Some(meters) => Telemetry::new(tracer, &meters.meter("bench")),
        None => Telemetry::new(tracer, &NoopMeterProvider::new().meter("bench")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tracers = SdkTracerProvider::builder()
        .with_batch_exporter(Drain)
        .build();
    let reader = ManualReader::builder().build();
    let meters = SdkMeterProvider::builder().with_reader(reader).build();
    let audit = Audit::to_writer(io::sink(), AuditOptions::default()).expect("randomness");
    let spans = telemetry(Some(&tracers), None).server_layer();
    let metrics = telemetry(None, Some(&meters)).server_layer();
    let all = telemetry(Some(&tracers), Some(&meters)).server_layer();
    let mut variants = [
        Variant::new("none", server()).await,
        Variant::new(
            "layer alone",
            server().layer(telemetry(None, None).server_layer()),
        )
        .await,
        Variant::new("spans", server().layer(spans)).await,
        Variant::new("metrics", server().layer(metrics)).await,
        Variant::new("audit", server().layer(audit.layer())).await,
        Variant::new("all", server().layer(all).layer(audit.layer())).await,
    ];
    for _ in 0..TURNS {
        for variant in &mut variants {
            variant.turn().await;
        }
    }
    let base = variants[0].median();
    for variant in &mut variants {
        let (median, name) = (variant.median(), variant.name);
        let more = median - base;
        print(name, median, more, 100.0 * more / median);
    }
}

#[allow(clippy::print_stdout, reason = "the program prints its figures")]
fn print(name: &str, median: f64, more: f64, share: f64) {
    println!("{name:12} {median:8.2} us {more:+8.2} us {share:6.1} %");
}
