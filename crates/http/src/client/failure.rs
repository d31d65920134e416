//! Why a message was not answered, and what that means above the transport.

use std::time::Duration;

use pintle_proto::{Loss, TransportError};
use pintle_runtime::Unauthorized;

use crate::body::Unread;
use crate::client::answer::Trouble;
use crate::client::events::BrokenStream;
use crate::client::fetch::FetchError;
use crate::client::redirect::RefusedRedirect;
use crate::client::resume::LostStream;
use crate::client::url::UrlError;

/// Why a message was not answered. It is the source of a [`TransportError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpFailure {
    /// There was no HTTP answer.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The answer sends us elsewhere.
    #[error(transparent)]
    Redirect(#[from] RefusedRedirect),
    /// The answer says why not.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// The stream of the answer cannot be read.
    #[error(transparent)]
    Stream(#[from] BrokenStream),
    /// The stream of the answer ended too early.
    #[error(transparent)]
    Lost(#[from] LostStream),
    /// There is no authorization for it.
    #[error(transparent)]
    Unauthorized(#[from] Unauthorized),
    /// The head of the answer did not come.
    #[error("the server did not begin to answer within {0:?}")]
    Silent(Duration),
    /// The body of the answer did not come.
    #[error("the body of the answer cannot be read: {0}")]
    Body(#[from] UnreadBody),
    /// The body of the answer is no message, or none that answers.
    #[error("the body of the answer is not the answer")]
    NotTheAnswer,
    /// The id of a session holds characters that no id may have.
    #[error("the server named the session with something that is no session id")]
    SessionId,
    /// The address that the older transport sends messages to is not acceptable.
    #[error("the server wants messages at an address that is not acceptable: {0}")]
    MessageAddress(#[from] MessageAddress),
}

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadBody {
    /// It is longer than we take.
    #[error("it has more than {0} bytes")]
    TooLarge(usize),
    /// The server paused for too long.
    #[error("the server paused for {0:?}")]
    Stalled(Duration),
    /// The connection failed.
    #[error("the connection broke")]
    Broken,
}

/// Why messages are not sent to an address that a server named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageAddress {
    /// It is of another origin.
    #[error("it is of another origin")]
    OtherOrigin,
    /// It is no address.
    #[error(transparent)]
    Invalid(#[from] UrlError),
}

impl UnreadBody {
    pub(crate) fn new(unread: Unread, limit: usize, pause: Duration) -> Self {
        match unread {
            Unread::TooLarge => Self::TooLarge(limit),
            Unread::Stalled => Self::Stalled(pause),
            Unread::Broken => Self::Broken,
        }
    }
}

impl HttpFailure {
    /// What is lost by it.
    pub(crate) fn loss(&self) -> Loss {
        match self {
            Self::Fetch(error) => fetch_loss(error),
            Self::Trouble(trouble) => trouble_loss(trouble),
            Self::Lost(LostStream::Refused(trouble)) => trouble_loss(trouble),
            Self::Stream(BrokenStream::Broken(error)) => fetch_loss(error),
            Self::Stream(BrokenStream::TooLong(_)) | Self::Body(UnreadBody::TooLarge(_)) => {
                Loss::TooLarge
            }
            Self::Silent(_)
            | Self::Stream(BrokenStream::Silent(_))
            | Self::Body(UnreadBody::Stalled(_)) => Loss::Silent,
            Self::Lost(_) | Self::Body(UnreadBody::Broken) => Loss::Disconnected,
            Self::Unauthorized(_) => Loss::Unauthorized(401),
            Self::Redirect(refused) => Loss::Status(refused.status()),
            Self::NotTheAnswer | Self::SessionId | Self::MessageAddress(_) => Loss::Unreadable,
        }
    }
}

fn fetch_loss(error: &FetchError) -> Loss {
    if error.may_have_arrived() {
        Loss::Disconnected
    } else {
        Loss::Unreachable
    }
}

fn trouble_loss(trouble: &Trouble) -> Loss {
    match trouble {
        Trouble::Unauthorized(status) => Loss::Unauthorized(*status),
        Trouble::SessionLost => Loss::SessionLost,
        Trouble::Status { status, .. } | Trouble::NoStream(status) => Loss::Status(*status),
        Trouble::Unanswered(_) | Trouble::ContentType(_) => Loss::Unreadable,
    }
}

impl From<HttpFailure> for TransportError {
    fn from(failure: HttpFailure) -> Self {
        let error = Self::new(failure.loss());
        match failure {
            // A stream is asked for again only where the request had been accepted.
            HttpFailure::Lost(_) => error.once_accepted().with_source(failure),
            _ => error.with_source(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> Trouble {
        Trouble::Status {
            status,
            retry_after: None,
        }
    }

    #[test]
    fn what_is_lost_decides_whether_the_server_may_have_acted() {
        let resolve = FetchError::Resolve {
            host: "a".into(),
            source: std::io::Error::other("x"),
        };
        let refused = |trouble| HttpFailure::from(LostStream::Refused(trouble));
        let rows: [(HttpFailure, Loss, bool); 12] = [
            (resolve.into(), Loss::Unreachable, false),
            (
                FetchError::Other("x".into()).into(),
                Loss::Disconnected,
                true,
            ),
            (
                Trouble::Unauthorized(403).into(),
                Loss::Unauthorized(403),
                false,
            ),
            (Trouble::SessionLost.into(), Loss::SessionLost, false),
            (status(404).into(), Loss::Status(404), false),
            (status(502).into(), Loss::Status(502), true),
            (Trouble::Unanswered(202).into(), Loss::Unreadable, true),
            (LostStream::Ended.into(), Loss::Disconnected, true),
            // What is refused then is the rest of an answer: the request was accepted before.
            (refused(Trouble::SessionLost), Loss::SessionLost, true),
            (
                refused(Trouble::Unauthorized(401)),
                Loss::Unauthorized(401),
                true,
            ),
            (refused(status(404)), Loss::Status(404), true),
            (HttpFailure::Silent(Duration::ZERO), Loss::Silent, true),
        ];
        for (failure, loss, may_have_acted) in rows {
            let error = TransportError::from(failure);
            assert_eq!(error.loss(), loss);
            assert_eq!(error.may_have_acted(), may_have_acted, "{error}");
            assert!(std::error::Error::source(&error).is_some());
        }
    }
}
