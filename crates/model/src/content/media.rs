//! Text, images and sound.

use serde::{Deserialize, Serialize};

use crate::tagged::tag;
use crate::{Annotations, Base64, Extra, Meta};

tag!(TextTag = "text");
tag!(ImageTag = "image");
tag!(AudioTag = "audio");

/// Text for the model or the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextContent {
    #[serde(rename = "type", default)]
    kind: TextTag,
    /// The text.
    pub text: String,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TextContent {
    /// Creates plain text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            kind: TextTag,
            text: text.into(),
            annotations: None,
            meta: None,
            extra: Extra::new(),
        }
    }

    /// Returns true if the block is its text and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        self.annotations.is_none() && self.meta.is_none() && self.extra.is_empty()
    }
}

/// An image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    #[serde(rename = "type", default)]
    kind: ImageTag,
    /// The bytes of the picture.
    pub data: Base64,
    /// Their media type, such as `image/png`.
    pub mime_type: String,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ImageContent {
    /// Creates an image from its encoded bytes and their media type.
    pub fn new(data: Base64, mime_type: impl Into<String>) -> Self {
        Self {
            kind: ImageTag,
            data,
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// Audio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    #[serde(rename = "type", default)]
    kind: AudioTag,
    /// The bytes of the sound.
    pub data: Base64,
    /// Their media type, such as `audio/wav`.
    pub mime_type: String,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl AudioContent {
    /// Creates audio from its encoded bytes and their media type.
    pub fn new(data: Base64, mime_type: impl Into<String>) -> Self {
        Self {
            kind: AudioTag,
            data,
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}
