//! Serves any server to clients of every revision.
//!
//! ```no_run
//! use pintle::Run;
//! use pintle::client::Command;
//! use pintle_proxy::Proxy;
//!
//! # async fn example() -> pintle::Result<()> {
//! let proxy = Proxy::connect(|client| client.connect_lazily(Command::new("my-server"))).await?;
//! proxy.run().await?;
//! Ok(())
//! # }
//! ```
//!
//! A [`Proxy`] is a [`Service`](pintle::runtime::Service) over a [`Client`](pintle::client::Client). It passes on every
//! method, with its `_meta`, errors, progress, cancellation, log messages and changes, also methods that it does not know.
//!
//! - **Questions.** A server up to 2025-11-25 sends requests to its client, and a later one returns its questions as a
//!   result. Each client is asked in the form of its own revision. A call whose question is a result of the proxy is
//!   *parked*: the retry continues it, and the server is never called again.
//! - **Tasks.** A task of 2025-11-25 and one of the extension of 2026-07-28 have different forms. Each client has those of
//!   its own revision.
//! - **Connections.** A server since 2026-07-28 has no sessions, so clients with the same capabilities share a connection.
//!   An earlier server has one connection for each session of a client. Clients without a session share connections by
//!   their principal.
//! - **Tokens.** The proxy passes no HTTP header on, so the token of a client never reaches the server.
//! - **Filters.** A [`ToolFilter`] hides and renames tools, sets their arguments, and enforces a lock file. A
//!   [`PromptFilter`] and a [`ResourceFilter`] do the same for prompts and URIs.
//!   [`ProxyOptions::max_result_bytes`] cuts results of tools, and their remainders are resources.
//! - **Limits.** [`ProxyOptions`] has all of them.

mod aging;
mod call;
mod connections;
mod draining;
mod error;
mod filter;
mod link;
mod open_calls;
mod options;
mod owner;
mod parked;
mod provider;
mod proxy;
mod questions;
mod random_id;
mod remainders;
mod reply;
mod sink;
mod subscriptions;
mod task_calls;
mod task_form;
mod tasks;
mod tools;
mod upstream;

pub use error::ProxyError;
pub use filter::{PromptFilter, ResourceFilter, ToolFilter};
pub use options::ProxyOptions;
pub use proxy::{Proxy, ProxyBuilder};
