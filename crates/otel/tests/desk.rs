//! The server under test, and exporters that store everything in memory.

use opentelemetry::Context;
use opentelemetry::baggage::BaggageExt as _;
use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::{SpanKind, TracerProvider as _};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use pintle::client::{Client, EraMode};
use pintle::model::Revision;
use pintle::prelude::{Result, Server, tool};
use pintle_otel::{Telemetry, TelemetryOptions};

/// The revisions of the tests: one of each era.
pub(crate) const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Adds two numbers.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Fails with an error.
#[tool]
async fn fail() -> Result<String> {
    Err("the desk is on fire".into())
}

/// Waits without end.
#[tool]
async fn hang() -> String {
    std::future::pending().await
}

/// Returns the baggage of its caller.
#[tool]
async fn tenant() -> String {
    let value = Context::map_current(|cx| cx.baggage().get("tenant").cloned());
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Telemetry whose spans and measurements a test reads.
pub(crate) struct Recorded {
    pub(crate) telemetry: Telemetry,
    spans: InMemorySpanExporter,
    tracers: SdkTracerProvider,
    metrics: InMemoryMetricExporter,
    meters: SdkMeterProvider,
}

/// One series of a histogram: its attributes as sorted `key=value`, and its count.
pub(crate) type Series = (Vec<String>, u64);

impl Recorded {
    pub(crate) fn new() -> Self {
        Self::with_options(&TelemetryOptions::default())
    }

    pub(crate) fn with_options(options: &TelemetryOptions) -> Self {
        let (spans, metrics) = (
            InMemorySpanExporter::default(),
            InMemoryMetricExporter::default(),
        );
        let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone());
        let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone());
        let (tracers, meters) = (tracers.build(), meters.build());
        let tracer = BoxedTracer::new(Box::new(tracers.tracer("test")));
        Self {
            telemetry: Telemetry::with_options(tracer, &meters.meter("test"), options),
            spans,
            tracers,
            metrics,
            meters,
        }
    }

    pub(crate) fn spans(&self) -> Vec<SpanData> {
        self.tracers.force_flush().expect("an exporter in memory");
        self.spans
            .get_finished_spans()
            .expect("an exporter in memory")
    }

    /// Returns the only span of this name at this end.
    pub(crate) fn span(&self, kind: &SpanKind, name: &str) -> SpanData {
        let mut spans = self.spans();
        spans.retain(|span| span.span_kind == *kind);
        let names: Vec<_> = spans.iter().map(|span| span.name.to_string()).collect();
        spans.retain(|span| span.name == name);
        assert_eq!(spans.len(), 1, "{name} among {names:?}");
        spans.remove(0)
    }

    /// Returns the bounds and the series of a histogram.
    pub(crate) fn histogram(&self, name: &str) -> (Vec<f64>, Vec<Series>) {
        self.metrics.reset();
        self.meters.force_flush().expect("an exporter in memory");
        let finished = self
            .metrics
            .get_finished_metrics()
            .expect("an exporter in memory");
        let metrics = finished.iter().flat_map(|found| found.scope_metrics());
        let mut metrics = metrics.flat_map(|scope| scope.metrics());
        let Some(metric) = metrics.find(|metric| metric.name() == name) else {
            return Default::default();
        };
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
            panic!("{name} is another instrument");
        };
        let points: Vec<_> = histogram.data_points().collect();
        let bounds = points.first().map(|point| point.bounds().collect());
        let series = points.iter().map(|point| {
            let pairs = point
                .attributes()
                .map(|pair| format!("{}={}", pair.key, pair.value));
            let mut pairs: Vec<_> = pairs.collect();
            pairs.sort();
            (pairs, point.count())
        });
        (bounds.unwrap_or_default(), series.collect())
    }
}

/// Returns the value of an attribute of a span.
pub(crate) fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let mut pairs = span.attributes.iter();
    let pair = pairs.find(|pair| pair.key.as_str() == key)?;
    Some(pair.value.to_string())
}

pub(crate) fn server(recorded: &Recorded) -> Server {
    server_of(&recorded.telemetry)
}

pub(crate) fn server_of(telemetry: &Telemetry) -> Server {
    Server::new("desk", "1.0.0")
        .tools::<(add, fail, hang, tenant)>()
        .layer(telemetry.server_layer())
}

pub(crate) async fn client(recorded: &Recorded, revision: Revision) -> Client {
    client_of(&recorded.telemetry, revision).await
}

pub(crate) async fn client_of(telemetry: &Telemetry, revision: Revision) -> Client {
    let builder = Client::builder().mode(EraMode::Pinned(revision));
    let builder = builder.observer(telemetry.client_observer());
    builder
        .connect(server_of(telemetry))
        .await
        .expect("a server")
}
