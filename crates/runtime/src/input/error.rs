//! Why a question has no answer.

use std::fmt;

use pintle_model::{Error, ErrorCode};
use pintle_proto::{PeerCallError, SendError};
use serde_json::json;

use super::need::RequiredCapability;

/// Reason why a question of a handler has no answer. A user who declines is not an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not declare the capability for this question.
    Unsupported(RequiredCapability),
    /// Questions are not possible on the way to this request's answer.
    NotHere,
    /// The question makes no sense; the handler's author is to blame.
    Invalid(String),
    /// The question could not be sent.
    Refused(SendError),
    /// The client has not answered it.
    Failed(PeerCallError),
    /// The answer of the client is invalid.
    Malformed(String),
}

impl AskError {
    /// The error as a protocol error, where the revision has one for it: -32021.
    pub fn to_error(&self) -> Error {
        match self {
            Self::Unsupported(need) => {
                Error::new(ErrorCode::MISSING_CLIENT_CAPABILITY, self.to_string())
                    .with_data(json!({ "requiredCapabilities": need.to_capabilities() }))
            }
            _ => Error::new(ErrorCode::INTERNAL_ERROR, self.to_string()),
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(need) => write!(f, "the client does not support {need}"),
            Self::NotHere => f.write_str("this request cannot ask the client"),
            Self::Invalid(reason) => write!(f, "the question cannot be asked: {reason}"),
            Self::Refused(_) => f.write_str("the client cannot be asked"),
            Self::Failed(_) => f.write_str("the client did not answer the question"),
            Self::Malformed(reason) => {
                write!(f, "the client's answer does not fit the question: {reason}")
            }
        }
    }
}

impl std::error::Error for AskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}
