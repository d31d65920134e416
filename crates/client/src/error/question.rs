//! Questions without an answer.

use std::fmt;

use pintle_model::{Error, ErrorCode};
use pintle_runtime::RequiredCapability;

/// The reason why a model returned no message. Closed: a refusal is a decision, all else is a
/// failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SamplingError {
    /// The user refused the request.
    Refused,
    /// The request failed. The reason is not sent to the server.
    Failed(String),
}

/// The reason why a question has no answer. A user who declines has answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum QuestionError {
    /// The client has not declared the capability for this question; its handler was not called.
    Undeclared(RequiredCapability),
    /// This client does not know this kind of question.
    UnknownKind,
    /// The question is invalid, or its URL is one that the client does not open.
    Unsound(String),
    /// The user or the client refused to let a model answer.
    Refused,
    /// The handler failed, or its answer does not fit the question.
    Failed(String),
    /// The handler of all questions answered with this error: see
    /// [`ClientBuilder::on_question`](crate::ClientBuilder::on_question).
    Answered(Error),
}

impl QuestionError {
    /// Returns the error to answer the server with if the question was a request.
    pub(crate) fn to_error(&self, method: &str) -> Error {
        match self {
            // The capability itself is declared, because other requests are rejected before.
            Self::Undeclared(
                RequiredCapability::Form
                | RequiredCapability::Url
                | RequiredCapability::SamplingTools,
            ) => Error::invalid_params(self.to_string()),
            Self::Undeclared(_) | Self::UnknownKind => Error::method_not_found(method),
            Self::Unsound(reason) => Error::invalid_params(reason.clone()),
            Self::Refused => Error::new(ErrorCode(-1), "the user refused the sampling request"),
            Self::Failed(_) => Error::internal(),
            Self::Answered(error) => error.clone(),
        }
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared(need) => write!(f, "this client did not declare {need}"),
            Self::UnknownKind => f.write_str("the kind of the question is unknown"),
            Self::Unsound(reason) => write!(f, "invalid question: {reason}"),
            Self::Refused => f.write_str("the user refused to let the model answer"),
            Self::Failed(reason) => write!(f, "the handler of the question failed: {reason}"),
            Self::Answered(error) => write!(f, "the question was answered with an error: {error}"),
        }
    }
}

impl std::error::Error for QuestionError {}
