//! What the handler of a prompt may return.

use std::borrow::Cow;

use pintle_model::{ContentBlock, Error, GetPromptResult, Outcome, PromptMessage};

use crate::ask_code::AskCode;
use crate::failure::{BoxError, HandlerError};
use crate::resource::{NotFound, is_not_found};
use crate::tool::ProtocolError;

/// How the use of a prompt ended: an outcome, or a protocol error.
pub type PromptReply = Result<Outcome<GetPromptResult>, Error>;

/// How a handler of a prompt ended, which does not know the prompt's name.
pub type PromptOutcome = Result<Outcome<GetPromptResult>, HandlerError>;

/// A value that the handler of a prompt may return.
///
/// | type | becomes |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>`, [`ContentBlock`] | one message of the user |
/// | [`PromptMessage`], `Vec<PromptMessage>`, `[PromptMessage; N]` | messages |
/// | [`GetPromptResult`], [`Outcome<GetPromptResult>`](Outcome) | itself |
/// | `Result<T, E>` | `T`; -32602 if `E` or a cause of it is [`NotFound`] or an [`io::Error`](std::io::Error) of that kind; otherwise an internal error, of which the peer learns nothing |
/// | `Result<T, ProtocolError>` | `T`, or a protocol error |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "no messages",
    note = "return text, `PromptMessage`, `Vec<PromptMessage>`, or a `Result` of these"
)]
pub trait IntoPromptResult {
    /// Present if the value can be questions.
    #[doc(hidden)]
    const ASK_CODE: Option<AskCode> = Some(AskCode::LINKED);

    /// Makes it what is answered.
    ///
    /// # Errors
    ///
    /// [`HandlerError`], if it is one.
    fn into_prompt_result(self) -> PromptOutcome;
}

macro_rules! said_by_the_user {
    ($($name:ty),+) => {
        $(impl IntoPromptResult for $name {
            const ASK_CODE: Option<AskCode> = None;

            fn into_prompt_result(self) -> PromptOutcome {
                ContentBlock::text(self).into_prompt_result()
            }
        })+
    };
}

said_by_the_user!(String, &'static str, Cow<'static, str>);

impl IntoPromptResult for ContentBlock {
    const ASK_CODE: Option<AskCode> = None;

    fn into_prompt_result(self) -> PromptOutcome {
        PromptMessage::user(self).into_prompt_result()
    }
}

impl IntoPromptResult for PromptMessage {
    const ASK_CODE: Option<AskCode> = None;

    fn into_prompt_result(self) -> PromptOutcome {
        vec![self].into_prompt_result()
    }
}

impl<const N: usize> IntoPromptResult for [PromptMessage; N] {
    const ASK_CODE: Option<AskCode> = None;

    fn into_prompt_result(self) -> PromptOutcome {
        Vec::from(self).into_prompt_result()
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    const ASK_CODE: Option<AskCode> = None;

    fn into_prompt_result(self) -> PromptOutcome {
        GetPromptResult::new(self).into_prompt_result()
    }
}

impl IntoPromptResult for GetPromptResult {
    const ASK_CODE: Option<AskCode> = None;

    fn into_prompt_result(self) -> PromptOutcome {
        Ok(Outcome::Complete(self))
    }
}

impl IntoPromptResult for Outcome<GetPromptResult> {
    fn into_prompt_result(self) -> PromptOutcome {
        Ok(self)
    }
}

impl<T: IntoPromptResult, E: Into<BoxError>> IntoPromptResult for Result<T, E> {
    const ASK_CODE: Option<AskCode> = T::ASK_CODE;

    fn into_prompt_result(self) -> PromptOutcome {
        match self {
            Ok(value) => value.into_prompt_result(),
            Err(error) => Err(failure(error.into())),
        }
    }
}

fn failure(error: BoxError) -> HandlerError {
    if is_not_found(&error) {
        return HandlerError::Protocol(Error::invalid_params(NotFound.to_string()));
    }
    HandlerError::Internal(error)
}

impl<T: IntoPromptResult> IntoPromptResult for Result<T, ProtocolError> {
    const ASK_CODE: Option<AskCode> = T::ASK_CODE;

    fn into_prompt_result(self) -> PromptOutcome {
        match self {
            Ok(value) => value.into_prompt_result(),
            Err(ProtocolError(error)) => Err(HandlerError::Protocol(error)),
        }
    }
}
