//! Who is to blame.

use std::time::Duration;

use pintle_model::Error;

/// Why we decline to send. The peer has seen nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Too many calls wait for an answer.
    #[error("{limit} calls are open already")]
    TooManyCalls {
        /// The limit that was reached.
        limit: usize,
    },
    /// The handshake has not been completed.
    #[error("the conversation is not open")]
    NotOpen,
    /// The peer has gone.
    #[error("the conversation is closed")]
    Closed,
}

/// Why a call did not produce a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The peer answered with an error.
    #[error("the peer answered with an error: {0}")]
    Answered(Error),
    /// The peer's answer was no answer: a result and an error at once, or neither.
    #[error("the peer's answer contradicts itself")]
    Contradiction,
    /// The peer chose a revision that we do not speak.
    #[error("the peer chose revision {0}, which is not spoken here")]
    Incompatible(String),
    /// No answer within the caller's patience.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// We cancelled it.
    #[error("the call was cancelled")]
    Cancelled,
    /// The conversation ended first. Whether the peer acted is unknown.
    #[error("the conversation ended before the answer")]
    Closed,
}
