//! Operations of an OpenAPI document, as tools of an MCP server.
//!
//! [`OpenApi`] reads a document of OpenAPI 3.0 or 3.1. An [`Operation`] has a name, a description, a schema of its arguments, and
//! the scopes that a caller needs. [`Operation::call`] sends a request to the API. The feature `openapi` of `pintle` turns operations into
//! tools.
//!
//! A document is bounded in bytes, operations and schemas ([`OpenApiLimits`]). References are followed in the document alone. No
//! argument changes the host or the number of segments of a URL, or adds another parameter.

mod arguments;
mod base;
mod definitions;
mod encode;
mod error;
mod filter;
mod fixed;
mod limits;
mod openapi;
mod operation;
mod parameter;
mod parts;
mod path;
mod read;
mod reference;
mod request;
mod schema;
mod scopes;

pub use error::{OpenApiCallError, OpenApiError, UnsupportedOperationError};
pub use filter::OperationFacts;
pub use limits::OpenApiLimits;
pub use openapi::OpenApi;
pub use operation::Operation;
