//! Tags of tools, resources and prompts.

use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::tool::Tool;

/// The tags that an item of a server must have, or must not have.
#[derive(Debug, Clone)]
pub(crate) enum TagRule {
    Only(Vec<Box<str>>),
    Without(Vec<Box<str>>),
}

impl TagRule {
    /// Returns true if an item with these tags is offered.
    pub(crate) fn keeps(&self, tags: &[Box<str>]) -> bool {
        match self {
            Self::Only(only) => only.iter().any(|tag| tags.contains(tag)),
            Self::Without(without) => !without.iter().any(|tag| tags.contains(tag)),
        }
    }
}

/// Implements the functions of tags. The arguments: the type and a noun for its documentation.
macro_rules! tagged {
    ($item:ty, $noun:literal) => {
        impl $item {
            #[doc = concat!("Adds a tag to the ", $noun, ". Clients do not see it.")]
            ///
            /// [`Server::only_tags`](crate::Server::only_tags) and
            /// [`Server::without_tags`](crate::Server::without_tags) choose by tags.
            #[must_use]
            pub fn tag(mut self, tag: impl Into<Box<str>>) -> Self {
                self.tags.push(tag.into());
                self
            }

            #[doc = concat!("Returns the tags of the ", $noun, ".")]
            pub fn tags(&self) -> &[Box<str>] {
                &self.tags
            }
        }
    };
}

tagged!(Tool, "tool");
tagged!(Resource, "resource");
tagged!(Prompt, "prompt");
