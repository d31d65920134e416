//! An operation of the API.

use std::fmt;
use std::sync::Arc;

use pintle_model::JsonObject;
use pintle_runtime::{Fetch, FetchResponse};

use crate::error::OpenApiCallError;
use crate::parts::Parts;

/// Maximum number of characters of a response in an error.
const MAX_ERROR_CHARS: usize = 2_000;

/// An operation of the API: a name and a schema for a tool, and the request of a call.
///
/// Clones are cheap.
#[derive(Clone)]
pub struct Operation(pub(crate) Arc<Parts>);

impl Operation {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the name for a tool: the `operationId`, or the method and the path, with at most 64 letters, digits, `_` and `-`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the HTTP method, in upper case.
    pub fn method(&self) -> &'static str {
        self.0.method
    }

    /// Returns the summary and the description.
    pub fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// Returns the tags.
    pub fn tags(&self) -> &[Box<str>] {
        &self.0.tags
    }

    /// Returns the scopes that a caller needs.
    pub fn scopes(&self) -> &[Box<str>] {
        &self.0.scopes
    }

    /// Returns the schema of the arguments, as JSON Schema 2020-12: one property for each parameter, and `body`.
    pub fn input_schema(&self) -> &JsonObject {
        &self.0.arguments.schema
    }

    /// Returns true for a method that changes nothing: `GET`, `HEAD` and `OPTIONS`.
    pub fn is_read_only(&self) -> bool {
        matches!(self.0.method, "GET" | "HEAD" | "OPTIONS")
    }

    /// Returns true for a method whose repetition changes nothing more.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || matches!(self.0.method, "PUT" | "DELETE")
    }

    /// Sends the request of a call, and returns the text of the response. The arguments must match the schema.
    ///
    /// # Errors
    ///
    /// [`OpenApiCallError`], also for a status other than 2xx.
    pub async fn call(
        &self,
        fetch: &impl Fetch,
        arguments: &JsonObject,
    ) -> Result<String, OpenApiCallError> {
        let request = self.0.request(arguments)?;
        text(
            fetch
                .fetch(request)
                .await
                .map_err(OpenApiCallError::Fetch)?,
        )
    }
}

fn text(response: FetchResponse) -> Result<String, OpenApiCallError> {
    let status = response.status;
    match status {
        200..300 if response.body.is_empty() => Ok(format!("done (HTTP status {status})")),
        200..300 => {
            let text = String::from_utf8(response.body.into());
            text.map_err(|_| OpenApiCallError::NotText)
        }
        300..400 => Err(OpenApiCallError::Redirect(status)),
        _ => {
            let text = String::from_utf8_lossy(&response.body);
            let text = text.chars().take(MAX_ERROR_CHARS).collect();
            Err(OpenApiCallError::Status { status, text })
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.0.name)
            .field("method", &self.0.method)
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}
