//! The transports of the scripted server.

mod body;
mod http;
mod stdio;

pub(crate) use http::serve;
pub use stdio::StdioServer;
