//! Serves a server that is written for [rmcp](https://docs.rs/rmcp), the official Rust SDK of MCP,
//! by Pintle: in every revision, on every transport, with authorization and limits.
//!
//! The type that implements rmcp's `ServerHandler` stays as it is. Only `main` changes:
//!
//! ```no_run
//! use pintle::prelude::*;
//! use rmcp::handler::server::wrapper::Parameters;
//! use rmcp::{ServerHandler, tool, tool_handler, tool_router};
//!
//! struct Desk;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! #[tool_router]
//! impl Desk {
//!     #[tool(description = "Adds two numbers.")]
//!     async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
//!         (a + b).to_string()
//!     }
//! }
//!
//! #[tool_handler]
//! impl ServerHandler for Desk {}
//!
//! #[tokio::main]
//! async fn main() -> pintle::Result<()> {
//!     pintle_rmcp::server(Desk).run().await?;
//!     Ok(())
//! }
//! ```
//!
//! [`server`] returns a [`Server`]: add layers, tools of Pintle and authorization to it, or mount it
//! on another server.
//!
//! # Abilities of a handler
//!
//! - List and serve tools, resources, resource templates and prompts, and complete arguments.
//! - Send progress and log messages of a request by its peer.
//! - Ask the client for a form, a visit, a message of its model, or its roots by the peer. It may also
//!   return `InputRequired`. Both work in every revision.
//! - Send notices of changed lists and resources by the peer of a request. They reach all clients that
//!   subscribe.
//! - Take the [`Context`](pintle_runtime::Context), the [`Changes`](pintle_server::Changes) and the
//!   `http::request::Parts` of a request from `RequestContext::extensions`.
//!
//! # Differences from rmcp
//!
//! - **One handler serves all sessions.** rmcp makes one for each session over HTTP.
//! - **A question in 2026-07-28 ends the call.** The handler is dropped, and the retry calls it again:
//!   code above a question may run more than once.
//! - **A peer ends with its request.** A call on a peer that a handler kept fails with
//!   `ServiceError::TransportClosed`. For later notices keep the [`Changes`](pintle_server::Changes).
//! - **A dropped request cancels its token**, and its future is dropped as well.
//! - In 2026-07-28 `Peer::peer_info` has the version 2025-11-25, because with 2026-07-28 rmcp does not
//!   send questions. `RequestContext::protocol_version` has the version of the request.
//!
//! # Methods that are not served
//!
//! Pintle does these itself, and does not call the methods of the handler: `initialize`, `discover`,
//! `ping`, `set_level`, `subscribe`, `unsubscribe`, `listen`, and all notifications. Tasks, skills,
//! `on_custom_request` and custom notifications are not served: a tool that returns a task fails.
//!
//! # Limits
//!
//! A request has at most 64 open questions; more wait.
//!
//! rmcp records several `tracing` events of the level `INFO` for each peer, which is for each request:
//! a filter such as `rmcp=warn` hides them.

mod channel;
mod convert;
mod describe;
mod handler;
mod pump;
mod request;

pub use describe::server;
#[doc(no_inline)]
pub use pintle_server::Server;
