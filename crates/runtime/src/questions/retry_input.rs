//! The input of a retry, for handlers that return their questions themselves.

use pintle_model::InputResponses;

/// Content of a retry, for handlers that return their questions themselves.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RetryInput {
    /// The answers to the questions of the last round.
    pub responses: InputResponses,
    /// The state that the handler gave to the client.
    pub state: Option<String>,
}

impl RetryInput {
    /// Content of a retry: the answers, and the state.
    pub fn new(responses: InputResponses, state: Option<String>) -> Self {
        Self { responses, state }
    }
}
