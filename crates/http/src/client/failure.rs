//! The errors of one message, and their meaning for the layers above the transport.

use std::time::Duration;

use pintle_proto::{TransportError, TransportErrorKind};
use pintle_runtime::AuthorizerError;

use crate::body::BodyError;
use crate::client::answer::ResponseError;
use crate::client::endpoint_url::UrlError;
use crate::client::events::StreamError;
use crate::client::http_client::HttpClientError;
use crate::client::redirect::RedirectError;
use crate::client::resume::ResumeError;

/// The reason why a message has no answer. It is the source of a [`TransportError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpTransportError {
    /// The request has no HTTP response.
    #[error(transparent)]
    Fetch(#[from] HttpClientError),
    /// The response is a redirect that is not followed.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    /// The head of the response reports an error.
    #[error(transparent)]
    Trouble(#[from] ResponseError),
    /// The stream of the response cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The stream of the response ended before the answer.
    #[error(transparent)]
    Lost(#[from] ResumeError),
    /// The authorizer failed.
    #[error(transparent)]
    Unauthorized(#[from] AuthorizerError),
    /// The head of the response did not arrive in time.
    #[error("the server sent no response headers within {0:?}")]
    Silent(Duration),
    /// The body of the response was not read to its end.
    #[error("the response body cannot be read: {0}")]
    Body(#[from] ResponseBodyError),
    /// The body of the response is not a message, or not the answer.
    #[error("the response body is not the answer to the request")]
    NotTheAnswer,
    /// The session id contains invalid characters.
    #[error("the server sent an invalid session id")]
    SessionId,
    /// The server of the older transport named an invalid URL for messages.
    #[error("invalid message endpoint: {0}")]
    MessageAddress(#[from] MessageEndpointError),
}

/// The reason why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseBodyError {
    /// The body is larger than the limit.
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    /// The server paused for too long.
    #[error("the server sent nothing for {0:?}")]
    Stalled(Duration),
    /// The connection failed.
    #[error("the connection broke")]
    Broken,
}

/// The reason why messages are not sent to a URL that a server named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageEndpointError {
    /// The URL has another origin.
    #[error("the URL has another origin")]
    OtherOrigin,
    /// The text is not a valid URL.
    #[error(transparent)]
    Invalid(#[from] UrlError),
}

impl ResponseBodyError {
    pub(crate) fn new(unread: BodyError, limit: usize, pause: Duration) -> Self {
        match unread {
            BodyError::TooLarge => Self::TooLarge(limit),
            BodyError::Stalled => Self::Stalled(pause),
            BodyError::Broken => Self::Broken,
        }
    }
}

impl HttpTransportError {
    /// Returns the delay that the server requires before a retry. `None` if a retry cannot help.
    pub(crate) fn retry_delay(&self) -> Option<Option<Duration>> {
        match self {
            Self::Fetch(_) | Self::Silent(_) => Some(None),
            Self::Trouble(trouble) if !trouble.is_permanent() => Some(trouble.retry_after()),
            _ => None,
        }
    }

    /// Returns true if the server, or a proxy in front of it, is away or busy.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Fetch(error) => !error.may_have_arrived(),
            Self::Trouble(trouble) => trouble.is_passing(),
            _ => false,
        }
    }

    /// Returns the consequence for the transport.
    pub(crate) fn loss(&self) -> TransportErrorKind {
        match self {
            Self::Fetch(error) => fetch_loss(error),
            Self::Trouble(trouble) => trouble_loss(trouble),
            Self::Lost(ResumeError::Refused(trouble)) => trouble_loss(trouble),
            Self::Stream(StreamError::Broken(error)) => fetch_loss(error),
            Self::Stream(StreamError::TooLong(_)) | Self::Body(ResponseBodyError::TooLarge(_)) => {
                TransportErrorKind::TooLarge
            }
            Self::Silent(_)
            | Self::Stream(StreamError::Silent(_))
            | Self::Body(ResponseBodyError::Stalled(_)) => TransportErrorKind::TimedOut,
            Self::Lost(_) | Self::Body(ResponseBodyError::Broken) => {
                TransportErrorKind::Disconnected
            }
            Self::Unauthorized(_) => TransportErrorKind::Unauthorized(401),
            Self::Redirect(refused) => TransportErrorKind::Status(refused.status()),
            Self::NotTheAnswer | Self::SessionId | Self::MessageAddress(_) => {
                TransportErrorKind::InvalidMessage
            }
        }
    }
}

fn fetch_loss(error: &HttpClientError) -> TransportErrorKind {
    if error.may_have_arrived() {
        TransportErrorKind::Disconnected
    } else {
        TransportErrorKind::Unreachable
    }
}

fn trouble_loss(trouble: &ResponseError) -> TransportErrorKind {
    match trouble {
        ResponseError::Unauthorized(status) => TransportErrorKind::Unauthorized(*status),
        ResponseError::SessionLost => TransportErrorKind::SessionLost,
        ResponseError::Status { status, .. } | ResponseError::NoStream(status) => {
            TransportErrorKind::Status(*status)
        }
        ResponseError::Unanswered(_) | ResponseError::ContentType(_) => {
            TransportErrorKind::InvalidMessage
        }
    }
}

impl From<HttpTransportError> for TransportError {
    fn from(failure: HttpTransportError) -> Self {
        let error = Self::new(failure.loss());
        match failure {
            // A stream is asked for again only where the request had been accepted.
            HttpTransportError::Lost(_) => error.after_acceptance().with_source(failure),
            _ => error.with_source(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> ResponseError {
        ResponseError::Status {
            status,
            retry_after: None,
        }
    }

    #[test]
    fn each_error_states_whether_the_server_may_have_acted() {
        let resolve = HttpClientError::Resolve {
            host: "a".into(),
            source: std::io::Error::other("x"),
        };
        let refused = |trouble| HttpTransportError::from(ResumeError::Refused(trouble));
        let rows: [(HttpTransportError, TransportErrorKind, bool); 12] = [
            (resolve.into(), TransportErrorKind::Unreachable, false),
            (
                HttpClientError::Other("x".into()).into(),
                TransportErrorKind::Disconnected,
                true,
            ),
            (
                ResponseError::Unauthorized(403).into(),
                TransportErrorKind::Unauthorized(403),
                false,
            ),
            (
                ResponseError::SessionLost.into(),
                TransportErrorKind::SessionLost,
                false,
            ),
            (status(404).into(), TransportErrorKind::Status(404), false),
            (status(502).into(), TransportErrorKind::Status(502), true),
            (
                ResponseError::Unanswered(202).into(),
                TransportErrorKind::InvalidMessage,
                true,
            ),
            (
                ResumeError::Ended.into(),
                TransportErrorKind::Disconnected,
                true,
            ),
            // Only the rest of a response is refused; the request was accepted before.
            (
                refused(ResponseError::SessionLost),
                TransportErrorKind::SessionLost,
                true,
            ),
            (
                refused(ResponseError::Unauthorized(401)),
                TransportErrorKind::Unauthorized(401),
                true,
            ),
            (refused(status(404)), TransportErrorKind::Status(404), true),
            (
                HttpTransportError::Silent(Duration::ZERO),
                TransportErrorKind::TimedOut,
                true,
            ),
        ];
        for (failure, loss, may_have_acted) in rows {
            let error = TransportError::from(failure);
            assert_eq!(error.kind(), loss);
            assert_eq!(error.may_have_acted(), may_have_acted, "{error}");
            assert!(std::error::Error::source(&error).is_some());
        }
    }
}
