//! Questions without an answer.

use std::fmt;

use pintle_model::{Error, ErrorCode};
use pintle_runtime::RequiredCapability;

/// Why a model gave no message. Closed: refusing is a decision, all else is a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SamplingError {
    /// The user does not want it.
    Refused,
    /// It did not work; the server is not told why.
    Failed(String),
}

/// Why a question has no answer. That the user said no is an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum QuestionError {
    /// The client had not declared that it can be asked this; its handler was not called.
    Undeclared(RequiredCapability),
    /// Nobody here knows this kind of question.
    UnknownKind,
    /// The question itself makes no sense, or leads where no user is sent.
    Unsound(String),
    /// The user or the client refused to let a model answer.
    Refused,
    /// The handler failed, or gave an answer that does not fit the question.
    Failed(String),
}

impl QuestionError {
    /// The error that a server is answered with, where it asked by a request.
    pub(crate) fn to_error(&self, method: &str) -> Error {
        match self {
            // The capability itself was declared, or the request was rejected before.
            Self::Undeclared(
                RequiredCapability::Form
                | RequiredCapability::Url
                | RequiredCapability::SamplingTools,
            ) => Error::invalid_params(self.to_string()),
            Self::Undeclared(_) | Self::UnknownKind => Error::method_not_found(method),
            Self::Unsound(reason) => Error::invalid_params(reason.clone()),
            Self::Refused => Error::new(ErrorCode(-1), "the user refused the sampling request"),
            Self::Failed(_) => Error::internal(),
        }
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared(need) => write!(f, "this client did not declare {need}"),
            Self::UnknownKind => f.write_str("the question is of a kind that is unknown here"),
            Self::Unsound(reason) => write!(f, "the question is not sound: {reason}"),
            Self::Refused => f.write_str("the user refused to let the model answer"),
            Self::Failed(reason) => write!(f, "the question's handler failed: {reason}"),
        }
    }
}

impl std::error::Error for QuestionError {}
