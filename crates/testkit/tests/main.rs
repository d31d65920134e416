//! Engines, clients and servers against simulated peers.

mod any_handler;
mod base;
mod batches;
mod both_eras;
mod cancel;
mod chaos;
mod client;
mod eras;
mod guard;
mod handshake;
mod hostile;
mod issuer;
mod limits;
mod progress;
mod protocol;
mod sign_in;
mod store_figures;
mod subscriptions;
mod surface;
mod tcp_proxy;
mod transcripts;
