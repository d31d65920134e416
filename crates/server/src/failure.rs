//! Errors of handlers that no model reads: the peer learns that there was one, the log learns which.

use std::error::Error as StdError;
use std::fmt;

use pintle_model::{Error, ErrorCode};
use pintle_runtime::AskError;

/// An error and its causes in one line: `cannot read: permission denied`.
pub(crate) struct Chain<'e>(pub(crate) &'e (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(reason) = cause {
            write!(f, ": {reason}")?;
            cause = reason.source();
        }
        Ok(())
    }
}

/// Any error a handler of a resource, a prompt or a completion may return.
pub type AnyError = Box<dyn StdError + Send + Sync>;

/// Logs an error and gives the one that the peer sees: -32603, and nothing of the cause, unless it
/// is that the peer cannot be asked.
pub(crate) fn mask(handler: &'static str, error: &AnyError) -> Error {
    let cause: &(dyn StdError + 'static) = &**error;
    tracing::warn!(handler, error = cause, "a handler failed");
    match find_cause::<AskError>(error) {
        Some(unasked) => Error::new(ErrorCode::INTERNAL_ERROR, unasked.to_string()),
        None => Error::internal(),
    }
}

/// The error that the peer sees of a method: a protocol error as it is, anything else masked.
pub(crate) fn fail(method: &'static str, error: &AnyError) -> Error {
    match error.downcast_ref::<Error>() {
        Some(error) => error.clone(),
        None => mask(method, error),
    }
}

fn find_cause<E: StdError + 'static>(error: &AnyError) -> Option<&E> {
    let mut next: Option<&(dyn StdError + 'static)> = Some(&**error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Whether an error, or one of its causes, is what `is_it` looks for.
pub(crate) fn has_cause(
    error: &AnyError,
    is_it: impl Fn(&(dyn StdError + 'static)) -> bool,
) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = Some(&**error);
    while let Some(error) = next {
        if is_it(error) {
            return true;
        }
        next = error.source();
    }
    false
}
