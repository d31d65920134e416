//! Text, images and sound.

use crate::object::object;
use crate::tagged::tag;
use crate::{Annotations, Base64, Extra, Meta};

tag!(TextTag = "text");
tag!(ImageTag = "image");
tag!(AudioTag = "audio");

/// Text for the model or the person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    kind: TextTag,
    /// The text.
    pub text: String,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(TextContent {
    "type" => default kind,
    "text" => required text,
    "annotations" => optional annotations,
    "_meta" => optional meta,
});

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
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ImageContent {
    kind: ImageTag,
    /// The bytes of the picture.
    pub data: Base64,
    /// Their media type, such as `image/png`.
    pub mime_type: String,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ImageContent {
    "type" => default kind,
    "data" => required data,
    "mimeType" => required mime_type,
    "annotations" => optional annotations,
    "_meta" => optional meta,
});

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
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AudioContent {
    kind: AudioTag,
    /// The bytes of the sound.
    pub data: Base64,
    /// Their media type, such as `audio/wav`.
    pub mime_type: String,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(AudioContent {
    "type" => default kind,
    "data" => required data,
    "mimeType" => required mime_type,
    "annotations" => optional annotations,
    "_meta" => optional meta,
});

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
