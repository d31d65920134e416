//! Content for peers of other revisions.

use super::{
    AudioContent, ContentBlock, EmbeddedResource, ResourceLink, StructuredContent, TextContent,
    ToolResultContent,
};
use crate::fit::drop_without;
use crate::{Annotations, Feature, Fit, FitError, Meta, Revision};

impl Fit for ContentBlock {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.replace(revision);
        match self {
            Self::Text(text) => fit_hints(&mut text.annotations, &mut text.meta, revision),
            Self::Image(image) => fit_hints(&mut image.annotations, &mut image.meta, revision),
            Self::Audio(audio) => fit_hints(&mut audio.annotations, &mut audio.meta, revision),
            Self::ResourceLink(link) => link.fit(revision),
            Self::Resource(embedded) => embedded.fit(revision),
            // The protocol has these two in sampling messages only.
            Self::ToolUse(_) | Self::ToolResult(_) => Err(FitError::MisplacedToolContent),
            Self::Unknown(_) => Ok(()),
        }
    }
}

impl ContentBlock {
    /// Fits a block of a sampling message, which may be a tool use or a tool result.
    pub(crate) fn fit_sampling(&mut self, revision: Revision) -> Result<(), FitError> {
        match self {
            Self::ToolUse(_) => FitError::unless(revision, Feature::SamplingTools),
            Self::ToolResult(result) => result.fit(revision),
            _ => self.fit(revision),
        }
    }

    /// Replaces content that `revision` does not know by text.
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
        note(
            format!("[audio: {}, {length} bytes]", self.mime_type),
            &mut self.annotations,
        )
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
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::Icons, revision, &mut self.icons);
        drop_without(Feature::Titles, revision, &mut self.title);
        fit_hints(&mut self.annotations, &mut self.meta, revision)
    }
}

impl Fit for EmbeddedResource {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.resource.fit(revision)?;
        fit_hints(&mut self.annotations, &mut self.meta, revision)
    }
}

impl Fit for ToolResultContent {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        FitError::unless(revision, Feature::SamplingTools)?;
        StructuredContent {
            value: &mut self.structured_content,
            content: &mut self.content,
        }
        .fit(revision);
        self.content.fit(revision)
    }
}

/// Fits the members that every block has.
fn fit_hints(
    annotations: &mut Option<Annotations>,
    meta: &mut Option<Meta>,
    revision: Revision,
) -> Result<(), FitError> {
    drop_without(Feature::ObjectMeta, revision, meta);
    annotations.fit(revision)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};

    fn fitted(wire: Value, revision: Revision) -> Result<Value, FitError> {
        let mut block: ContentBlock = serde_json::from_value(wire).unwrap();
        block.fit(revision)?;
        Ok(serde_json::to_value(block).unwrap())
    }

    fn fitted_in_sampling(wire: Value, revision: Revision) -> Result<Value, FitError> {
        let mut block: ContentBlock = serde_json::from_value(wire).unwrap();
        block.fit_sampling(revision)?;
        Ok(serde_json::to_value(block).unwrap())
    }

    // spec: 2025-11-25 D1105-08
    // spec: 2026-07-28 N-RSRC-15
    #[test]
    fn audio_becomes_a_text_note_where_audio_is_unknown() {
        let hints = json!({"priority": 1});
        let audio =
            json!({"type": "audio", "data": "AQI=", "mimeType": "audio/wav", "annotations": hints});

        assert_eq!(
            fitted(audio.clone(), V2024_11_05),
            Ok(
                json!({"type": "text", "text": "[audio: audio/wav, 2 bytes]", "annotations": hints})
            )
        );
        assert_eq!(fitted(audio.clone(), V2025_03_26), Ok(audio));
    }

    // spec: 2025-11-25 D0326-07
    #[test]
    fn a_link_becomes_text_where_links_are_unknown() {
        let link = json!({"type": "resource_link", "uri": "a:b", "name": "b", "title": "B",
            "icons": [{"src": "data:,"}]});

        assert_eq!(
            fitted(link.clone(), V2025_03_26),
            Ok(json!({"type": "text", "text": "B: a:b"}))
        );
        assert_eq!(
            fitted(link.clone(), V2025_06_18),
            Ok(json!({"type": "resource_link", "uri": "a:b", "name": "b", "title": "B"}))
        );
        assert_eq!(fitted(link.clone(), V2025_11_25), Ok(link));
    }

    // spec: 2025-11-25 D0326-06
    #[test]
    fn metadata_and_dates_are_dropped_before_2025_06_18() {
        let block = json!({"type": "resource", "_meta": {"k": 1},
            "annotations": {"priority": 1, "lastModified": "2025-01-12T15:00:58Z"},
            "resource": {"uri": "a:b", "text": "t", "_meta": {"k": 1}, "x": 1}});
        let plain = json!({"type": "resource", "annotations": {"priority": 1},
            "resource": {"uri": "a:b", "text": "t", "x": 1}});

        assert_eq!(fitted(block.clone(), V2025_03_26), Ok(plain));
        assert_eq!(fitted(block.clone(), V2025_06_18), Ok(block));
    }

    // spec: 2025-11-25 D0618-06
    #[test]
    fn tool_use_is_rejected_before_2025_11_25() {
        let tool_use = json!({"type": "tool_use", "id": "1", "name": "a", "input": {}});
        let result =
            json!({"type": "tool_result", "toolUseId": "1", "content": [], "structuredContent": 3});

        for block in [&tool_use, &result] {
            let refused = Err(FitError::new(Feature::SamplingTools));
            assert_eq!(fitted_in_sampling(block.clone(), V2025_06_18), refused);
            let same = fitted_in_sampling(block.clone(), Revision::LATEST);
            assert_eq!(same, Ok(block.clone()));
        }
        assert_eq!(
            fitted_in_sampling(result, V2025_11_25),
            Ok(json!({"type": "tool_result", "toolUseId": "1",
                "content": [{"type": "text", "text": "3"}], "structuredContent": {"result": 3}}))
        );
    }

    #[test]
    fn tool_use_is_rejected_outside_of_sampling_messages() {
        let tool_use = json!({"type": "tool_use", "id": "1", "name": "a", "input": {}});
        let result = json!({"type": "tool_result", "toolUseId": "1", "content": [tool_use]});
        for revision in [V2025_06_18, V2025_11_25, Revision::LATEST] {
            for block in [&tool_use, &result] {
                let misplaced = Err(FitError::MisplacedToolContent);
                assert_eq!(fitted(block.clone(), revision), misplaced, "{revision}");
            }
        }
        let nested = fitted_in_sampling(result, Revision::LATEST);
        assert_eq!(nested, Err(FitError::MisplacedToolContent));
    }

    #[test]
    fn unknown_blocks_are_left_alone() {
        let block = json!({"type": "hologram", "_meta": {}});
        assert_eq!(fitted(block.clone(), V2024_11_05), Ok(block));
    }
}
