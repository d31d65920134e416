//! How a transport fails.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The failure of one call, or of the whole transport. Cheap to clone, because all calls in flight
/// get the same error.
#[derive(Debug, Clone)]
pub struct TransportError {
    kind: TransportErrorKind,
    was_accepted: bool,
    detail: Option<Arc<str>>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// Kind of failure, where the next step depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The connection failed; the server has received nothing.
    Unreachable,
    /// The connection broke, or ended before the answer. Whether the server acted is unknown.
    Disconnected,
    /// The server does not know the session any more; a new one may be opened.
    SessionLost,
    /// The server answered with this HTTP status and without a message.
    Status(u16),
    /// 401: the server requires authorization first. 403: it refuses the request.
    Unauthorized(u16),
    /// The server sent an invalid message.
    InvalidMessage,
    /// The server sent a message that is larger than one may be.
    TooLarge,
    /// The server did not respond within the timeout of the transport.
    TimedOut,
    /// The server's process ended.
    ProcessExited,
}

impl TransportError {
    /// An error of this kind, without a detail or a cause.
    pub fn new(kind: TransportErrorKind) -> Self {
        Self {
            kind,
            was_accepted: false,
            detail: None,
            source: None,
        }
    }

    /// Adds a detail: an exit status, the end of standard error, the address.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Arc<str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Notes that the server had accepted the call before: it refused only to continue its answer.
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

    /// Returns the kind of failure.
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }

    /// Whether the server may have acted on the call. When not, the call may be made again.
    pub fn may_have_acted(&self) -> bool {
        match self.kind {
            _ if self.was_accepted => true,
            TransportErrorKind::Unreachable
            | TransportErrorKind::SessionLost
            | TransportErrorKind::Unauthorized(_) => false,
            TransportErrorKind::Status(status) => status >= 500,
            _ => true,
        }
    }

    /// Returns the detail that the transport added.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

/// Compares kind and detail; causes are not compared.
impl PartialEq for TransportError {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.detail == other.detail
    }
}

impl From<TransportErrorKind> for TransportError {
    fn from(kind: TransportErrorKind) -> Self {
        Self::new(kind)
    }
}

/// The text for 403, which has more causes than a token.
const FORBIDDEN: &str =
    "the server refuses the request (HTTP status 403): its token, its Host or its Origin";

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("the server cannot be reached"),
            Self::Disconnected => f.write_str("the connection was lost"),
            Self::SessionLost => f.write_str("the session is unknown to the server"),
            Self::Status(status) => write!(f, "the server answered with HTTP status {status}"),
            Self::Unauthorized(403) => f.write_str(FORBIDDEN),
            Self::Unauthorized(status) => {
                write!(
                    f,
                    "the server requires authorization (HTTP status {status})"
                )
            }
            Self::InvalidMessage => f.write_str("the server sent an invalid message"),
            Self::TooLarge => f.write_str("the server sent a message that is too large"),
            Self::TimedOut => f.write_str("the server did not respond in time"),
            Self::ProcessExited => f.write_str("the server's process ended"),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
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
