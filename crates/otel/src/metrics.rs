//! The histograms of the conventions.

use opentelemetry::metrics::{Histogram, Meter};

/// The bucket boundaries that the conventions advise for all four histograms, in seconds.
const BOUNDARIES: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

#[derive(Debug)]
pub(crate) struct Instruments {
    pub(crate) server_operation: Histogram<f64>,
    pub(crate) client_operation: Histogram<f64>,
    pub(crate) client_session: Histogram<f64>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        Self {
            server_operation: seconds(
                meter,
                "mcp.server.operation.duration",
                "Duration of a request at the server",
            ),
            client_operation: seconds(
                meter,
                "mcp.client.operation.duration",
                "Duration of a request at the client",
            ),
            client_session: seconds(
                meter,
                "mcp.client.session.duration",
                "Duration of a conversation at the client",
            ),
        }
    }
}

fn seconds(meter: &Meter, name: &'static str, description: &'static str) -> Histogram<f64> {
    meter
        .f64_histogram(name)
        .with_unit("s")
        .with_description(description)
        .with_boundaries(BOUNDARIES.to_vec())
        .build()
}
