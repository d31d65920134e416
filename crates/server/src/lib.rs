//! The MCP server framework: typed tools, resources and prompts.

pub mod page;
pub mod resource;
pub mod schema;
pub mod validate;

// Tools.
mod ability;
mod rejection;
mod text;
mod tool;

#[cfg(test)]
mod testing;

pub use ability::{Ability, Extension, Missing, Need, Scope, State};
pub use rejection::{BadArguments, Rejection};
pub use tool::{
    Args, FromCall, Handler, Image, IntoTool, IntoToolResult, Json, Protocol, Tool, ToolCall,
    ToolFault, ToolReply, ToolSet, ViaAbility, ViaArgs, ViaArguments, blocking,
};
