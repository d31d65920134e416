//! Who is to blame.

use std::fmt;
use std::time::Duration;

use pintle_model::{Error, Revision};

/// Why we decline to send. The peer has seen nothing.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Too many calls wait for an answer.
    TooManyCalls {
        /// The limit that was reached.
        limit: usize,
    },
    /// The handshake has not been completed.
    NotOpen,
    /// Servers make no calls on these terms.
    NoServerRequests {
        /// The revision that the call's lane is served in.
        revision: Revision,
    },
    /// The client has no way to answer: its request is a conversation of its own.
    NoWayBack,
    /// The request that the call belongs to is settled.
    Settled,
    /// The peer has gone.
    Closed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyCalls { limit } => write!(f, "{limit} calls are open already"),
            Self::NotOpen => f.write_str("the conversation is not open"),
            Self::NoServerRequests { revision } => {
                write!(f, "servers make no calls in revision {revision}")
            }
            Self::NoWayBack => f.write_str("a client without a session cannot be asked"),
            Self::Settled => f.write_str("the request that the call belongs to is settled"),
            Self::Closed => f.write_str("the conversation is closed"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Why a call did not produce a result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallFailure {
    /// The peer answered with an error.
    Answered(Error),
    /// The peer's answer was no answer: a result and an error at once, or neither.
    Contradiction,
    /// The peer chose a revision that we do not speak.
    Incompatible(String),
    /// No answer within the caller's patience.
    TimedOut(Duration),
    /// We cancelled it.
    Cancelled,
    /// The conversation ended first. Whether the peer acted is unknown.
    Closed,
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(error) => write!(f, "the peer answered with an error: {error}"),
            Self::Contradiction => f.write_str("the peer's answer contradicts itself"),
            Self::Incompatible(revision) => write!(
                f,
                "the peer chose revision {revision}, which is not spoken here"
            ),
            Self::TimedOut(patience) => write!(f, "no answer within {patience:?}"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Closed => f.write_str("the conversation ended before the answer"),
        }
    }
}

impl std::error::Error for CallFailure {}
