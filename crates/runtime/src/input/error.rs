//! Why a question has no answer.

use pintle_model::{Error, ErrorCode, errors};
use pintle_proto::{PeerCallError, SendError};
use serde_json::json;

use super::need::RequiredCapability;

errors! {
    /// Reason why a question of a handler has no answer. A user who declines is not an error.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub enum AskError {
        /// The client did not declare the capability for this question.
        Unsupported(capability: RequiredCapability) => "the client does not support {capability}",
        /// Questions are not possible on the way to this request's answer.
        NotHere => "this request cannot ask the client",
        /// The question makes no sense; the handler's author is to blame.
        Invalid(reason: String) => "the question cannot be asked: {reason}",
        /// The question could not be sent.
        Refused(error: SendError) => "the client cannot be asked" (source: error),
        /// The client has not answered it.
        Failed(error: PeerCallError) => "the client did not answer the question" (source: error),
        /// The answer of the client is invalid.
        Malformed(reason: String) => "the client's answer does not fit the question: {reason}",
    }
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
