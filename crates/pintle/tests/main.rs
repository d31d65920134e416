//! The public crate: attributes, servers and clients.

mod address;
mod attributes;
mod client;
mod older;
mod over_http;
mod replicas;
mod server;
mod sharing;
mod state;
mod storm;
mod ui;
mod wire;
