//! What a completer may return.

use pintle_model::{Completion, Error};

use crate::failure::{BoxError, mask};
use crate::tool::ProtocolError;

/// What a completer may return: the values that fit, the best first.
///
/// A list is taken to be all there are; a [`Completion`] says for itself. What is more than an
/// answer may hold (100) is cut off, and the client told.
#[diagnostic::on_unimplemented(
    message = "a completer cannot return `{Self}`",
    label = "no values",
    note = "return `Vec<String>`, `Vec<&str>`, an array of these, `Completion`, or a `Result` of these"
)]
pub trait IntoCompletion {
    /// Makes it what is answered.
    ///
    /// # Errors
    ///
    /// A protocol error, if it is one.
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
