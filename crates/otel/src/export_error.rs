//! The error of exporters.

use std::time::Duration;

use pintle_model::errors;

errors! {
    /// Reason why telemetry cannot be exported.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum ExportError {
        /// A setting of an exporter is not valid.
        Setting(reason: String) => "invalid setting of an exporter: {reason}",
        /// OTLP needs a runtime of tokio.
        NoRuntime => "OTLP needs a tokio runtime; call the function inside of one",
        /// The last export failed.
        Flush(reason: String) => "the last telemetry was not exported: {reason}",
        /// The last export took longer than the timeout.
        TimedOut(timeout: Duration) => "the last telemetry was not exported within {timeout:?}",
    }
}
