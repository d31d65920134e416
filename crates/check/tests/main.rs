//! Judges servers.

mod broken;
mod broken_http;
mod toy;
mod toy_http;
