//! How a transport fails.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A transport lost a call, or everything. Cheap to clone: all calls in flight are told the same.
#[derive(Debug, Clone)]
pub struct TransportError {
    loss: TransportErrorKind,
    was_accepted: bool,
    detail: Option<Arc<str>>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What was lost, as far as it decides what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// No connection came about; the server has seen nothing.
    Unreachable,
    /// The connection broke, or ended before the answer. Whether the server acted is unknown.
    Disconnected,
    /// The server does not know the session any more; a new one may be opened.
    SessionLost,
    /// The server answered with this HTTP status and without a message.
    Status(u16),
    /// The server wants authorization first: 401 or 403.
    Unauthorized(u16),
    /// The server answered with something that is no message.
    InvalidMessage,
    /// The server sent a message that is larger than one may be.
    TooLarge,
    /// The server was silent for longer than the transport waits.
    TimedOut,
    /// The server's process ended.
    ProcessExited,
}

impl TransportError {
    /// A loss that needs no words.
    pub fn new(loss: TransportErrorKind) -> Self {
        Self {
            loss,
            was_accepted: false,
            detail: None,
            source: None,
        }
    }

    /// Says more: an exit status, the end of standard error, the address.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Arc<str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Says that the server had accepted the call before: what it refused later was to go on with
    /// its answer.
    #[must_use]
    pub fn after_acceptance(mut self) -> Self {
        self.was_accepted = true;
        self
    }

    /// Names the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// What was lost.
    pub fn kind(&self) -> TransportErrorKind {
        self.loss
    }

    /// Whether the server may have acted on the call. When not, the call may be made again.
    pub fn may_have_acted(&self) -> bool {
        match self.loss {
            _ if self.was_accepted => true,
            TransportErrorKind::Unreachable
            | TransportErrorKind::SessionLost
            | TransportErrorKind::Unauthorized(_) => false,
            TransportErrorKind::Status(status) => status >= 500,
            _ => true,
        }
    }

    /// What the transport says about it.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

/// Equal when the same was lost in the same words; causes are not compared.
impl PartialEq for TransportError {
    fn eq(&self, other: &Self) -> bool {
        self.loss == other.loss && self.detail == other.detail
    }
}

impl From<TransportErrorKind> for TransportError {
    fn from(loss: TransportErrorKind) -> Self {
        Self::new(loss)
    }
}

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("the server cannot be reached"),
            Self::Disconnected => f.write_str("the connection was lost"),
            Self::SessionLost => f.write_str("the server has forgotten the session"),
            Self::Status(status) => write!(f, "the server answered with HTTP status {status}"),
            Self::Unauthorized(status) => {
                write!(f, "the server wants authorization (HTTP status {status})")
            }
            Self::InvalidMessage => f.write_str("the server sent something that is no message"),
            Self::TooLarge => f.write_str("the server sent a message that is too large"),
            Self::TimedOut => f.write_str("the server was silent for too long"),
            Self::ProcessExited => f.write_str("the server's process ended"),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.loss.fmt(f)?;
        match &self.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
