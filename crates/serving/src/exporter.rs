//! The exporters of spans and metrics.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use pintle::audit::Audit;
use pintle::http::Health;
use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::model::Implementation;
use pintle::otel::{ExportError, Exports, MetricsServer, current_trace_id};
use pintle::runtime::BoxService;
use tokio::task::JoinHandle;
use tower_layer::Layer as _;

use crate::observation::{FINISH_TIMEOUT, ObservationError, OtlpTarget};

/// Returns the trace id of the current span.
pub(crate) const TRACE_ID: Option<fn() -> Option<String>> = Some(current_trace_id);

/// The exporters, and the listener of the metrics.
pub(crate) struct Exporter {
    exports: Exports,
    metrics: Option<MetricsServer>,
    serving: Option<JoinHandle<()>>,
}

impl From<ExportError> for ObservationError {
    fn from(error: ExportError) -> Self {
        Self::Export(error.to_string())
    }
}

impl Exporter {
    pub(crate) async fn start(
        identity: &Implementation,
        metrics: Option<SocketAddr>,
        otlp: Option<OtlpTarget>,
    ) -> Result<Self, ObservationError> {
        let mut exports = Exports::builder(&*identity.name, &*identity.version);
        if let Some(target) = &otlp {
            let url = match target {
                OtlpTarget::Environment => None,
                OtlpTarget::Url(url) => Some(&**url),
            };
            let fetch = DocumentClient::new(&HttpClientOptions::default());
            exports = exports.otlp(url, fetch)?;
        }
        if metrics.is_some() {
            exports = exports.prometheus()?;
        }
        let exports = exports.build();
        let metrics = match metrics {
            Some(address) => Some(bind(address, &exports).await?),
            None => None,
        };
        Ok(Self {
            exports,
            metrics,
            serving: None,
        })
    }

    /// Counts the lines of an audit log.
    pub(crate) fn count(&self, audit: Option<&Audit>) {
        let Some(audit) = audit else {
            return;
        };
        let meter = self.exports.meter("pintle");
        let written = audit.clone();
        meter
            .u64_observable_counter("pintle.audit.written")
            .with_description("Lines of the audit log that were written")
            .with_callback(move |observer| observer.observe(written.counts().written, &[]))
            .build();
        let lost = audit.clone();
        meter
            .u64_observable_counter("pintle.audit.lost")
            .with_description("Lines of the audit log that were lost")
            .with_callback(move |observer| observer.observe(lost.counts().lost, &[]))
            .build();
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref()?.address().ok()
    }

    pub(crate) fn layer(&self, service: BoxService) -> BoxService {
        BoxService::new(self.exports.telemetry().server_layer().layer(service))
    }

    pub(crate) fn serve(&mut self, health: Option<Health>) {
        let Some(server) = self.metrics.take() else {
            return;
        };
        let server = server.other_paths(move |method, uri| {
            let health = health.clone();
            async move {
                let (head, body) = health?.answer(&method, &uri).await?.into_parts();
                let body: Bytes = body.collect().await.ok()?.to_bytes();
                Some(http::Response::from_parts(head, body))
            }
        });
        self.serving = Some(tokio::spawn(server.run()));
    }

    pub(crate) async fn finish(self) {
        if let Some(serving) = self.serving {
            serving.abort();
        }
        if let Err(error) = self.exports.shutdown(FINISH_TIMEOUT).await {
            tracing::warn!(%error, "the telemetry is not complete");
        }
    }
}

async fn bind(address: SocketAddr, exports: &Exports) -> Result<MetricsServer, ObservationError> {
    // The builder has made them.
    let metrics = exports.metrics().ok_or(ObservationError::NotBuilt)?;
    let server = MetricsServer::bind(address, metrics.clone()).await;
    server.map_err(|error| ObservationError::Metrics { address, error })
}
