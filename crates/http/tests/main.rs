//! The binding to HTTP, both ends.

mod client;
mod common;
mod replicated;
mod server;
mod sse;
