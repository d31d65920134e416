//! The input of a retry, for handlers that return their questions themselves.

use pintle_model::InputResponses;

/// What a retry carries, for handlers that return their questions themselves.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RetryInput {
    /// The answers.
    pub responses: InputResponses,
    /// What the handler let the client carry back.
    pub state: Option<String>,
}

impl RetryInput {
    /// The answers, and what is carried.
    pub fn new(responses: InputResponses, state: Option<String>) -> Self {
        Self { responses, state }
    }
}
