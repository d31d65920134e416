//! The exporter of a program that is built without telemetry: it cannot be started.

use std::net::SocketAddr;

use pintle::audit::Audit;
use pintle::http::Health;
use pintle::model::Implementation;
use pintle::runtime::BoxService;

use crate::observation::{ObservationError, OtlpTarget};

pub(crate) const TRACE_ID: Option<fn() -> Option<String>> = None;

/// A value that does not exist.
pub(crate) enum Exporter {}

impl Exporter {
    pub(crate) async fn start(
        _identity: &Implementation,
        _metrics: Option<SocketAddr>,
        _otlp: Option<OtlpTarget>,
    ) -> Result<Self, ObservationError> {
        Err(ObservationError::NotBuilt)
    }

    pub(crate) fn count(&self, _audit: Option<&Audit>) {
        match *self {}
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match *self {}
    }

    pub(crate) fn layer(&self, _service: BoxService) -> BoxService {
        match *self {}
    }

    pub(crate) fn serve(&mut self, _health: Option<Health>) {
        match *self {}
    }

    pub(crate) async fn finish(self) {
        match self {}
    }
}
