//! Who is to blame.

use std::fmt;
use std::time::Duration;

use pintle_model::method::MethodName;
use pintle_model::{Error, Revision};

use crate::transport_error::TransportError;

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
    /// The server does not offer what this method belongs to.
    NotOffered {
        /// The method.
        method: MethodName,
    },
    /// The revision that is spoken does not have this method.
    NoSuchMethod {
        /// The method.
        method: MethodName,
        /// The revision.
        revision: Revision,
    },
    /// The message is larger than one may be.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The peer reads so slowly that nothing more is queued for it.
    Behind,
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
            Self::NotOffered { method } => write!(f, "the server does not offer {method}"),
            Self::NoSuchMethod { method, revision } => {
                write!(f, "revision {revision} has no {method}")
            }
            Self::TooLarge { limit } => write!(f, "the message is larger than {limit} bytes"),
            Self::Behind => f.write_str("the peer does not read what is sent to it"),
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
    /// The peer's answer is malformed, has a result and an error or neither, or exceeds a limit.
    Contradiction,
    /// The peer chose a revision that we do not speak.
    Incompatible(String),
    /// No answer within the caller's patience.
    TimedOut(Duration),
    /// We cancelled it.
    Cancelled,
    /// The conversation ended first. Whether the peer acted is unknown.
    Closed,
    /// The transport failed, for this call or altogether.
    Lost(TransportError),
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(error) => write!(f, "the peer answered with an error: {error}"),
            Self::Contradiction => {
                f.write_str("the peer's answer is malformed, contradicts itself or exceeds a limit")
            }
            Self::Incompatible(revision) => write!(
                f,
                "the peer chose revision {revision}, which is not spoken here"
            ),
            Self::TimedOut(patience) => write!(f, "no answer within {patience:?}"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Closed => f.write_str("the conversation ended before the answer"),
            Self::Lost(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Lost(error) => error.source(),
            _ => None,
        }
    }
}
