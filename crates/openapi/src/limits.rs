//! Bounds of a document and of the requests to its API.

use std::time::Duration;

/// Bounds of a document and of the requests to its API. Build it from [`Default`], and change fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenApiLimits {
    /// Maximum size of a document, in bytes; default 16 MiB.
    pub max_document_bytes: usize,
    /// Maximum number of operations that become tools; default 1,000.
    pub max_operations: usize,
    /// Maximum number of JSON values in the schemas of all operations; default 500,000. A schema that several operations use
    /// counts once for each, and a text once more for each 64 bytes.
    pub max_schema_values: usize,
    /// Maximum size of a response, in bytes; default 1 MiB.
    pub max_response_bytes: usize,
    /// The longest time of a request to the API; default 30 s.
    pub request_timeout: Duration,
}

impl Default for OpenApiLimits {
    fn default() -> Self {
        Self {
            max_document_bytes: 16 << 20,
            max_operations: 1_000,
            max_schema_values: 500_000,
            max_response_bytes: 1 << 20,
            request_timeout: Duration::from_secs(30),
        }
    }
}
