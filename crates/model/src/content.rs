//! What messages and results are made of.
//!
//! One block type for all places: tool results, prompt messages and sampling messages take
//! different subsets of it, and each refuses what it cannot hold when it is fitted to a
//! revision.
//!
//! Spec: [2026-07-28, Tools, Tool result](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result).

mod annotations;
mod embedded;
mod fit;
mod media;
mod tool_use;

pub use annotations::{Annotations, Role};
pub use embedded::{EmbeddedResource, ResourceLink};
pub use media::{AudioContent, ImageContent, TextContent};
pub use tool_use::{ToolResultContent, ToolUseContent};

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::tagged::Tagged;
use crate::{Base64, JsonObject, ResourceContents};

/// One piece of content.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound.
    Audio(AudioContent),
    /// A link to a resource.
    ResourceLink(ResourceLink),
    /// The contents of a resource.
    Resource(EmbeddedResource),
    /// A tool call wanted by the model; in sampling only.
    ToolUse(ToolUseContent),
    /// The result of such a call; in sampling only.
    ToolResult(ToolResultContent),
    /// A kind of block this version does not know, kept whole.
    Unknown(JsonObject),
}

impl ContentBlock {
    /// Makes a block of text.
    ///
    /// ```
    /// use pintle_model::ContentBlock;
    ///
    /// assert_eq!(ContentBlock::text("three").as_text(), Some("three"));
    /// ```
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// Makes a picture of its bytes and their media type, such as `image/png`.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(Base64::encode(bytes), mime_type))
    }

    /// Makes a sound of its bytes and their media type, such as `audio/wav`.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(Base64::encode(bytes), mime_type))
    }

    /// Links to a resource.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink::new(uri, name))
    }

    /// Embeds the contents of a resource.
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        Self::Resource(EmbeddedResource::new(contents))
    }

    /// The text, if the block is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// Adds hints. A block of a kind that has none is left alone.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        let place = match &mut self {
            Self::Text(content) => &mut content.annotations,
            Self::Image(content) => &mut content.annotations,
            Self::Audio(content) => &mut content.annotations,
            Self::ResourceLink(link) => &mut link.annotations,
            Self::Resource(embedded) => &mut embedded.annotations,
            Self::ToolUse(_) | Self::ToolResult(_) | Self::Unknown(_) => return self,
        };
        *place = Some(annotations);
        self
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(content) => content.serialize(serializer),
            Self::Image(content) => content.serialize(serializer),
            Self::Audio(content) => content.serialize(serializer),
            Self::ResourceLink(link) => link.serialize(serializer),
            Self::Resource(embedded) => embedded.serialize(serializer),
            Self::ToolUse(tool_use) => tool_use.serialize(serializer),
            Self::ToolResult(result) => result.serialize(serializer),
            Self::Unknown(members) => members.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(BlockVisitor)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = ContentBlock;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ContentBlock, A::Error> {
        let mut block: Tagged<A, Kind> = Tagged::read(map, "type")?;
        match block.kind.take() {
            Some(Kind::Text) => block.decode().map(ContentBlock::Text),
            Some(Kind::Image) => block.decode().map(ContentBlock::Image),
            Some(Kind::Audio) => block.decode().map(ContentBlock::Audio),
            Some(Kind::ResourceLink) => block.decode().map(ContentBlock::ResourceLink),
            Some(Kind::Resource) => block.decode().map(ContentBlock::Resource),
            Some(Kind::ToolUse) => block.decode().map(ContentBlock::ToolUse),
            Some(Kind::ToolResult) => block.decode().map(ContentBlock::ToolResult),
            Some(Kind::Other(kind)) => block.decode_unknown("type", Some(kind)).map(ContentBlock::Unknown),
            None => block.decode_unknown("type", None).map(ContentBlock::Unknown),
        }
    }
}

/// The values of `type`.
enum Kind {
    Text,
    Image,
    Audio,
    ResourceLink,
    Resource,
    ToolUse,
    ToolResult,
    Other(String),
}

impl From<&str> for Kind {
    fn from(kind: &str) -> Self {
        match kind {
            "text" => Self::Text,
            "image" => Self::Image,
            "audio" => Self::Audio,
            "resource_link" => Self::ResourceLink,
            "resource" => Self::Resource,
            "tool_use" => Self::ToolUse,
            "tool_result" => Self::ToolResult,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Makes `ContentBlock::from` take each kind of block.
macro_rules! from_block {
    ($($variant:ident($block:ty)),* $(,)?) => {$(
        impl From<$block> for ContentBlock {
            fn from(block: $block) -> Self {
                Self::$variant(block)
            }
        }
    )*};
}

from_block! {
    Text(TextContent),
    Image(ImageContent),
    Audio(AudioContent),
    ResourceLink(ResourceLink),
    Resource(EmbeddedResource),
    ToolUse(ToolUseContent),
    ToolResult(ToolResultContent),
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
