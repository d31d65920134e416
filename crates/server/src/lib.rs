//! The MCP server framework: typed tools, resources and prompts.

pub mod page;
pub mod schema;
pub mod validate;
