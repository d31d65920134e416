//! Errors of a client: the failed operation, its cause, and the possible recovery.

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

/// The reason why a call has no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server understood the request and answered with an error.
    #[error("{method} was answered with an error: {error}")]
    Answered {
        /// Method of the call.
        method: MethodName,
        /// The error.
        error: Box<Error>,
    },
    /// The server broke the protocol; the result, if there was one, must not be used.
    #[error("the server misbehaved in answer to {method}")]
    Misbehaved {
        /// Method of the call.
        method: MethodName,
        /// The violation of the protocol.
        #[source]
        source: Misbehavior,
    },
    /// The call was not sent: the server does not offer it, too many calls are open, or it is too
    /// large.
    #[error("{method} was not sent")]
    NotSent {
        /// Method of the call.
        method: MethodName,
        /// The reason.
        #[source]
        source: SendError,
    },
    /// The parameters are invalid, so that the call was not sent.
    #[error("invalid parameters for {method}: {reason}")]
    InvalidParams {
        /// Method of the call.
        method: MethodName,
        /// The invalid part.
        reason: String,
    },
    /// The server asked a question before its answer, and the client cannot answer it. The call
    /// ends here, because the protocol has no way to report that.
    #[error("a question of the server during {method} could not be answered")]
    QuestionFailed {
        /// Method of the call.
        method: MethodName,
        /// The reason.
        #[source]
        source: QuestionError,
    },
    /// The server did not answer within the call's timeout. The call was cancelled at the server.
    #[error("{method} was not answered within {timeout:?}")]
    TimedOut {
        /// Method of the call.
        method: MethodName,
        /// The timeout that elapsed.
        timeout: Duration,
    },
    /// The call became a task, and the task was cancelled.
    #[error("{method} became the task {task}, which was cancelled")]
    TaskCancelled {
        /// Method of the call.
        method: MethodName,
        /// The task's id.
        task: String,
    },
    /// The transport failed. [`TransportError::may_have_acted`] returns true if the server may have
    /// acted.
    #[error("the connection was lost during {method}")]
    Disconnected {
        /// Method of the call.
        method: MethodName,
        /// The failure of the transport.
        #[source]
        source: TransportError,
    },
    /// There is no connection for the call.
    #[error("there is no connection for {method}")]
    NotConnected {
        /// Method of the call.
        method: MethodName,
        /// The reason.
        #[source]
        source: Arc<ConnectError>,
    },
    /// The tool was not called, because its output schema cannot be used.
    /// [`OutputCheck::Off`](crate::OutputCheck::Off) disables this check.
    #[error("the tool {tool:?} was not called, because its output schema is invalid")]
    UnusableOutputSchema {
        /// Name of the tool.
        tool: String,
        /// The defect of the schema.
        #[source]
        source: SchemaError,
    },
    /// The tool was not called, because its present definition is not approved. See
    /// [`ClientBuilder::pin_tools`](crate::ClientBuilder::pin_tools).
    #[error("the tool {tool:?} was not called")]
    NotApproved {
        /// Name of the tool.
        tool: String,
        /// The reason.
        #[source]
        why: ApprovalError,
    },
    /// The client was closed.
    #[error("the client was closed before {method} was answered")]
    Closed {
        /// Method of the call.
        method: MethodName,
    },
}

impl CallError {
    /// Returns the error that the server answered with.
    pub fn answer(&self) -> Option<&Error> {
        match self {
            Self::Answered { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Returns true if the server answered that no resource has the URI, in any revision: see
    /// [`Error::is_resource_not_found`].
    pub fn is_resource_not_found(&self) -> bool {
        self.answer().is_some_and(Error::is_resource_not_found)
    }

    /// Returns the output of a tool that violates the tool's schema, and where they differ.
    pub fn unfit_output(&self) -> Option<&OutputError> {
        match self {
            Self::Misbehaved {
                source: Misbehavior::Output(unfit),
                ..
            } => Some(unfit),
            _ => None,
        }
    }

    /// Returns the URLs that the user must visit before the call can succeed (2025-11-25, -32042).
    pub fn required_urls(&self) -> Option<UrlElicitationRequired> {
        let error = self.answer()?;
        if error.code != pintle_model::ErrorCode::URL_ELICITATION_REQUIRED {
            return None;
        }
        serde_json::from_value(*error.data.clone()?).ok()
    }

    /// Returns true if repeating the call cannot repeat its effects.
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
            PeerCallError::TimedOut(timeout) => Self::TimedOut { method, timeout },
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

/// A violation of the protocol by a server.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehavior {
    /// The answer contains both a result and an error, or neither; or it exceeds a limit.
    #[error("the answer contradicts itself or exceeds a limit")]
    Contradiction,
    /// The result does not have the form that its method requires.
    #[error(transparent)]
    Unreadable(Arc<OutcomeError>),
    /// The list in the result is malformed.
    #[error("the list is malformed")]
    NoList(#[source] Arc<serde_json::Error>),
    /// The server asked for input in answer to a request that does not allow it.
    #[error("the server asked for input in answer to a request that does not allow it")]
    UnexpectedQuestion,
    /// The server returned a task for a request that cannot be a task.
    #[error("the server returned a task for a request that cannot be a task")]
    UnexpectedTask,
    /// The server returned another task than the requested one.
    #[error("the server returned another task than the requested one")]
    AnotherTask,
    /// A task ended as completed or failed, but has neither a result nor an error.
    #[error("the task has ended without a result and without an error")]
    NoOutcome,
    /// A task asked more questions than the limit.
    #[error("the task asked more than {limit} questions")]
    TooManyQuestions {
        /// The limit:
        /// [`ClientOptions::max_questions_per_task`](crate::ClientOptions::max_questions_per_task).
        limit: usize,
    },
    /// The server asked for a further round that the request does not allow.
    #[error(transparent)]
    Rounds(RoundsError),
    /// A list returned the same cursor twice, so that it has no end.
    #[error("the list has no end: a cursor occurred twice")]
    RepeatedCursor,
    /// A list has more pages or items than the limit.
    #[error("the list is longer than {limit} {unit}")]
    EndlessList {
        /// The limit.
        limit: usize,
        /// The counted unit.
        unit: &'static str,
    },
    /// The server acknowledged a subscription to changes that were not requested.
    #[error("the server acknowledged changes that were not requested")]
    ExcessiveAcknowledgement,
    /// The server chose a revision that this client does not support.
    #[error("the server chose revision {0}, which this client does not support")]
    Revision(String),
    /// The structured content of a tool violates the tool's output schema.
    #[error(transparent)]
    Output(Arc<OutputError>),
}

/// The reason why a client has no conversation with a server.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The transport could not be opened, or failed before the server and the client agreed.
    #[error("the server is not reachable")]
    Unreachable(#[source] TransportError),
    /// The server requires authorization, or refuses the requests of this client.
    #[error("the server does not let this client in")]
    Unauthorized(#[source] TransportError),
    /// There is no revision that both sides speak.
    #[error("the server speaks {}, and this client {}", list(theirs), list(ours))]
    NoCommonRevision {
        /// The revisions that this client may use with the server.
        ours: Vec<String>,
        /// The revisions that the server supports.
        theirs: Vec<String>,
    },
    /// The server requires a handshake, which the client's [`EraMode`](crate::EraMode) does not
    /// allow.
    #[error(
        "the server supports only revisions with a handshake, and this client is set to {}",
        list(ours)
    )]
    HandshakeRequired {
        /// The revisions that this client may use with the server.
        ours: Vec<String>,
    },
    /// The server answered the first request with an error.
    #[error("the server refused the conversation: {0}")]
    Rejected(Error),
    /// The server did not answer the first request.
    #[error("the server did not answer {what} within {timeout:?}")]
    TimedOut {
        /// The request.
        what: &'static str,
        /// The timeout that elapsed.
        timeout: Duration,
    },
    /// The server's answer to the first request violates the protocol.
    #[error("the server misbehaved while the conversation was opened")]
    Misbehaved(#[source] Misbehavior),
    /// The configuration of the client is invalid.
    #[error("invalid client configuration: {0}")]
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
