//! The logs of the clients and of each server. They remain after a run that fails.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Logs the events of all clients to a file.
///
/// # Errors
///
/// The file cannot be created.
pub(crate) fn begin_clients(folder: &Path) -> std::io::Result<()> {
    let file = File::create(folder.join("clients.log"))?;
    let format = layer().with_ansi(false).with_writer(Mutex::new(file));
    tracing_subscriber::registry()
        .with(format)
        .with(levels())
        .init();
    Ok(())
}

/// Logs the events of a server to its standard error.
pub(crate) fn begin_server() {
    let format = layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(format)
        .with(levels())
        .init();
}

fn levels() -> Targets {
    Targets::new()
        .with_default(LevelFilter::INFO)
        .with_target("pintle_http", LevelFilter::DEBUG)
        .with_target("pintle_runtime::fleet", LevelFilter::DEBUG)
}
