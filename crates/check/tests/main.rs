//! Judges servers and clients.

mod broken;
mod broken_http;
mod client;
mod toy;
mod toy_http;
