//! Errors that name the side that failed.

use std::time::Duration;

use pintle_model::errors;
use pintle_model::method::MethodName;
use pintle_model::{Error, Revision};

use crate::transport_error::TransportError;

errors! {
    /// Reason why a message was not sent. The peer has not received it.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub enum SendError {
        /// Too many calls wait for an answer.
        TooManyCalls {
            /// The limit that was reached, in calls.
            limit: usize,
        } => "{limit} calls are open already",
        /// The handshake has not been completed.
        HandshakePending => "the conversation is not open",
        /// Servers make no calls on these terms.
        NoServerRequests {
            /// The revision that the call's lane is served in.
            revision: Revision,
        } => "servers make no calls in revision {revision}",
        /// The client has no way to answer: its request is a conversation of its own.
        ClientUnreachable => "a client without a session cannot be asked",
        /// The request that the call belongs to is settled.
        Settled => "the request that the call belongs to is settled",
        /// The server does not offer what this method belongs to.
        NotOffered {
            /// The method of the call.
            method: MethodName,
        } => "the server does not offer {method}",
        /// The revision that is spoken does not have this method.
        NoSuchMethod {
            /// The method of the call.
            method: MethodName,
            /// The revision of the conversation.
            revision: Revision,
        } => "revision {revision} has no {method}",
        /// The message exceeds the size limit.
        TooLarge {
            /// The limit, in bytes.
            limit: usize,
        } => "the message is larger than {limit} bytes",
        /// The peer reads so slowly that nothing more is queued for it.
        PeerTooSlow => "the peer reads too slowly",
        /// The peer has gone.
        Closed => "the conversation is closed",
    }
}

errors! {
    /// Why a call did not produce a result.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub enum PeerCallError {
        /// The peer answered with an error.
        Answered(error: Error) => "the peer answered with an error: {error}",
        /// The peer's answer is malformed, has a result and an error or neither, or exceeds a limit.
        Contradiction => "the peer's answer is malformed, contradicts itself or exceeds a limit",
        /// The peer chose a revision that we do not speak.
        Incompatible(revision: String)
            => "the peer chose revision {revision}, which is not spoken here",
        /// The peer did not answer within this timeout.
        TimedOut(timeout: Duration) => "no answer within {timeout:?}",
        /// We cancelled it.
        Cancelled => "the call was cancelled",
        /// The conversation ended first. Whether the peer acted is unknown.
        Closed => "the conversation ended before the answer",
        /// The transport failed, for this call or altogether.
        Lost(error: TransportError) => "{error}" (source of error),
    }
}
