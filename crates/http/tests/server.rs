//! The server side of the binding, as its clients see it.
//!
//! `exchange` and `sessions` ask the tower service on a paused clock; `sockets` speaks raw bytes to
//! a port.

#[path = "server/common.rs"]
mod common;
#[path = "server/exchange.rs"]
mod exchange;
#[path = "server/port.rs"]
mod port;
#[path = "server/sessions.rs"]
mod sessions;
#[path = "server/sockets.rs"]
mod sockets;
