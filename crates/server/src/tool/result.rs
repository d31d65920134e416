//! What a tool may return.
//!
//! An `Err` is for the model to read. A protocol error is never made by accident: it takes a
//! [`ProtocolError`].

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt::Write as _;

use pintle_model::{CallToolResult, ContentBlock, Error, JsonObject, Outcome};
use pintle_schema::{self as schema, SchemaError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ask_code::AskCode;

/// How a call ended: an outcome, or a protocol error.
pub type ToolReply = Result<Outcome<CallToolResult>, Error>;

/// Return type of a tool.
///
/// | type | becomes |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>`, numbers, `bool`, `char` | one text |
/// | `()` | no content |
/// | [`Json<T>`] | structured content with the schema of `T`, and a text copy |
/// | [`FileContent`](crate::FileContent) | an embedded resource |
/// | [`Image`], [`ContentBlock`], `Vec<ContentBlock>` | content |
/// | [`CallToolResult`], [`Outcome<CallToolResult>`](Outcome) | itself |
/// | `Result<T, E>` | `T`, or an error with the text of `E` and its sources, for the model |
/// | `Result<T, ProtocolError>` | `T`, or a protocol error |
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "no result of a tool",
    note = "return text, a number, `Json<T>`, content, `()`, or a `Result` of these",
    note = "data is returned as `Json<T>`, where `T` derives `Serialize` and `JsonSchema`",
    note = "errors are `String`, `Box<dyn Error + Send + Sync>`, `anyhow::Error`, or any error that is `Send + Sync + 'static`"
)]
pub trait IntoToolResult {
    /// Present if the value can be questions.
    #[doc(hidden)]
    const ASK_CODE: Option<AskCode> = Some(AskCode::LINKED);

    /// Converts the value into the answer.
    ///
    /// # Errors
    ///
    /// A protocol error, if it is one.
    fn into_tool_result(self) -> ToolReply;

    /// The schema of the structured content, if the type has any.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if an annotation on the type is invalid.
    fn output_schema() -> Result<Option<JsonObject>, SchemaError> {
        Ok(None)
    }
}

fn complete(result: CallToolResult) -> ToolReply {
    Ok(Outcome::Complete(result))
}

macro_rules! texts {
    ($($name:ty),+) => {
        $(impl IntoToolResult for $name {
            const ASK_CODE: Option<AskCode> = None;

            fn into_tool_result(self) -> ToolReply {
                complete(CallToolResult::text(self))
            }
        })+
    };
}

texts!(String, &'static str, Box<str>, Cow<'static, str>);

macro_rules! displayed {
    ($($name:ty),+) => {
        $(impl IntoToolResult for $name {
            const ASK_CODE: Option<AskCode> = None;

            fn into_tool_result(self) -> ToolReply {
                complete(CallToolResult::text(self.to_string()))
            }
        })+
    };
}

displayed!(
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64, bool, char
);

impl IntoToolResult for () {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        complete(CallToolResult::default())
    }
}

impl IntoToolResult for ContentBlock {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        complete(CallToolResult::from(self))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        complete(CallToolResult::new(self))
    }
}

impl IntoToolResult for CallToolResult {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        complete(self)
    }
}

impl IntoToolResult for Outcome<CallToolResult> {
    fn into_tool_result(self) -> ToolReply {
        Ok(self)
    }
}

/// Data: structured content that keeps to the schema of `T`, with a copy as text.
///
/// Spec: [2026-07-28, Tools, Structured content][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        match serde_json::to_value(&self.0) {
            Ok(value) => complete(CallToolResult::structured(value)),
            Err(error) => {
                tracing::error!(%error, "the result of a tool cannot be written as JSON");
                Err(Error::internal())
            }
        }
    }

    fn output_schema() -> Result<Option<JsonObject>, SchemaError> {
        schema::output_schema::<T>().map(Some)
    }
}

/// A picture, from its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    bytes: Vec<u8>,
    mime: Cow<'static, str>,
}

impl Image {
    /// A picture of a media type such as `image/webp`.
    pub fn new(bytes: impl Into<Vec<u8>>, mime: impl Into<Cow<'static, str>>) -> Self {
        Self {
            bytes: bytes.into(),
            mime: mime.into(),
        }
    }

    /// Makes an image from the bytes of a PNG file.
    pub fn png(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(bytes, "image/png")
    }

    /// Makes an image from the bytes of a JPEG file.
    pub fn jpeg(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(bytes, "image/jpeg")
    }
}

impl From<Image> for ContentBlock {
    fn from(image: Image) -> Self {
        Self::image(image.bytes, image.mime)
    }
}

impl IntoToolResult for Image {
    const ASK_CODE: Option<AskCode> = None;

    fn into_tool_result(self) -> ToolReply {
        ContentBlock::from(self).into_tool_result()
    }
}

impl<T, E> IntoToolResult for Result<T, E>
where
    T: IntoToolResult,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    const ASK_CODE: Option<AskCode> = T::ASK_CODE;

    fn into_tool_result(self) -> ToolReply {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => complete(CallToolResult::error(error_chain(&*error.into()))),
        }
    }

    fn output_schema() -> Result<Option<JsonObject>, SchemaError> {
        T::output_schema()
    }
}

/// A protocol error, on purpose.
///
/// The model does not see it; most hosts treat it as a fault of the server. It is not an
/// [`std::error::Error`], so that `?` does not convert errors for the model into it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtocolError(pub Error);

impl From<Error> for ProtocolError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl<T: IntoToolResult> IntoToolResult for Result<T, ProtocolError> {
    const ASK_CODE: Option<AskCode> = T::ASK_CODE;

    fn into_tool_result(self) -> ToolReply {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(ProtocolError(error)) => Err(error),
        }
    }

    fn output_schema() -> Result<Option<JsonObject>, SchemaError> {
        T::output_schema()
    }
}

/// An error and its causes in one line. A cause that the error repeats occurs once.
pub(crate) fn error_chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.ends_with(&reason) {
            let _ = write!(text, ": {reason}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
