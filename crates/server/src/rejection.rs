//! Reasons why a call did not reach its function.

use std::fmt;

use pintle_model::{CallToolResult, Error, ErrorCode};
use pintle_schema::Violation;

use crate::ability::MissingAbilityError;

/// Reason why a function was not called.
#[derive(Debug)]
#[non_exhaustive]
pub enum Rejection {
    /// The arguments are invalid; the model or client that made them can correct them.
    Arguments(ArgumentsError),
    /// The request has no value for an ability of the function.
    Missing(MissingAbilityError),
    /// A protocol error.
    Protocol(Error),
}

impl Rejection {
    /// Converts the rejection into the result of a tool, so that the model can read the text.
    ///
    /// # Errors
    ///
    /// The error of [`Rejection::Protocol`].
    ///
    /// Spec: [2026-07-28, Tools, Error handling][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
    pub fn into_tool_result(self) -> Result<CallToolResult, Error> {
        match self {
            Self::Arguments(bad) => Ok(CallToolResult::error(bad.to_string())),
            Self::Missing(missing) if missing.is_type() => {
                Ok(CallToolResult::error(unprepared(&missing)))
            }
            Self::Missing(missing) => Ok(CallToolResult::error(missing.to_string())),
            Self::Protocol(error) => Err(error),
        }
    }

    /// Converts the rejection into a protocol error, for requests without another form for it.
    pub fn into_error(self) -> Error {
        match self {
            Self::Arguments(bad) => Error::invalid_params(bad.to_string()),
            Self::Missing(missing) if missing.is_type() => {
                Error::new(ErrorCode::INTERNAL_ERROR, unprepared(&missing))
            }
            Self::Missing(missing) => Error::invalid_request(missing.to_string()),
            Self::Protocol(error) => error,
        }
    }
}

/// Logs a missing value that the author of the server must add, and returns the text for the peer.
fn unprepared(missing: &MissingAbilityError) -> String {
    tracing::error!(
        missing = missing.what(),
        "a handler lacks a value that no layer attached"
    );
    "the server lacks a value that it needs for this request".to_owned()
}

impl From<MissingAbilityError> for Rejection {
    fn from(missing: MissingAbilityError) -> Self {
        Self::Missing(missing)
    }
}

impl From<ArgumentsError> for Rejection {
    fn from(bad: ArgumentsError) -> Self {
        Self::Arguments(bad)
    }
}

/// Invalid arguments: each invalid place, and the value that it requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentsError(ArgumentsErrorKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum ArgumentsErrorKind {
    Violations(Vec<Violation>),
    Unreadable(String),
}

impl ArgumentsError {
    /// Arguments that break a schema.
    pub(crate) fn violating(violations: Vec<Violation>) -> Self {
        Self(ArgumentsErrorKind::Violations(violations))
    }

    /// Arguments that match the schema but cannot be decoded into the type.
    pub(crate) fn unreadable(reason: impl fmt::Display) -> Self {
        Self(ArgumentsErrorKind::Unreadable(reason.to_string()))
    }

    /// Returns the invalid places; empty if no schema determines them.
    pub fn violations(&self) -> &[Violation] {
        match &self.0 {
            ArgumentsErrorKind::Violations(violations) => violations,
            ArgumentsErrorKind::Unreadable(_) => &[],
        }
    }
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ArgumentsErrorKind::Unreadable(reason) => write!(f, "invalid arguments: {reason}"),
            ArgumentsErrorKind::Violations(violations) => match violations.as_slice() {
                [only] => write!(f, "invalid arguments: {only}"),
                many => {
                    f.write_str("invalid arguments:")?;
                    many.iter().try_for_each(|one| write!(f, "\n- {one}"))
                }
            },
        }
    }
}

impl std::error::Error for ArgumentsError {}
