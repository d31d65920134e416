//! Errors of a proxy, and the errors that its clients receive.

use pintle::client::{CallError, ConnectError};
use pintle::model::method::{Method, ReadResource};
use pintle::model::{Error, ErrorCode, Feature};
use pintle::runtime::Context;

/// The reason why a proxy cannot serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The configuration of the client is invalid.
    #[error("invalid client of the proxy")]
    Client(#[source] ConnectError),
    /// The server cannot be reached, or the handshake failed.
    #[error("the proxy cannot open a connection to the server")]
    Connect(#[source] CallError),
    /// A new name of [`ToolFilter::rename`](crate::ToolFilter::rename) or
    /// [`PromptFilter::rename`](crate::PromptFilter::rename) is empty, or that of two tools or prompts.
    #[error("invalid new name: `{name}` is empty, or given to two tools or prompts")]
    Names {
        /// The name that is wrong.
        name: String,
    },
}

/// The error that a client receives for a call that failed. An error of the server stays as it is.
pub(crate) fn error_of(failure: CallError) -> Error {
    match failure {
        CallError::Answered { error, .. } => *error,
        CallError::NotSent { method, source } => {
            tracing::debug!(%source, method = method.as_str(), "a call was not sent");
            if matches!(source, pintle::proto::SendError::NoSuchMethod { .. }) {
                return Error::method_not_found(method.as_str());
            }
            internal(&format!(
                "the server behind the proxy does not accept the call: {source}"
            ))
        }
        CallError::InvalidParams { reason, .. } => Error::invalid_params(reason),
        failure @ CallError::NotApproved { .. } => {
            tracing::warn!(error = %failure, "a call was not sent");
            Error::invalid_params(chain(&failure))
        }
        failure => {
            tracing::warn!(error = %chain(&failure), "a call failed behind the proxy");
            internal(&format!(
                "the server behind the proxy failed: {}",
                chain(&failure)
            ))
        }
    }
}

/// Returns the error as the client's revision has it: a resource that does not exist is -32602 since 2026-07-28,
/// and -32002 before.
pub(crate) fn fit_error(mut error: Error, cx: &Context) -> Error {
    let reads = cx.request().method.as_str() == ReadResource::NAME;
    if reads && error.is_resource_not_found() {
        let is_new = cx.terms().has(Feature::ResourceNotFoundIsInvalidParams);
        error.code = match is_new {
            true => ErrorCode::INVALID_PARAMS,
            false => ErrorCode::RESOURCE_NOT_FOUND,
        };
    }
    error
}

/// -32603 with a text.
pub(crate) fn internal(text: &str) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, text.to_owned())
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
