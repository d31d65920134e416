//! The options of the records of a served server.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The records that the operator of a server requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The file of the audit log.
    pub audit: Option<PathBuf>,
    /// The address that serves metrics.
    pub metrics: Option<SocketAddr>,
    /// The collector of spans and metrics.
    pub otlp: Option<OtlpTarget>,
}

/// The URL of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtlpTarget {
    /// The URL of `OTEL_EXPORTER_OTLP_ENDPOINT`, or `http://localhost:4318`.
    Environment,
    /// The URL of the command line.
    Url(String),
}

/// Longest time of the last writes and exports.
pub(crate) const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// A record that the operator requests cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ObservationError {
    /// The file of the audit log cannot be opened.
    #[error("the audit log {} cannot be opened: {error}", path.display())]
    Audit {
        /// The file that cannot be opened.
        path: PathBuf,
        /// The reason of the system.
        error: io::Error,
    },
    /// The address of the metrics cannot be listened on.
    #[error("metrics cannot be served at {address}: {error}")]
    Metrics {
        /// The address that was requested.
        address: SocketAddr,
        /// The reason of the system.
        error: io::Error,
    },
    /// A setting of the exporter is not valid.
    #[error("{0}")]
    Export(String),
    /// The program has no exporter.
    #[error(
        "this program was built without telemetry; build `pintle-cli` with the feature `telemetry`"
    )]
    NotBuilt,
}
