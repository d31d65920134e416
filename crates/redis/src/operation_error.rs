//! Failures of operations as errors of the store.

use std::time::Duration;

use pintle_store::{Retry, StoreError};
use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::connect_error::ClientError;

/// Failure of an operation. Its text has neither values nor credentials.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperationError {
    /// Redis reported an error.
    #[error("Redis reports an error: {source}")]
    Answered { source: ClientError, is_later: bool },
    /// The connection ended before the answer, or the store has no connection.
    #[error("no answer of Redis, and the operation may have happened: {0}")]
    Lost(#[source] ClientError),
    /// The answer did not arrive in time.
    #[error("Redis did not answer within {} ms, and the operation may have happened", .0.as_millis())]
    TimedOut(Duration),
    /// Too many operations wait.
    #[error("too many operations wait for Redis; the limit is {0}")]
    TooMany(usize),
    /// The operations that wait have too many bytes.
    #[error("the operations that wait for Redis are too large; the limit is {0} bytes")]
    TooLarge(usize),
    /// Too few replicas of Redis have a write.
    #[error("{found} of {required} replicas of Redis have acknowledged the write in time")]
    Unconfirmed { found: usize, required: usize },
    /// The entry or the answer has another form than this crate writes.
    #[error("another program wrote this entry, or Redis sent an unexpected answer")]
    Foreign,
    /// No versions can be drawn.
    #[error("the system has no random bytes: {0}")]
    Random(getrandom::Error),
}

impl OperationError {
    pub(crate) fn new(error: &RedisError, text: ClientError) -> Self {
        if matches!(error.kind(), ErrorKind::Io | ErrorKind::Parse) {
            return Self::Lost(text);
        }
        Self::Answered {
            is_later: is_temporary(error),
            source: text,
        }
    }

    fn retry(&self) -> Retry {
        let is_later = match self {
            Self::Answered { is_later, .. } => *is_later,
            Self::Foreign | Self::Random(_) => false,
            Self::Lost(_)
            | Self::TimedOut(_)
            | Self::TooMany(_)
            | Self::TooLarge(_)
            | Self::Unconfirmed { .. } => true,
        };
        if is_later { Retry::Later } else { Retry::Never }
    }
}

/// Returns true if the same command may succeed later: a server that starts, fails over, has no memory
/// or no disk, or has too many clients.
fn is_temporary(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::MasterNameNotFoundBySentinel => true,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly,
        ) => true,
        ErrorKind::Server(ServerErrorKind::ResponseError) => has_too_many_clients(error),
        _ => matches!(
            error.code(),
            Some("OOM" | "MISCONF" | "BUSY" | "NOREPLICAS" | "UNBLOCKED")
        ),
    }
}

fn has_too_many_clients(error: &RedisError) -> bool {
    let detail = error.detail().unwrap_or_default();
    detail.contains("max number of clients")
}

/// Returns true if a new connection may help: this one has ended, the server has become a replica, or it
/// refused the connection itself.
pub(crate) fn needs_connection(error: &RedisError) -> bool {
    let is_ended = error.is_unrecoverable_error() || error.is_io_error();
    is_ended
        || matches!(
            error.kind(),
            ErrorKind::AuthenticationFailed
                | ErrorKind::RESP3NotSupported
                | ErrorKind::MasterNameNotFoundBySentinel
                | ErrorKind::Server(
                    ServerErrorKind::ReadOnly
                        | ServerErrorKind::BusyLoading
                        | ServerErrorKind::MasterDown
                        | ServerErrorKind::ResponseError
                )
        )
        || matches!(error.code(), Some("NOAUTH" | "WRONGPASS"))
}

impl From<OperationError> for StoreError {
    fn from(error: OperationError) -> Self {
        Self::backend(error.retry(), error)
    }
}

#[cfg(test)]
mod tests {
    use redis::RedisError;

    use super::*;

    fn retry(error: &RedisError) -> Retry {
        let text = ClientError::of(error, &[]);
        OperationError::new(error, text).retry()
    }

    fn answer(code: &str) -> RedisError {
        redis::make_extension_error(code.to_owned(), None)
    }

    #[test]
    fn an_error_of_the_server_has_its_retry_class() {
        for (code, expected) in [
            ("OOM", Retry::Later),
            ("MISCONF", Retry::Later),
            ("BUSY", Retry::Later),
            ("WRONGTYPE", Retry::Never),
        ] {
            assert_eq!(retry(&answer(code)), expected, "{code}");
        }
    }

    #[test]
    fn a_lost_connection_may_be_retried() {
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        assert_eq!(retry(&lost), Retry::Later);
    }
}
