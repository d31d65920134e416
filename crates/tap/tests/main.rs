//! Taps between a host and a server, and servers from recordings.

mod replay;
#[cfg(unix)]
mod stdio;
