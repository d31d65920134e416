//! Tools from an OpenAPI document.
//!
//! ```no_run
//! use pintle::prelude::*;
//!
//! #[pintle::main]
//! fn main() -> Result<Server> {
//!     let api = OpenApi::read("openapi.json")?.base_url("https://api.example.com");
//!     Ok(Server::new("gateway", "1.0.0").add_tools(api.tools()?))
//! }
//! ```
//!
//! Each operation is a tool: its id is the name, its parameters are arguments, and a JSON body is the argument `body`. A call sends a
//! request to the API, and the text of the response is the result. [`OpenApi`] chooses operations, sets headers such as a key, and
//! bounds responses in bytes and time.
//!
//! A caller sees an operation only with the scopes of its security requirement. On standard streams no caller has
//! scopes: see [`OpenApi::ignore_security`].

use std::sync::Arc;

use pintle_http::client::{DocumentClient, HttpClientOptions};
use pintle_model::JsonObject;
use pintle_runtime::{BoxFetch, Fetch};
use pintle_server::{Tool, ToolDefinitionError};

pub use pintle_openapi::{
    OpenApi, OpenApiCallError, OpenApiError, OpenApiLimits, Operation, OperationFacts,
    UnsupportedOperationError,
};

/// Turns the operations of a document into tools.
pub trait OpenApiTools {
    /// Returns a tool for each operation. Calls go through an HTTP client with default options.
    ///
    /// # Errors
    ///
    /// [`OpenApiError`], also if the schema of an operation cannot be enforced: see the feature `any-schema`.
    fn tools(&self) -> Result<Vec<Tool>, OpenApiError>;

    /// Returns a tool for each operation. Calls go through `fetch`, such as a [`DocumentClient`] with a proxy.
    ///
    /// # Errors
    ///
    /// As [`Self::tools`].
    fn tools_with(&self, fetch: impl Fetch) -> Result<Vec<Tool>, OpenApiError>;
}

impl OpenApiTools for OpenApi {
    fn tools(&self) -> Result<Vec<Tool>, OpenApiError> {
        self.tools_with(DocumentClient::new(&HttpClientOptions::default()))
    }

    fn tools_with(&self, fetch: impl Fetch) -> Result<Vec<Tool>, OpenApiError> {
        let fetch = BoxFetch::new(fetch);
        let mut tools = Vec::new();
        for operation in self.operations()? {
            match tool(&operation, &fetch) {
                Ok(tool) => tools.push(tool),
                Err(error) => self.refuse(&operation, Arc::new(error))?,
            }
        }
        Ok(tools)
    }
}

fn tool(operation: &Operation, fetch: &BoxFetch) -> Result<Tool, ToolDefinitionError> {
    let schema = operation.input_schema().clone();
    let mut tool = Tool::from_schema(operation.name(), schema)?
        .open_world(true)
        .scopes(operation.scopes().iter().cloned());
    tool = match operation.is_read_only() {
        true => tool.read_only(true),
        false => tool
            .read_only(false)
            .destructive(operation.method() != "POST")
            .idempotent(operation.is_idempotent()),
    };
    if let Some(description) = operation.description() {
        tool = tool.description(description);
    }
    let tags = operation.tags().iter().cloned();
    let tool = tags.fold(tool, Tool::tag);
    let (operation, fetch) = (operation.clone(), fetch.clone());
    Ok(tool.handler(move |arguments: JsonObject| {
        let (operation, fetch) = (operation.clone(), fetch.clone());
        async move { operation.call(&fetch, &arguments).await }
    }))
}
