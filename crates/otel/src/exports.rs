//! The setup of exporters, for programs that have none.

use std::env;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::{Meter, MeterProvider as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::{MeterProviderBuilder, SdkMeterProvider};
use opentelemetry_sdk::trace::{SdkTracerProvider, TracerProviderBuilder};

use crate::export_error::ExportError;
#[cfg(feature = "prometheus")]
use crate::metrics_text::MetricsText;
use crate::telemetry::{Telemetry, TelemetryOptions};

/// The instrumentation scope of spans and metrics.
const SCOPE: &str = "pintle";

/// Builds the exporters of a program: see [`Exports::builder`].
#[derive(Debug)]
#[must_use]
pub struct ExportsBuilder {
    service: (String, String),
    options: TelemetryOptions,
    pub(crate) tracers: TracerProviderBuilder,
    pub(crate) meters: MeterProviderBuilder,
    #[cfg(feature = "prometheus")]
    pub(crate) metrics: Option<MetricsText>,
}

impl ExportsBuilder {
    /// Sets the options of [`Exports::telemetry`].
    pub fn options(mut self, options: TelemetryOptions) -> Self {
        self.options = options;
        self
    }

    /// Makes the tracer and the meters.
    pub fn build(self) -> Exports {
        let resource = resource(&self.service, &|name| env::var(name).ok());
        let tracers = self.tracers.with_resource(resource.clone()).build();
        let meters = self.meters.with_resource(resource).build();
        let tracer = BoxedTracer::new(Box::new(tracers.tracer(SCOPE)));
        let telemetry = Telemetry::with_options(tracer, &meters.meter(SCOPE), &self.options);
        Exports {
            telemetry,
            tracers,
            meters,
            #[cfg(feature = "prometheus")]
            metrics: self.metrics,
        }
    }
}

/// Telemetry with its exporters.
#[derive(Debug)]
pub struct Exports {
    telemetry: Telemetry,
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    #[cfg(feature = "prometheus")]
    metrics: Option<MetricsText>,
}

impl Exports {
    /// Begins the setup. The name and the version are those of the program; `OTEL_SERVICE_NAME` and
    /// `OTEL_RESOURCE_ATTRIBUTES` precede the name.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ExportsBuilder {
        ExportsBuilder {
            service: (name.into(), version.into()),
            options: TelemetryOptions::default(),
            tracers: SdkTracerProvider::builder(),
            meters: SdkMeterProvider::builder(),
            #[cfg(feature = "prometheus")]
            metrics: None,
        }
    }

    /// Returns the telemetry for servers and clients.
    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Returns the provider of spans, such as for `tracing-opentelemetry`.
    pub fn tracer_provider(&self) -> &SdkTracerProvider {
        &self.tracers
    }

    /// Returns a meter for metrics of the program.
    pub fn meter(&self, name: &'static str) -> Meter {
        self.meters.meter(name)
    }

    /// Returns the metrics as the text of Prometheus, if [`ExportsBuilder::prometheus`] was called.
    #[cfg(feature = "prometheus")]
    pub fn metrics(&self) -> Option<&MetricsText> {
        self.metrics.as_ref()
    }

    /// Exports the rest, and ends the exporters. The wait has a limit: `timeout`.
    ///
    /// # Errors
    ///
    /// [`ExportError::Flush`] and [`ExportError::TimedOut`].
    pub async fn shutdown(self, timeout: Duration) -> Result<(), ExportError> {
        let (done, ended) = tokio::sync::oneshot::channel();
        // A thread of its own, because the exporters block, and a runtime waits for its own threads without limit.
        std::thread::spawn(move || {
            let spans = self.tracers.shutdown_with_timeout(timeout);
            // The receiver has gone after the timeout.
            let _ = done.send(spans.and(self.meters.shutdown_with_timeout(timeout)));
        });
        match tokio::time::timeout(timeout, ended).await {
            Ok(Ok(result)) => flushed(result),
            Ok(Err(_)) => Err(ExportError::Flush("the exporter has panicked".to_owned())),
            Err(_) => Err(ExportError::TimedOut(timeout)),
        }
    }
}

fn flushed(result: OTelSdkResult) -> Result<(), ExportError> {
    result.map_err(|error| ExportError::Flush(error.to_string()))
}

/// Describes the program. The detectors read the environment.
fn resource((name, version): &(String, String), var: &dyn Fn(&str) -> Option<String>) -> Resource {
    let resource = Resource::builder();
    let resource = resource.with_attribute(KeyValue::new("service.version", version.clone()));
    let attributes = var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let is_named = var("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty());
    match is_named || attributes.contains("service.name=") {
        true => resource.build(),
        false => resource.with_service_name(name.clone()).build(),
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::Key;

    use super::*;

    #[test]
    fn the_name_of_the_environment_precedes_that_of_the_program() {
        let service = ("desk".to_owned(), "1.2.3".to_owned());
        let name = |resource: Resource| {
            let name = resource.get(&Key::from("service.name"));
            name.map(|name| name.to_string())
        };
        let own = resource(&service, &|_| None);
        let version = own.get(&Key::from("service.version"));
        assert_eq!(version.map(|it| it.to_string()).as_deref(), Some("1.2.3"));
        assert_eq!(name(own).as_deref(), Some("desk"));
        for variable in ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"] {
            let set = |name: &str| (name == variable).then(|| "service.name=other".to_owned());
            assert_ne!(name(resource(&service, &set)).as_deref(), Some("desk"));
        }
    }
}
