//! The records of a served server: its audit log, its metrics and its spans.

use std::net::SocketAddr;
use std::path::Path;

use pintle::audit::{Audit, AuditOptions};
use pintle::http::Health;
use pintle::model::Implementation;
use pintle::runtime::BoxService;
use tower_layer::Layer as _;

use crate::exporter::{Exporter, TRACE_ID};
use crate::observation::{FINISH_TIMEOUT, Observation, ObservationError};

/// The records that are made while the server is served.
pub(crate) struct Observer {
    audit: Option<Audit>,
    exporter: Option<Exporter>,
}

impl Observer {
    /// Opens the audit log, and binds the listener of the metrics. `report` receives its address.
    ///
    /// # Errors
    ///
    /// [`ObservationError`].
    pub(crate) async fn start(
        identity: &Implementation,
        observation: Observation,
        report: impl FnOnce(SocketAddr),
    ) -> Result<Self, ObservationError> {
        let audit = observation.audit.as_deref().map(open).transpose()?;
        let is_exported = observation.metrics.is_some() || observation.otlp.is_some();
        let exporter = match is_exported {
            true => Some(Exporter::start(identity, observation.metrics, observation.otlp).await?),
            false => None,
        };
        if let Some(exporter) = &exporter {
            exporter.count(audit.as_ref());
            if let Some(address) = exporter.address() {
                report(address);
            }
        }
        Ok(Self { audit, exporter })
    }

    /// Adds the layers. That of the spans is outside, so that a line of the audit log has the id of its span.
    pub(crate) fn layers(&self, service: BoxService) -> BoxService {
        let service = match &self.audit {
            Some(audit) => BoxService::new(audit.layer().layer(service)),
            None => service,
        };
        match &self.exporter {
            Some(exporter) => exporter.layer(service),
            None => service,
        }
    }

    /// Serves the metrics, and the health of an endpoint beside them.
    pub(crate) fn serve(&mut self, health: Option<Health>) {
        if let Some(exporter) = &mut self.exporter {
            exporter.serve(health);
        }
    }

    /// Writes and exports the rest.
    pub(crate) async fn finish(self) {
        if let Some(audit) = self.audit {
            let lost = audit.close(FINISH_TIMEOUT);
            if lost > 0 {
                tracing::warn!(lost, "the audit log has lost lines");
            }
        }
        if let Some(exporter) = self.exporter {
            exporter.finish().await;
        }
    }
}

fn open(path: &Path) -> Result<Audit, ObservationError> {
    let mut options = AuditOptions::default();
    options.trace_id = TRACE_ID;
    Audit::to_file(path, options).map_err(|error| ObservationError::Audit {
        path: path.to_owned(),
        error,
    })
}
