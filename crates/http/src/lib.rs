//! The Streamable HTTP binding of MCP.

mod rules;
mod server;
