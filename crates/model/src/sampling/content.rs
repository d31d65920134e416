//! The turns of a sampled conversation.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{ContentBlock, Extra, Meta, Role};

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Sender of the message.
    pub role: Role,
    /// Content of the message: one block, or several since 2025-11-25.
    pub content: SamplingContent,
    /// Metadata, since 2025-11-25.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl SamplingMessage {
    /// Creates a turn.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self {
            role,
            content: content.into(),
            meta: None,
            extra: Extra::new(),
        }
    }

    /// Creates a turn of the user.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates a turn of the assistant.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

/// Content of a turn. Closed: the wire has an object or an array here.
#[derive(Debug, Clone, PartialEq)]
pub enum SamplingContent {
    /// One block, not in an array.
    One(Box<ContentBlock>),
    /// An array of blocks, since 2025-11-25.
    Many(Vec<ContentBlock>),
}

impl SamplingContent {
    /// Returns the blocks in either form.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// Returns the blocks in either form, mutably.
    pub fn blocks_mut(&mut self) -> &mut [ContentBlock] {
        match self {
            Self::One(block) => std::slice::from_mut(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// Returns the only block.
    ///
    /// # Errors
    ///
    /// The content itself, if it has no block or several blocks.
    pub fn into_single(self) -> Result<ContentBlock, Self> {
        match self {
            Self::One(block) => Ok(*block),
            Self::Many(mut blocks) if blocks.len() == 1 => Ok(blocks.remove(0)),
            several @ Self::Many(_) => Err(several),
        }
    }
}

impl From<ContentBlock> for SamplingContent {
    fn from(block: ContentBlock) -> Self {
        Self::One(Box::new(block))
    }
}

impl From<Vec<ContentBlock>> for SamplingContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Many(blocks)
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        ContentBlock::text(text).into()
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        ContentBlock::text(text).into()
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = SamplingContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block or an array of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
        ContentBlock::deserialize(MapAccessDeserializer::new(map)).map(Into::into)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, blocks: A) -> Result<SamplingContent, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(blocks)).map(SamplingContent::Many)
    }
}
