//! A server with spans, metrics and an audit log. `telemetry/collector.yaml` is a collector for it, and
//! `telemetry/dashboard.json` a dashboard of Grafana.
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT` is the URL of the collector; the default is `http://localhost:4318`.

use std::io;
use std::time::Duration;

use pintle::audit::{Audit, AuditOptions};
use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::otel::{Exports, current_trace_id};
use pintle::prelude::*;

/// Longest time of the last writes and exports.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let exports = Exports::builder("calculator", env!("CARGO_PKG_VERSION"));
    let exports = exports.otlp(None, fetch)?.build();

    // A line of the audit log has the id of its trace, because the layer of the spans is outside.
    let mut options = AuditOptions::default();
    options.trace_id = Some(current_trace_id);
    let audit = Audit::to_writer(io::stderr(), options)?;

    Server::new("calculator", "1.0.0")
        .tool::<add>()
        .layer(exports.telemetry().server_layer())
        .layer(audit.layer())
        .run()
        .await?;

    audit.close(FINISH_TIMEOUT);
    exports.shutdown(FINISH_TIMEOUT).await?;
    Ok(())
}
