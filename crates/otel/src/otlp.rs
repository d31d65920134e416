//! Export by OTLP: protobuf over HTTP.

use std::env;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use pintle_runtime::{BoxFetch, Fetch, FetchRequest, NetworkScope};
use tokio::runtime::Handle;

use crate::export_error::ExportError;
use crate::exports::ExportsBuilder;

/// The timeout of one export by the specification of OTLP.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest response of a collector, in bytes.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

impl ExportsBuilder {
    /// Exports spans and metrics by OTLP, as protobuf over HTTP. `endpoint` is the URL of a collector, such as
    /// `http://localhost:4318`; `None` for that of the environment.
    ///
    /// The variables `OTEL_EXPORTER_OTLP_*`, `OTEL_BSP_*`, `OTEL_METRIC_EXPORT_INTERVAL`, `OTEL_TRACES_SAMPLER` and
    /// `OTEL_RESOURCE_ATTRIBUTES` have their meaning of the OpenTelemetry specification. Nothing is exported if
    /// `OTEL_SDK_DISABLED` is `true`, and no signal whose `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` is `none`.
    ///
    /// # Errors
    ///
    /// [`ExportError::NoRuntime`], and [`ExportError::Setting`] for an invalid URL or variable.
    pub fn otlp(mut self, endpoint: Option<&str>, fetch: impl Fetch) -> Result<Self, ExportError> {
        let var = |name: &str| env::var(name).ok();
        let client = FetchClient {
            fetch: BoxFetch::new(fetch),
            runtime: Handle::try_current().map_err(|_| ExportError::NoRuntime)?,
            timeout: timeout(&var),
        };
        if is_exported("OTEL_TRACES_EXPORTER", &var) {
            self.tracers = self
                .tracers
                .with_batch_exporter(spans(endpoint, client.clone())?);
        }
        if is_exported("OTEL_METRICS_EXPORTER", &var) {
            self.meters = self
                .meters
                .with_periodic_exporter(metrics(endpoint, client)?);
        }
        Ok(self)
    }
}

fn spans(endpoint: Option<&str>, client: FetchClient) -> Result<SpanExporter, ExportError> {
    let mut exporter = SpanExporter::builder().with_http().with_http_client(client);
    if let Some(endpoint) = endpoint {
        exporter = exporter.with_endpoint(signal_url(endpoint, "traces"));
    }
    exporter.build().map_err(setting)
}

fn metrics(endpoint: Option<&str>, client: FetchClient) -> Result<MetricExporter, ExportError> {
    let mut exporter = MetricExporter::builder()
        .with_http()
        .with_http_client(client);
    if let Some(endpoint) = endpoint {
        exporter = exporter.with_endpoint(signal_url(endpoint, "metrics"));
    }
    exporter.build().map_err(setting)
}

fn setting(error: impl std::fmt::Display) -> ExportError {
    ExportError::Setting(error.to_string())
}

fn signal_url(endpoint: &str, signal: &str) -> String {
    format!("{}/v1/{signal}", endpoint.trim_end_matches('/'))
}

/// Returns false if a variable of the specification turns the exporter off.
fn is_exported(variable: &str, var: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_off = |name, off| var(name).is_some_and(|value| value.eq_ignore_ascii_case(off));
    !is_off("OTEL_SDK_DISABLED", "true") && !is_off(variable, "none")
}

/// Returns the timeout of one export.
fn timeout(var: &dyn Fn(&str) -> Option<String>) -> Duration {
    let millis = var("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
    millis.map_or(DEFAULT_TIMEOUT, Duration::from_millis)
}

/// Sends exports with the HTTP client of the program. Exporters run on threads outside of the runtime, so a request runs
/// as a task.
#[derive(Debug, Clone)]
struct FetchClient {
    fetch: BoxFetch,
    runtime: Handle,
    timeout: Duration,
}

#[async_trait]
impl HttpClient for FetchClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = fetch_request(request, self.timeout);
        let fetch = self.fetch.clone();
        let task = async move { fetch.fetch(request).await };
        let response = self.runtime.spawn(task).await??;
        let mut answer = Response::builder().status(response.status);
        for (name, value) in &response.headers {
            answer = answer.header(&**name, &**value);
        }
        Ok(answer.body(response.body)?)
    }
}

fn fetch_request(request: Request<Bytes>, timeout: Duration) -> FetchRequest {
    let (parts, body) = request.into_parts();
    let mut fetch = FetchRequest::get(parts.uri.to_string());
    fetch.method = "POST";
    fetch.body = body;
    fetch.network = NetworkScope::Private;
    fetch.max_bytes = MAX_RESPONSE_BYTES;
    fetch.timeout = timeout;
    for (name, value) in &parts.headers {
        if let Ok(value) = value.to_str() {
            fetch = fetch.header(name.as_str(), value);
        }
    }
    fetch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_turns_signals_off() {
        let only = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.to_owned())
        };
        assert!(is_exported("OTEL_TRACES_EXPORTER", &|_| None));
        let otlp = only("OTEL_TRACES_EXPORTER", "otlp");
        assert!(is_exported("OTEL_TRACES_EXPORTER", &otlp));
        let none = only("OTEL_TRACES_EXPORTER", "none");
        assert!(!is_exported("OTEL_TRACES_EXPORTER", &none));
        assert!(is_exported("OTEL_METRICS_EXPORTER", &none));
        let disabled = only("OTEL_SDK_DISABLED", "true");
        assert!(!is_exported("OTEL_METRICS_EXPORTER", &disabled));
    }

    #[test]
    fn the_timeout_is_that_of_the_environment_or_ten_seconds() {
        assert_eq!(timeout(&|_| None), Duration::from_secs(10));
        let set = |name: &str| (name == "OTEL_EXPORTER_OTLP_TIMEOUT").then(|| "250".to_owned());
        assert_eq!(timeout(&set), Duration::from_millis(250));
    }

    #[test]
    fn a_signal_has_its_path_below_the_endpoint() {
        let url = "http://localhost:4318/v1/traces";
        assert_eq!(signal_url("http://localhost:4318", "traces"), url);
        assert_eq!(signal_url("http://localhost:4318/", "traces"), url);
    }
}
