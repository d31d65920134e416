//! Content of messages and results.
//!
//! One block type serves all places. Tool results, prompt messages and sampling messages take
//! different subsets of it. A fit to a revision replaces or rejects the blocks that the revision does
//! not have. It does not compare a block with its place; see the types of the places.
//!
//! Spec: [2026-07-28, Tools, Tool result](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result).

mod embedded;
mod fit;
mod media;
mod structured;
mod tool_use;

pub use embedded::{EmbeddedResource, ResourceLink};
pub use media::{AudioContent, ImageContent, TextContent};
pub(crate) use structured::{StructuredContent, WRAPPED, wrap_value};
pub use tool_use::{ToolResultContent, ToolUseContent};

use serde::ser::{Serialize, Serializer};

use crate::read::{Members, Object, ReadError, deserialize_by_read, read_by_build};
use crate::tagged::Tagged;
use crate::write::{WriteError, quoted, write_json};
use crate::{Annotations, Base64, JsonObject, ResourceContents};

/// A block of content.
///
/// Large blocks that are rare are boxed, so that a block of text is small to move.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// A text block.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio.
    Audio(AudioContent),
    /// A link to a resource.
    ResourceLink(Box<ResourceLink>),
    /// The contents of a resource.
    Resource(Box<EmbeddedResource>),
    /// A tool call requested by the model; in sampling only.
    ToolUse(Box<ToolUseContent>),
    /// The result of such a call; in sampling only.
    ToolResult(Box<ToolResultContent>),
    /// A block of unknown type, kept unchanged.
    Unknown(JsonObject),
}

impl ContentBlock {
    /// Adds the block as JSON to `out`: what serde writes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        match self {
            Self::Text(text) if text.is_plain() => {
                out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
                quoted(out, &text.text);
                out.push(b'}');
                Ok(())
            }
            _ => write_json(out, self),
        }
    }

    /// Returns the base64 of the block if it is large.
    pub(crate) fn large_base64(&mut self) -> Option<&mut Base64> {
        let base64 = match self {
            Self::Image(image) => &mut image.data,
            Self::Audio(audio) => &mut audio.data,
            Self::Resource(embedded) => return embedded.resource.large_base64(),
            _ => return None,
        };
        base64.is_large().then_some(base64)
    }

    /// Returns a block of text.
    ///
    /// ```
    /// use pintle_model::ContentBlock;
    ///
    /// assert_eq!(ContentBlock::text("three").as_text(), Some("three"));
    /// ```
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// Returns an image block from its bytes and their media type, such as `image/png`.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(Base64::encode(bytes), mime_type))
    }

    /// Returns an audio block from its bytes and their media type, such as `audio/wav`.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(Base64::encode(bytes), mime_type))
    }

    /// Returns a link to a resource.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(Box::new(ResourceLink::new(uri, name)))
    }

    /// Returns a block that embeds the contents of a resource.
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// Returns the text, if the block is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// Sets the annotations. A block of unknown type does not change.
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

impl Object for ContentBlock {
    const EXPECTED: &'static str = "a content block";

    fn build(members: &mut dyn Members<'_>) -> Result<Self, ReadError> {
        let mut block: Tagged<'_, '_, Kind> = Tagged::read(members, "type")?;
        match block.kind.take() {
            Some(Kind::Text) => block.decode().map(Self::Text),
            Some(Kind::Image) => block.decode().map(Self::Image),
            Some(Kind::Audio) => block.decode().map(Self::Audio),
            Some(Kind::ResourceLink) => block.decode().map(Box::new).map(Self::ResourceLink),
            Some(Kind::Resource) => block.decode().map(Box::new).map(Self::Resource),
            Some(Kind::ToolUse) => block.decode().map(Box::new).map(Self::ToolUse),
            Some(Kind::ToolResult) => block.decode().map(Box::new).map(Self::ToolResult),
            Some(Kind::Other(kind)) => block.decode_unknown("type", Some(kind)).map(Self::Unknown),
            None => block.decode_unknown("type", None).map(Self::Unknown),
        }
    }
}

read_by_build!(ContentBlock);
deserialize_by_read!(ContentBlock);

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

/// Implements `From` for each type of block.
macro_rules! from_block {
    ($($variant:ident($block:ty)),* $(,)?) => {$(
        impl From<$block> for ContentBlock {
            fn from(block: $block) -> Self {
                Self::$variant(block.into())
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

/// Converts contents into a block that embeds them.
impl From<ResourceContents> for ContentBlock {
    fn from(contents: ResourceContents) -> Self {
        Self::resource(contents)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Role;

    fn read(wire: &Value) -> ContentBlock {
        serde_json::from_str(&wire.to_string()).unwrap()
    }

    fn every_kind() -> Vec<Value> {
        let annotations = json!({"audience": ["user", "robot"], "priority": 0.5, "x": 1,
            "lastModified": "2025-01-12T15:00:58Z"});
        vec![
            json!({"type": "text", "text": "a", "annotations": annotations, "_meta": {"k": 1}, "x": []}),
            json!({"type": "image", "data": "AQI=", "mimeType": "image/png", "x": {}}),
            json!({"type": "audio", "data": "AQI=", "mimeType": "audio/wav", "x": null}),
            json!({"type": "resource_link", "uri": "a:b", "name": "b", "title": "B", "size": 3,
                "icons": [{"src": "data:,"}], "x": 1}),
            json!({"type": "resource", "resource": {"uri": "a:b", "text": "t", "x": 1}, "x": 1}),
            json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AQI="}}),
            json!({"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}, "x": 1}),
            json!({"type": "tool_result", "toolUseId": "1", "isError": false, "x": 1,
                "content": [{"type": "text", "text": "3"}], "structuredContent": null}),
            json!({"type": "hologram", "depth": 3, "nested": {"type": "text"}}),
        ]
    }

    #[test]
    fn every_kind_of_block_is_written_as_it_was_read() {
        for wire in every_kind() {
            assert_eq!(serde_json::to_value(read(&wire)).unwrap(), wire);
            assert_eq!(
                serde_json::from_value::<ContentBlock>(wire.clone()).unwrap(),
                read(&wire)
            );
        }
    }

    #[test]
    fn the_kind_may_stand_anywhere() {
        for wire in every_kind() {
            let mut members = wire.as_object().unwrap().clone();
            let kind = members.shift_remove("type").unwrap();
            members.insert("type".to_owned(), kind);

            assert_eq!(read(&members.into()), read(&wire));
        }
    }

    #[test]
    fn a_block_of_an_unknown_kind_or_of_none_is_kept() {
        for wire in [
            json!({"type": "hologram", "x": 1}),
            json!({"text": "a"}),
            json!({}),
        ] {
            let block = read(&wire);
            assert!(matches!(block, ContentBlock::Unknown(_)));
            assert_eq!(serde_json::to_value(block).unwrap(), wire);
        }
    }

    #[test]
    fn a_block_that_contradicts_itself_is_refused() {
        for wire in [
            r#"{"type":"text"}"#,
            r#"{"type":"text","text":5}"#,
            r#"{"type":5,"text":"a"}"#,
            r#"{"type":"text","text":"a","type":"image"}"#,
            r#"{"text":"a","text":"b","type":"text"}"#,
            r#"["text"]"#,
            r#""text""#,
        ] {
            let is_refused = serde_json::from_str::<ContentBlock>(wire).is_err();
            assert!(is_refused, "{wire}");
        }
    }

    #[test]
    fn blocks_are_made_with_little_effort() {
        let image = ContentBlock::image([1, 2], "image/png");
        let wire = json!({"type": "image", "data": "AQI=", "mimeType": "image/png"});

        assert_eq!(serde_json::to_value(image).unwrap(), wire);
        assert_eq!(ContentBlock::from("a").as_text(), Some("a"));
        assert_eq!(ContentBlock::audio([1], "audio/wav").as_text(), None);

        let hints = Annotations::default()
            .with_audience([Role::User])
            .with_priority(7.0);
        let block = ContentBlock::text("a").with_annotations(hints);
        let wire = json!({"type": "text", "text": "a",
            "annotations": {"audience": ["user"], "priority": 1}});
        assert_eq!(serde_json::to_value(block).unwrap(), wire);
    }
}
