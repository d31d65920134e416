//! Questions to the client's user, and the answers.
//!
//! A question is a form of a few primitive fields ([`ElicitSchema`]) or a URL to visit.
//!
//! Spec: [2026-07-28, Elicitation][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

mod fit;
mod schema;

pub use schema::{
    BooleanSchema, Choice, ElicitFields, ElicitSchema, LegacyTitledEnumSchema, MultiSelectItems,
    NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
    TitledMultiSelectEnumSchema, TitledMultiSelectItems, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};

use serde::{Deserialize, Serialize, Serializer};

use crate::object::{object, peek};
use crate::open_enum::open_enum;
use crate::read::{Read, ReadError, Source, deserialize_by_read, from_text};
use crate::tagged::tag;
use crate::{Error, ErrorCode, Extra, JsonObject, Meta, TaskMetadata};

/// A question, by its mode.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// A form to fill in; also if the mode is missing.
    Form(ElicitFormParams),
    /// A URL to visit.
    Url(ElicitUrlParams),
    /// A question of unknown mode, kept as it was read.
    Unknown(JsonObject),
}

impl ElicitParams {
    /// Creates a question with a form.
    pub fn form(message: impl Into<String>, schema: ElicitSchema) -> Self {
        Self::Form(ElicitFormParams::new(message, schema))
    }

    /// Creates a question with a URL to visit.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(ElicitUrlParams::new(message, url))
    }

    /// Returns the message for the user; `None` in an unknown mode without a message.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Form(form) => Some(&form.message),
            Self::Url(url) => Some(&url.message),
            Self::Unknown(members) => members.get("message")?.as_str(),
        }
    }

    /// Mode of the elicitation.
    pub fn mode(&self) -> ElicitMode {
        match self {
            Self::Form(_) => ElicitMode::Form,
            Self::Url(_) => ElicitMode::Url,
            Self::Unknown(members) => ElicitMode::from(
                members
                    .get("mode")
                    .and_then(|mode| mode.as_str())
                    .unwrap_or(""),
            ),
        }
    }
}

open_enum! {
    /// Mode of the elicitation.
    pub enum ElicitMode {
        /// With a form.
        Form = "form",
        /// With a URL to visit.
        Url = "url",
    }
}

/// A form for the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitFormParams {
    mode: Option<FormMode>,
    /// Message for the user.
    pub message: String,
    /// The fields of the form.
    pub requested_schema: ElicitSchema,
    /// Runs the question as a task, in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ElicitFormParams {
    "mode" => optional mode,
    "message" => required message,
    "requestedSchema" => required requested_schema,
    "task" => optional task,
    "_meta" => optional meta,
});

impl ElicitFormParams {
    /// Creates a form question that states its mode.
    pub fn new(message: impl Into<String>, requested_schema: ElicitSchema) -> Self {
        Self {
            mode: Some(FormMode),
            message: message.into(),
            requested_schema,
            task: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// A URL for the user to visit, since 2025-11-25.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitUrlParams {
    mode: UrlMode,
    /// Message for the user.
    pub message: String,
    /// URL that the user visits.
    pub url: String,
    /// The question's name in its completion notice; 2025-11-25 requires it, and no other
    /// revision has it.
    pub elicitation_id: Option<String>,
    /// Runs the question as a task, in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ElicitUrlParams {
    "mode" => required mode,
    "message" => required message,
    "url" => required url,
    "elicitationId" => optional elicitation_id,
    "task" => optional task,
    "_meta" => optional meta,
});

impl ElicitUrlParams {
    /// Creates a question without an id.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            mode: UrlMode,
            message: message.into(),
            url: url.into(),
            elicitation_id: None,
            task: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

tag! {
    /// The mode of a form; it may be left out.
    FormMode = "form"
}

tag! {
    /// The mode of a URL.
    UrlMode = "url"
}

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Form(form) => form.serialize(serializer),
            Self::Url(url) => url.serialize(serializer),
            Self::Unknown(members) => members.serialize(serializer),
        }
    }
}

impl Read for ElicitParams {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        read(source.raw()?.get()).map_err(|error| ReadError::of(&error))
    }
}

deserialize_by_read!(ElicitParams);

fn read(raw: &str) -> serde_json::Result<ElicitParams> {
    struct Peek {
        mode: Option<ElicitMode>,
    }
    peek!(Peek { "mode" => optional mode, });
    match from_text::<Peek>(raw)?.mode {
        None | Some(ElicitMode::Form) => from_text(raw).map(ElicitParams::Form),
        Some(ElicitMode::Url) => from_text(raw).map(ElicitParams::Url),
        Some(ElicitMode::Unknown(_)) => from_text(raw).map(ElicitParams::Unknown),
    }
}

/// Response of the user to an elicitation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// Action that the user chose.
    pub action: ElicitAction,
    /// Submitted form data; only with an accepted form. Values are text, numbers, booleans or lists
    /// of text, as the form requires.
    pub content: Option<JsonObject>,
    /// Result metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ElicitResult {
    "action" => required action,
    "content" => optional content,
    "_meta" => optional meta,
});

impl ElicitResult {
    /// Creates the result of a user who accepted, with `content` if there was a form.
    pub fn accept(content: impl Into<Option<JsonObject>>) -> Self {
        Self {
            content: content.into(),
            ..Self::of(ElicitAction::Accept)
        }
    }

    /// Creates the result of a user who declined.
    pub fn decline() -> Self {
        Self::of(ElicitAction::Decline)
    }

    /// Creates the result of a user who dismissed the question.
    pub fn cancel() -> Self {
        Self::of(ElicitAction::Cancel)
    }

    fn of(action: ElicitAction) -> Self {
        Self {
            action,
            content: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

open_enum! {
    /// Action of a user in response to an elicitation.
    pub enum ElicitAction {
        /// The user submitted the form or agreed to visit the URL.
        Accept = "accept",
        /// The user explicitly declined.
        Decline = "decline",
        /// The user dismissed the question.
        Cancel = "cancel",
    }
}

/// Reports that the interaction at the URL is complete (`notifications/elicitation/complete`,
/// 2025-11-25).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ElicitationCompleteParams {
    /// Id of the elicitation.
    pub elicitation_id: String,
    /// Notification metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ElicitationCompleteParams {
    "elicitationId" => required elicitation_id,
    "_meta" => optional meta,
});

impl ElicitationCompleteParams {
    /// Creates the parameters for an elicitation.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// The `data` of error -32042: URLs to visit before the request can succeed (2025-11-25).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The questions; each has an id.
    pub elicitations: Vec<ElicitUrlParams>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(UrlElicitationRequired {
    "elicitations" => required elicitations,
});

impl UrlElicitationRequired {
    /// Creates the data with the questions.
    pub fn new(elicitations: Vec<ElicitUrlParams>) -> Self {
        Self {
            elicitations,
            extra: Extra::new(),
        }
    }

    /// Returns the error for these elicitations: -32042, which only 2025-11-25 has.
    pub fn to_error(&self) -> Error {
        let message = "this needs the user to visit a URL first";
        let data = serde_json::to_value(self).expect("questions are plain data");
        Error::new(ErrorCode::URL_ELICITATION_REQUIRED, message).with_data(data)
    }

    /// Reads the elicitations from an error; `None` if it is another error or lists none.
    pub fn of_error(error: &Error) -> Option<Self> {
        if error.code != ErrorCode::URL_ELICITATION_REQUIRED {
            return None;
        }
        Self::deserialize(error.data.as_deref()?).ok()
    }
}

#[cfg(test)]
mod tests;
