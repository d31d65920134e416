//! Errors of documents, and of calls.

use std::sync::Arc;

use pintle_model::errors;
use pintle_runtime::{FetchError, UrlError};

errors! {
    /// Reason why a document has no operations for tools.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub enum OpenApiError {
        /// The file is not readable.
        File(cause: Arc<std::io::Error>) => "the OpenAPI document is not readable" (source: &**cause),
        /// The document has more bytes than the limit.
        TooLarge(limit: usize) => "the OpenAPI document has more than {limit} bytes",
        /// The text is not JSON.
        NotJson(cause: Arc<serde_json::Error>) => "the OpenAPI document is not JSON; convert YAML first" (source: &**cause),
        /// The version is not supported.
        Version(version: Box<str>) => "the OpenAPI version {version:?} is not supported; 3.0 and 3.1 are",
        /// No base URL is set.
        NoBaseUrl => "the API has no base URL; set `base_url`, or accept the server of the document",
        /// The base URL is not valid.
        BaseUrl {
            /// The URL, with 200 characters at most.
            url: Box<str>,
            /// Reason why it is not the base of an API.
            cause: UrlError,
        } => "invalid base URL {url:?}" (source: cause),
        /// There are more operations than the limit.
        TooManyOperations(limit: usize) => "the OpenAPI document has more than {limit} operations; choose some by a filter",
        /// The schemas of all operations are larger than the limit.
        TooManySchemas(limit: usize) => "the schemas of the operations have more than {limit} values; choose some operations by a filter",
        /// A filter names an operation that the document does not have.
        NoOperation(operation: Box<str>) => "the OpenAPI document has no operation `{operation}`",
        /// An operation cannot be a tool.
        Unsupported {
            /// The id of the operation, or its method and path.
            operation: Box<str>,
            /// Reason why it cannot be one.
            cause: UnsupportedOperationError,
        } => "the operation `{operation}` cannot be a tool; leave it out by a filter, or call `skip_unsupported`" (source: cause),
    }
}

errors! {
    /// Reason why an operation cannot be a tool.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub enum UnsupportedOperationError {
        /// A member has another type than OpenAPI requires.
        Malformed(member: Box<str>) => "`{member}` has an invalid value",
        /// A reference is not in the document, or refers to itself.
        Reference(reference: Box<str>) => "the reference {reference:?} is not in the document",
        /// The schemas of all operations have more values than the limit.
        TooManyValues => "the schemas have too many values",
        /// A schema nests too deep.
        TooDeep => "a schema nests deeper than 64 levels",
        /// The path has no variable for a parameter, or no parameter for a variable.
        PathTemplate(path: Box<str>) => "the path {path:?} and its parameters do not fit",
        /// A parameter is required, and its place or style is not supported.
        Parameter(name: Box<str>) => "the place or style of the required parameter `{name}` is not supported",
        /// The body is required, and is not JSON.
        Body => "the request body is not JSON",
        /// The tool has an invalid definition.
        Tool(reason: Arc<dyn std::error::Error + Send + Sync>) => "the tool is invalid" (source: &**reason),
    }
}

errors! {
    /// Reason why a call of an operation has no result. The model reads it.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub enum OpenApiCallError {
        /// An argument cannot be a part of the request.
        Argument {
            /// The name of the argument.
            name: Box<str>,
            /// Reason for the model.
            reason: Box<str>,
        } => "invalid argument `{name}`: {reason}",
        /// The API did not respond.
        Fetch(cause: FetchError) => "the API did not respond" (source: cause),
        /// The API responded with an error.
        Status {
            /// The HTTP status of the response.
            status: u16,
            /// The beginning of the response.
            text: Box<str>,
        } => "the API responded with HTTP status {status}: {text}",
        /// The API redirects to another URL.
        Redirect(status: u16) => "the API redirects (HTTP status {status}), which is not followed",
        /// The response is not text.
        NotText => "the response of the API is not text",
    }
}

impl UnsupportedOperationError {
    /// A member with an invalid value.
    pub(crate) fn malformed(member: &str) -> Self {
        Self::Malformed(member.into())
    }
}

/// The error for an argument that cannot be a part of the request.
pub(crate) fn refused(name: &str, reason: &str) -> OpenApiCallError {
    OpenApiCallError::Argument {
        name: name.into(),
        reason: reason.into(),
    }
}
