//! Failures of operations as errors of the store.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use pintle_store::{LimitError, LimitKind, Retry, StoreError};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// OperationError of an operation. Its text has neither values nor credentials.
#[derive(Debug)]
pub(crate) enum OperationError {
    /// The server reported an error, and the operation did not happen.
    Answered { code: SqlState, message: String },
    /// The connection ended before the answer.
    Lost(String),
    /// The answer did not come in time.
    TimedOut(Duration),
    /// No connection exists. The text is the error of the last attempt.
    NoConnection(Duration, String),
    /// Too many operations wait.
    TooMany(usize),
    /// The operations that wait have too many bytes.
    TooLarge(usize),
    /// The answer has another form than the statement promises.
    Unexpected(String),
}

impl OperationError {
    pub(crate) fn new(error: &Error) -> Self {
        if let Some(answer) = error.as_db_error() {
            return Self::Answered {
                code: answer.code().clone(),
                message: answer.message().to_owned(),
            };
        }
        let text = match error.source() {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        };
        match error.to_string().as_str() {
            "connection closed" | "error communicating with the server" => Self::Lost(text),
            _ => Self::Unexpected(text),
        }
    }

    /// Returns true if the server ended the connection, or cannot use it for writes.
    pub(crate) fn ends_connection(&self) -> bool {
        match self {
            Self::Lost(_) | Self::TimedOut(_) => true,
            Self::Answered { code, .. } => {
                is_shutdown(code) || *code == SqlState::READ_ONLY_SQL_TRANSACTION
            }
            _ => false,
        }
    }

    fn retry(&self) -> Retry {
        let is_later = match self {
            Self::Answered { code, .. } => is_temporary(code),
            Self::Unexpected(_) => false,
            Self::Lost(_)
            | Self::TimedOut(_)
            | Self::NoConnection(..)
            | Self::TooMany(_)
            | Self::TooLarge(_) => true,
        };
        if is_later { Retry::Later } else { Retry::Never }
    }
}

/// Returns true for the codes of a server that stops, starts or recovers.
fn is_shutdown(code: &SqlState) -> bool {
    code.code().starts_with("57P0") || code.code().starts_with("08")
}

/// Returns true if the same statement may succeed later: no connection, no resources, a transaction that
/// was rolled back, a cancelled statement, or an error of the disk.
fn is_temporary(code: &SqlState) -> bool {
    let is_class = |class| code.code().starts_with(class);
    is_shutdown(code)
        || is_class("53")
        || is_class("40")
        || matches!(
            *code,
            SqlState::QUERY_CANCELED
                | SqlState::LOCK_NOT_AVAILABLE
                | SqlState::READ_ONLY_SQL_TRANSACTION
                | SqlState::IO_ERROR
        )
}

impl From<OperationError> for StoreError {
    fn from(failure: OperationError) -> Self {
        match &failure {
            // Only a counter computes with numbers of its caller.
            OperationError::Answered { code, .. }
                if *code == SqlState::NUMERIC_VALUE_OUT_OF_RANGE =>
            {
                LimitError::new(LimitKind::Counter, 64).into()
            }
            _ => Self::backend(failure.retry(), failure),
        }
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { code, message } => {
                write!(f, "PostgreSQL reports {}: {message}", code.code())
            }
            Self::Lost(text) => {
                write!(
                    f,
                    "the connection to PostgreSQL was lost, and the operation may have happened: {text}"
                )
            }
            Self::TimedOut(limit) => write!(
                f,
                "PostgreSQL did not answer within {} ms, and the operation may have happened",
                limit.as_millis()
            ),
            Self::NoConnection(limit, text) => {
                let limit = limit.as_millis();
                write!(
                    f,
                    "no connection to PostgreSQL within {limit} ms; the operation did not happen: {text}"
                )
            }
            Self::TooMany(limit) => {
                write!(
                    f,
                    "too many operations wait for PostgreSQL; the limit is {limit}"
                )
            }
            Self::TooLarge(limit) => {
                write!(
                    f,
                    "the operations that wait for PostgreSQL are too large; the limit is {limit} bytes"
                )
            }
            Self::Unexpected(text) => write!(f, "unexpected answer of PostgreSQL: {text}"),
        }
    }
}

impl std::error::Error for OperationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_errors_may_be_retried() {
        for (code, expected) in [
            ("57P01", Retry::Later),
            ("57P03", Retry::Later),
            ("08006", Retry::Later),
            ("53300", Retry::Later),
            ("53100", Retry::Later),
            ("40001", Retry::Later),
            ("40P01", Retry::Later),
            ("57014", Retry::Later),
            ("55P03", Retry::Later),
            ("25006", Retry::Later),
            ("58030", Retry::Later),
            ("42501", Retry::Never),
            ("42P01", Retry::Never),
            ("22P02", Retry::Never),
        ] {
            let (code, message) = (SqlState::from_code(code), String::new());
            let failure = OperationError::Answered { code, message };
            assert_eq!(failure.retry(), expected, "{failure}");
        }
    }
}
