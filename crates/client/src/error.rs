//! Why something did not work: what was attempted, who is to blame, what can be done.

mod approval;
mod output;
mod question;

use std::sync::Arc;
use std::time::Duration;

use pintle_model::method::MethodName;
use pintle_model::{Error, OutcomeError, UrlElicitationRequired};
use pintle_proto::{PeerCallError, RoundsError, SendError, TransportError};
use pintle_schema::SchemaError;

pub use approval::ApprovalError;
pub use output::{OutputError, OutputErrorKind};
pub use question::{QuestionError, SamplingError};

/// Why a call did not produce a result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server understood the request and answered with an error.
    #[error("{method} was answered with an error: {error}")]
    Answered {
        /// What was asked.
        method: MethodName,
        /// The error.
        error: Box<Error>,
    },
    /// The server broke the protocol; the result, if there was one, must not be used.
    #[error("the server misbehaved in answer to {method}")]
    Misbehaved {
        /// What was asked.
        method: MethodName,
        /// What it did.
        #[source]
        source: Misbehavior,
    },
    /// The call was not sent: the server does not offer it, too many calls are open, or it is too
    /// large.
    #[error("{method} was not sent")]
    NotSent {
        /// What was to be asked.
        method: MethodName,
        /// Why not.
        #[source]
        source: SendError,
    },
    /// What was to be sent cannot be said; the caller is to blame.
    #[error("invalid parameters for {method}: {reason}")]
    InvalidParams {
        /// What was to be asked.
        method: MethodName,
        /// What is wrong with it.
        reason: String,
    },
    /// The server asked a question on the way, and it has no answer. The call ends here: there is
    /// no way to tell the server.
    #[error("a question on the way to the answer of {method} could not be answered")]
    QuestionFailed {
        /// What was asked.
        method: MethodName,
        /// Why not.
        #[source]
        source: QuestionError,
    },
    /// No answer within the caller's patience. The server has been told.
    #[error("{method} was not answered within {patience:?}")]
    TimedOut {
        /// What was asked.
        method: MethodName,
        /// How long the wait was.
        patience: Duration,
    },
    /// The call became a task, and somebody cancelled that.
    #[error("{method} became the task {task}, which was cancelled")]
    TaskCancelled {
        /// What was asked.
        method: MethodName,
        /// The task's name.
        task: String,
    },
    /// The transport failed. [`TransportError::may_have_acted`] says whether the server may have
    /// acted.
    #[error("the connection was lost during {method}")]
    Disconnected {
        /// What was asked.
        method: MethodName,
        /// How it was lost.
        #[source]
        source: TransportError,
    },
    /// There is no connection for the call.
    #[error("there is no connection for {method}")]
    NotConnected {
        /// What was to be asked.
        method: MethodName,
        /// Why not.
        #[source]
        source: Arc<ConnectError>,
    },
    /// The tool was not called: the schema of what it gives cannot be used.
    /// [`OutputCheck::Off`](crate::OutputCheck::Off) calls it all the same.
    #[error("the tool {tool:?} was not called, because its output could not be checked")]
    UnusableOutputSchema {
        /// The tool.
        tool: String,
        /// What is wrong with the schema.
        #[source]
        source: SchemaError,
    },
    /// The tool was not called: it is not approved as it is. See
    /// [`ClientBuilder::pin_tools`](crate::ClientBuilder::pin_tools).
    #[error("the tool {tool:?} was not called")]
    NotApproved {
        /// The tool.
        tool: String,
        /// Why not.
        #[source]
        why: ApprovalError,
    },
    /// The client was closed.
    #[error("the client was closed before {method} was answered")]
    Closed {
        /// What was asked.
        method: MethodName,
    },
}

impl CallError {
    /// The error that the server answered with.
    pub fn answer(&self) -> Option<&Error> {
        match self {
            Self::Answered { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns true if the server answered that there is no resource at the URI, in whatever
    /// revision: see [`Error::is_resource_not_found`].
    pub fn is_resource_not_found(&self) -> bool {
        self.answer().is_some_and(Error::is_resource_not_found)
    }

    /// What a tool gave although it promises something else, and where the two differ.
    pub fn unfit_output(&self) -> Option<&OutputError> {
        match self {
            Self::Misbehaved {
                source: Misbehavior::Output(unfit),
                ..
            } => Some(unfit),
            _ => None,
        }
    }

    /// The URLs that the user must visit before the call can succeed (2025-11-25, -32042).
    pub fn required_urls(&self) -> Option<UrlElicitationRequired> {
        let error = self.answer()?;
        if error.code != pintle_model::ErrorCode::URL_ELICITATION_REQUIRED {
            return None;
        }
        serde_json::from_value(error.data.clone()?).ok()
    }

    /// Whether the call may be made again without doing twice what it does.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::NotSent { .. }
            | Self::NotConnected { .. }
            | Self::UnusableOutputSchema { .. }
            | Self::NotApproved { .. } => true,
            Self::Disconnected { source, .. } => !source.may_have_acted(),
            _ => false,
        }
    }

    pub(crate) fn of(method: &MethodName, failure: PeerCallError) -> Self {
        let method = method.clone();
        match failure {
            PeerCallError::Answered(error) => Self::Answered {
                method,
                error: Box::new(error),
            },
            PeerCallError::TimedOut(patience) => Self::TimedOut { method, patience },
            PeerCallError::Lost(source) => Self::Disconnected { method, source },
            PeerCallError::Cancelled | PeerCallError::Closed => Self::Closed { method },
            PeerCallError::Incompatible(revision) => Self::Misbehaved {
                method,
                source: Misbehavior::Revision(revision),
            },
            _ => Self::Misbehaved {
                method,
                source: Misbehavior::Contradiction,
            },
        }
    }
}

/// How a server broke the protocol.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehavior {
    /// A result and an error at once, or neither.
    #[error("the answer contradicts itself, or is more than is read")]
    Contradiction,
    /// The result is not that of the method.
    #[error(transparent)]
    Unreadable(Arc<OutcomeError>),
    /// A list is not one.
    #[error("the list cannot be read")]
    NoList(#[source] Arc<serde_json::Error>),
    /// A result asked for input where no result may.
    #[error("the server asked for input where none may be asked for")]
    UnexpectedQuestion,
    /// A result was a task where none may be.
    #[error("the server returned a task for a request that cannot be a task")]
    UnexpectedTask,
    /// Asked for a task, the server told of another one.
    #[error("the server returned another task than the requested one")]
    AnotherTask,
    /// A task ended as if it had come to something, and there is nothing.
    #[error("the task has ended without a result and without an error")]
    NoOutcome,
    /// A task asks without end.
    #[error("the task asked more than {limit} questions")]
    TooManyQuestions {
        /// How many are answered.
        limit: usize,
    },
    /// The request takes no further round.
    #[error(transparent)]
    Rounds(RoundsError),
    /// A cursor of a list came twice: the list has no end.
    #[error("the list turns in a circle: a cursor came twice")]
    RepeatedCursor,
    /// A list is longer than is read.
    #[error("the list is longer than {limit} {unit}")]
    EndlessList {
        /// How many are read.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
    /// The server said that it tells what it was not asked to.
    #[error("the server acknowledged more than was asked")]
    ExcessiveAcknowledgement,
    /// The server chose a revision that is not spoken here.
    #[error("the server chose revision {0}, which is not spoken here")]
    Revision(String),
    /// The structured content of a tool does not fit the tool's own schema.
    #[error(transparent)]
    Output(Arc<OutputError>),
}

/// Why there is no conversation with a server.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No connection, or none for long enough to agree on anything.
    #[error("the server cannot be talked to")]
    Unreachable(#[source] TransportError),
    /// The server wants authorization.
    #[error("the server requires authorization")]
    Unauthorized(#[source] TransportError),
    /// There is no revision that both sides speak.
    #[error("the server speaks {}, and this client {}", list(theirs), list(ours))]
    NoCommonRevision {
        /// What this client may speak here.
        ours: Vec<String>,
        /// What the server says it speaks.
        theirs: Vec<String>,
    },
    /// The server wants a handshake, and this client was told not to make one.
    #[error(
        "the server supports only revisions with a handshake, and this client is set to {}",
        list(ours)
    )]
    HandshakeRequired {
        /// What this client may speak here.
        ours: Vec<String>,
    },
    /// The server answered the opening with an error.
    #[error("the server refused the conversation: {0}")]
    Rejected(Error),
    /// The server did not answer the opening.
    #[error("the server did not answer {what} within {patience:?}")]
    TimedOut {
        /// What was asked.
        what: &'static str,
        /// How long the wait was.
        patience: Duration,
    },
    /// The server's answer to the opening makes no sense.
    #[error("the server misbehaved while the conversation was opened")]
    Misbehaved(#[source] Misbehavior),
    /// The client is described in a way that cannot be; its author is to blame.
    #[error("the client cannot be: {0}")]
    InvalidConfig(String),
    /// The client was closed.
    #[error("the client is closed")]
    Closed,
}

fn list(dates: &[String]) -> String {
    if dates.is_empty() {
        return "none".to_owned();
    }
    dates.join(", ")
}
