//! Capabilities of clients and servers.
//!
//! Presence means support. Sets of client capabilities can be compared and subtracted
//! ([`ClientCapabilities::covers`], [`ClientCapabilities::missing`]).
//!
//! Spec: [2026-07-28, Capability negotiation](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#capability-negotiation).

mod client;
mod fit;
mod presence;
mod server;
mod set;
mod tasks;

pub use client::{ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability};
pub use server::{PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability};
pub use tasks::TasksCapability;
