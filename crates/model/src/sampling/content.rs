//! The turns of a sampled conversation.

use serde::{Serialize, Serializer};

use crate::object::object;
use crate::read::{Event, Kind, Object, Read, ReadError, Source, deserialize_by_read, read_as};
use crate::{ContentBlock, Extra, Meta, Role};

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Sender of the message.
    pub role: Role,
    /// Content of the message: one block, or several since 2025-11-25.
    pub content: SamplingContent,
    /// Metadata, since 2025-11-25.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(SamplingMessage {
    "role" => required role,
    "content" => required content,
    "_meta" => optional meta,
});

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

impl Read for SamplingContent {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        const EXPECTED: &str = "a content block or an array of them";
        read_as(source, Kind::Any, EXPECTED, |event| match event {
            Event::Object(members) => ContentBlock::build(members).map(Self::from),
            Event::Array(elements) => {
                let mut blocks = Vec::new();
                let mut push = |source: &mut dyn Source<'_>| {
                    blocks.push(ContentBlock::read(source)?);
                    Ok(())
                };
                while elements.next(&mut push)? {}
                Ok(Self::Many(blocks))
            }
            other => Err(other.wrong_type(EXPECTED)),
        })
    }
}

deserialize_by_read!(SamplingContent);
