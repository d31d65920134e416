//! A client and a server in one process, with exporters in memory.

mod client;
#[cfg(feature = "otlp")]
mod collector;
mod desk;
mod http;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "prometheus")]
mod prometheus;
mod server;
