//! What a reader may return, and what is made of it.

use std::borrow::Cow;
use std::io;

use bytes::Bytes;
use pintle_model::{
    Error, ErrorCode, Feature, Freshness, Outcome, ReadResourceResult, ResourceContents, Revision,
    errors,
};
use pintle_runtime::Context;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::ask_code::AskCode;
use crate::failure::{BoxError, has_cause, mask};
use crate::rejection::Rejection;
use crate::tool::{Json, ProtocolError};

use super::call::ReadCall;
use super::template::{MAX_URI, VariableError};

/// How a read ended: an outcome, or a protocol error.
pub type ReadReply = Result<Outcome<ReadResourceResult>, Error>;

/// How a reader ended, which knows nothing of the URI and the revision.
pub type ReadOutcome = Result<Outcome<ReadResourceResult>, ReadError>;

/// A value that a reader may return.
///
/// | type | becomes |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>` | one text |
/// | `Vec<u8>`, `&'static [u8]`, [`Bytes`] | one blob |
/// | [`Json<T>`] | one text, of `application/json` unless the resource says otherwise |
/// | [`FileContent`](crate::FileContent) | the content of a file, with its media type |
/// | [`ResourceContents`], `Vec<ResourceContents>` | contents; none at all is not found |
/// | [`ReadResourceResult`], [`Outcome<ReadResourceResult>`](Outcome) | itself |
/// | `Result<T, E>` | `T`; not found if `E` or a cause of it is [`NotFound`] or an [`io::Error`] of that kind; otherwise an internal error, of which the peer learns nothing |
/// | `Result<T, ProtocolError>` | `T`, or a protocol error |
///
/// Contents that have no URI get the one that was read, those without a media type the resource's.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "no contents of a resource",
    note = "return text, bytes, `Json<T>`, `ResourceContents`, or a `Result` of these",
    note = "where there may be nothing, return `Result<T, NotFound>`"
)]
pub trait IntoReadResult {
    /// Present if the value can be questions.
    #[doc(hidden)]
    const ASK_CODE: Option<AskCode> = Some(AskCode::LINKED);

    /// Makes it what was read.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if it is one.
    fn into_read_result(self) -> ReadOutcome;

    /// The media type of everything the type becomes, if there is one.
    fn mime() -> Option<&'static str> {
        None
    }
}

/// Why a read has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing at the URI.
    NotFound,
    /// A protocol error.
    Failed(Error),
    /// Any other error. The server logs it with its causes, and answers -32603.
    Internal(BoxError),
}

errors! {
    /// There is nothing at the URI: an error for readers to return.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct NotFound => "resource not found";
}

/// Contents that do not know their URI yet.
pub(crate) const HERE: &str = "";

macro_rules! contents {
    ($($name:ty => $make:ident),+ $(,)?) => {
        $(impl IntoReadResult for $name {
            const ASK_CODE: Option<AskCode> = None;

            fn into_read_result(self) -> ReadOutcome {
                ResourceContents::$make(HERE, self).into_read_result()
            }
        })+
    };
}

contents! {
    String => text,
    &'static str => text,
    Cow<'static, str> => text,
    Vec<u8> => blob,
    &'static [u8] => blob,
    Bytes => blob,
}

impl<T: Serialize + JsonSchema> IntoReadResult for Json<T> {
    const ASK_CODE: Option<AskCode> = None;

    fn into_read_result(self) -> ReadOutcome {
        match serde_json::to_string(&self.0) {
            Ok(text) => text.into_read_result(),
            Err(error) => Err(ReadError::Internal(error.into())),
        }
    }

    fn mime() -> Option<&'static str> {
        Some("application/json")
    }
}

impl IntoReadResult for ResourceContents {
    const ASK_CODE: Option<AskCode> = None;

    fn into_read_result(self) -> ReadOutcome {
        vec![self].into_read_result()
    }
}

impl IntoReadResult for Vec<ResourceContents> {
    const ASK_CODE: Option<AskCode> = None;

    fn into_read_result(self) -> ReadOutcome {
        ReadResourceResult::new(self).into_read_result()
    }
}

impl IntoReadResult for ReadResourceResult {
    const ASK_CODE: Option<AskCode> = None;

    fn into_read_result(self) -> ReadOutcome {
        Ok(Outcome::Complete(self))
    }
}

impl IntoReadResult for Outcome<ReadResourceResult> {
    fn into_read_result(self) -> ReadOutcome {
        Ok(self)
    }
}

impl<T: IntoReadResult, E: Into<BoxError>> IntoReadResult for Result<T, E> {
    const ASK_CODE: Option<AskCode> = T::ASK_CODE;

    fn into_read_result(self) -> ReadOutcome {
        match self {
            Ok(value) => value.into_read_result(),
            Err(error) => Err(failure(error.into())),
        }
    }

    fn mime() -> Option<&'static str> {
        T::mime()
    }
}

impl<T: IntoReadResult> IntoReadResult for Result<T, ProtocolError> {
    const ASK_CODE: Option<AskCode> = T::ASK_CODE;

    fn into_read_result(self) -> ReadOutcome {
        match self {
            Ok(value) => value.into_read_result(),
            Err(ProtocolError(error)) => Err(ReadError::Failed(error)),
        }
    }

    fn mime() -> Option<&'static str> {
        T::mime()
    }
}

fn failure(error: BoxError) -> ReadError {
    if is_not_found(&error) {
        return ReadError::NotFound;
    }
    ReadError::Internal(error)
}

/// Returns true if the error or a cause of it is [`NotFound`] or an [`io::Error`] of that kind.
pub(crate) fn is_not_found(error: &BoxError) -> bool {
    has_cause(error, |cause| {
        let io: Option<&io::Error> = cause.downcast_ref();
        cause.is::<NotFound>() || io.is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    })
}

/// What contents are completed with, once they are there.
pub(crate) struct ReadFinish {
    uri: String,
    mime: Option<String>,
    freshness: Option<Freshness>,
    context: Context,
}

impl ReadFinish {
    pub(super) fn new(call: &ReadCall<'_>) -> Self {
        let resource = call.resource();
        Self {
            uri: call.uri().to_owned(),
            mime: resource.definition.mime_type.clone(),
            freshness: resource.freshness,
            context: call.context().clone(),
        }
    }

    /// Completes what was read. No contents at all is not found.
    pub(super) fn finish(self, outcome: ReadOutcome) -> ReadReply {
        match outcome {
            Ok(Outcome::Complete(result)) if result.contents.is_empty() => Err(self.not_found()),
            Ok(outcome) => Ok(outcome.map(|result| self.fill(result))),
            Err(ReadError::NotFound) => Err(self.not_found()),
            Err(ReadError::Failed(error)) => Err(error),
            Err(ReadError::Internal(error)) => Err(mask("resource", &self.uri, &error)),
        }
    }

    fn not_found(&self) -> Error {
        resource_not_found(&self.uri, self.context.terms().revision)
    }

    fn fill(&self, mut result: ReadResourceResult) -> ReadResourceResult {
        for contents in &mut result.contents {
            let (uri, mime) = match contents {
                ResourceContents::Text(text) => (&mut text.uri, &mut text.mime_type),
                ResourceContents::Blob(blob) => (&mut blob.uri, &mut blob.mime_type),
                _ => continue,
            };
            if uri == HERE {
                uri.clone_from(&self.uri);
            }
            if mime.is_none() {
                mime.clone_from(&self.mime);
            }
        }
        result.freshness = result.freshness.or(self.freshness);
        result
    }
}

/// Returns the error for a URI at which there is nothing: -32002 up to 2025-11-25, -32602 later.
///
/// Spec: [2026-07-28, Resources, Error handling][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/resources#error-handling
pub fn resource_not_found(uri: &str, revision: Revision) -> Error {
    let code = match revision.has(Feature::ResourceNotFoundIsInvalidParams) {
        true => ErrorCode::INVALID_PARAMS,
        false => ErrorCode::RESOURCE_NOT_FOUND,
    };
    let error = Error::new(code, NotFound.to_string());
    // What is too long to be a URI of ours is not sent back.
    match uri.len() {
        ..=MAX_URI => error.with_data(json!({ "uri": uri })),
        _ => error,
    }
}

/// The rejection of a URI that matches, and has something unfit in place of a variable.
pub(super) fn unreadable(uri: &str, revision: Revision, error: &VariableError) -> Rejection {
    let mut not_found = resource_not_found(uri, revision);
    not_found.message = format!("{NotFound}: {error}").into();
    Rejection::Protocol(not_found)
}
