//! The binding to HTTP, both ends.

mod client;
mod common;
mod server;
mod sse;
