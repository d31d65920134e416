//! Drivers over byte streams.

mod busy;
mod client;
mod common;
mod ends;
mod fleet;
mod handlers;
mod layers;
mod lines;
mod sockets;
mod system_calls;
