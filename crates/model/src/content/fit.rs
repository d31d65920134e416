//! Content for peers of other revisions.

use super::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ResourceLink, TextContent,
    ToolResultContent,
};
use crate::fit::drop_without;
use crate::tools::StructuredContent;
use crate::{Feature, Fit, Meta, Revision, Unfit};

impl Fit for ContentBlock {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        self.replace(revision);
        match self {
            Self::Text(text) => fit_hints(&mut text.annotations, &mut text.meta, revision),
            Self::Image(image) => fit_hints(&mut image.annotations, &mut image.meta, revision),
            Self::Audio(audio) => fit_hints(&mut audio.annotations, &mut audio.meta, revision),
            Self::ResourceLink(link) => link.fit(revision),
            Self::Resource(embedded) => embedded.fit(revision),
            Self::ToolUse(_) => Unfit::unless(revision, Feature::SamplingTools),
            Self::ToolResult(result) => result.fit(revision),
            Self::Unknown(_) => Ok(()),
        }
    }
}

impl ContentBlock {
    /// Puts text in place of what `revision` does not know.
    fn replace(&mut self, revision: Revision) {
        match self {
            Self::Audio(audio) if !revision.has(Feature::Audio) => {
                *self = Self::Text(audio.as_note());
            }
            Self::ResourceLink(link) if !revision.has(Feature::ResourceLinks) => {
                *self = Self::Text(link.as_note());
            }
            _ => {}
        }
    }
}

impl AudioContent {
    fn as_note(&mut self) -> TextContent {
        let length = self.data.decoded_len();
        note(format!("[audio: {}, {length} bytes]", self.mime_type), &mut self.annotations)
    }
}

impl ResourceLink {
    fn as_note(&mut self) -> TextContent {
        let name = self.title.as_deref().unwrap_or(&self.name);
        note(format!("{name}: {}", self.uri), &mut self.annotations)
    }
}

fn note(text: String, annotations: &mut Option<Annotations>) -> TextContent {
    let mut note = TextContent::new(text);
    note.annotations = annotations.take();
    note
}

impl Fit for ResourceLink {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::Titles, revision, &mut self.title);
        fit_hints(&mut self.annotations, &mut self.meta, revision)
    }
}

impl Fit for EmbeddedResource {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        self.resource.fit(revision)?;
        fit_hints(&mut self.annotations, &mut self.meta, revision)
    }
}

impl Fit for ToolResultContent {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        Unfit::unless(revision, Feature::SamplingTools)?;
        StructuredContent {
            value: &mut self.structured_content,
            content: &mut self.content,
        }
        .fit(revision);
        self.content.fit(revision)
    }
}

impl Fit for Annotations {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        drop_without(Feature::LastModified, revision, &mut self.last_modified);
        Ok(())
    }
}

/// Fits what every block has.
fn fit_hints(
    annotations: &mut Option<Annotations>,
    meta: &mut Option<Meta>,
    revision: Revision,
) -> Result<(), Unfit> {
    drop_without(Feature::ObjectMeta, revision, meta);
    annotations.fit(revision)
}
