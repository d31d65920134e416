//! Return types of completers.

use pintle_model::{Completion, Error};

use crate::failure::{BoxError, mask};
use crate::tool::ProtocolError;

/// Return type of a completer: the values that fit, the best first.
///
/// A list contains all values; a [`Completion`] can state that there are more. An answer holds at
/// most 100 values; the rest is cut off, and the answer states that there are more.
#[diagnostic::on_unimplemented(
    message = "a completer cannot return `{Self}`",
    label = "no values",
    note = "return `Vec<String>`, `Vec<&str>`, an array of these, `Completion`, or a `Result` of these"
)]
pub trait IntoCompletion {
    /// Converts the value into the values of the answer.
    ///
    /// # Errors
    ///
    /// The protocol error that the completer returned, or -32603 for another error.
    fn into_completion(self) -> Result<Completion, Error>;
}

impl<S: Into<String>> IntoCompletion for Vec<S> {
    fn into_completion(self) -> Result<Completion, Error> {
        Ok(Completion::new(self))
    }
}

impl<S: Into<String>, const N: usize> IntoCompletion for [S; N] {
    fn into_completion(self) -> Result<Completion, Error> {
        Ok(Completion::new(self))
    }
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion, Error> {
        Ok(self)
    }
}

impl<T: IntoCompletion, E: Into<BoxError>> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion, Error> {
        match self {
            Ok(value) => value.into_completion(),
            Err(error) => Err(mask("completion", "", &error.into())),
        }
    }
}

impl<T: IntoCompletion> IntoCompletion for Result<T, ProtocolError> {
    fn into_completion(self) -> Result<Completion, Error> {
        match self {
            Ok(value) => value.into_completion(),
            Err(ProtocolError(error)) => Err(error),
        }
    }
}
