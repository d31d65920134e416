//! Taps between a host and a server.

#[cfg(unix)]
mod stdio;
