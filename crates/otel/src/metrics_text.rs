//! Metrics as the text of Prometheus.

use prometheus::{Registry, TEXT_FORMAT, TextEncoder};

use crate::export_error::ExportError;

/// The metrics of a program as the text of Prometheus. Clones have the same metrics.
#[derive(Debug, Clone)]
pub struct MetricsText {
    registry: Registry,
}

impl MetricsText {
    pub(crate) fn new(registry: Registry) -> Self {
        Self { registry }
    }

    /// The media type of [`MetricsText::render`].
    pub const CONTENT_TYPE: &str = TEXT_FORMAT;

    /// Returns the text of all metrics.
    ///
    /// # Errors
    ///
    /// [`ExportError::Setting`] if two metrics of the program have the same name in Prometheus.
    pub fn render(&self) -> Result<String, ExportError> {
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        text.map_err(|error| ExportError::Setting(error.to_string()))
    }
}
