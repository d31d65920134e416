//! Resources: data that a server offers for reading.
//!
//! Spec: [2026-07-28, Resources](https://modelcontextprotocol.io/specification/2026-07-28/server/resources).

mod contents;
mod fit;

pub use contents::{BlobResourceContents, ResourceContents, TextResourceContents};

use crate::object::object;
use crate::{Annotations, Base64, Cursor, Extra, Freshness, Icon, InputResponses, Meta, number};

/// A resource in a list.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// URI of the resource.
    pub uri: String,
    /// Programmatic name.
    pub name: String,
    /// Title, for display to people.
    pub title: Option<String>,
    /// Description of the resource, for the model.
    pub description: Option<String>,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// Its size in bytes before any encoding, if known.
    pub size: Option<u64>,
    /// Icons, for display.
    pub icons: Option<Vec<Icon>>,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(Resource {
    "uri" => required uri,
    "name" => required name,
    "title" => optional title,
    "description" => optional description,
    "mimeType" => optional mime_type,
    "size" => optional size (read number::optional_whole),
    "icons" => optional icons,
    "annotations" => optional annotations,
    "_meta" => optional meta,
});

impl Resource {
    /// Lists the resource at `uri` under a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the title, for display to people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// A resource template in a list.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// URI template (RFC 6570).
    pub uri_template: String,
    /// Programmatic name.
    pub name: String,
    /// Title, for display to people.
    pub title: Option<String>,
    /// Description of the template's purpose, for the model.
    pub description: Option<String>,
    /// Media type, if all matching resources have the same.
    pub mime_type: Option<String>,
    /// Icons, for display.
    pub icons: Option<Vec<Icon>>,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ResourceTemplate {
    "uriTemplate" => required uri_template,
    "name" => required name,
    "title" => optional title,
    "description" => optional description,
    "mimeType" => optional mime_type,
    "icons" => optional icons,
    "annotations" => optional annotations,
    "_meta" => optional meta,
});

impl ResourceTemplate {
    /// Lists the resources that match `uri_template` under a name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the title, for display to people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type that all matching resources have.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// A page of resources.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources.
    pub resources: Vec<Resource>,
    /// Position of the next page; missing on the last page.
    pub next_cursor: Option<Cursor>,
    /// Cache hint of the page.
    pub freshness: Option<Freshness>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ListResourcesResult {
    "resources" => required resources,
    "nextCursor" => optional next_cursor,
    "ttlMs" | "cacheScope" => hint freshness,
    "_meta" => optional meta,
});

impl ListResourcesResult {
    /// Creates the last, or only, page.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            ..Self::default()
        }
    }
}

/// A page of resource templates.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Position of the next page; missing on the last page.
    pub next_cursor: Option<Cursor>,
    /// Cache hint of the page.
    pub freshness: Option<Freshness>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ListResourceTemplatesResult {
    "resourceTemplates" => required resource_templates,
    "nextCursor" => optional next_cursor,
    "ttlMs" | "cacheScope" => hint freshness,
    "_meta" => optional meta,
});

impl ListResourceTemplatesResult {
    /// Creates the last, or only, page.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            ..Self::default()
        }
    }
}

/// Parameters of `resources/read`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// URI of the resource.
    pub uri: String,
    /// Responses to the questions in the server's last result.
    pub input_responses: Option<InputResponses>,
    /// Request state from the server's last result, unchanged.
    pub request_state: Option<String>,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ReadResourceParams {
    "uri" => required uri,
    "inputResponses" => optional input_responses,
    "requestState" => optional request_state,
    "_meta" => optional meta,
});

impl ReadResourceParams {
    /// Creates the parameters that read the resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }
}

/// Contents of a resource: one item, or several for something like a directory.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The items, each with its own URI.
    pub contents: Vec<ResourceContents>,
    /// Cache hint of the contents.
    pub freshness: Option<Freshness>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(ReadResourceResult {
    "contents" => required contents,
    "ttlMs" | "cacheScope" => hint freshness,
    "_meta" => optional meta,
});

impl ReadResourceResult {
    /// Creates a result with items.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }

    /// Returns the first base64 of the result that is worth not being copied: its JSON has at least 16 KiB.
    pub fn large_base64(&mut self) -> Option<&mut Base64> {
        self.contents
            .iter_mut()
            .find_map(ResourceContents::large_base64)
    }

    /// Creates a result with one text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(vec![ResourceContents::text(uri, text)])
    }

    /// Creates a result with one item of bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::new(vec![ResourceContents::blob(uri, bytes)])
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        Self::new(vec![contents])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_written_as_they_were_read() {
        let resources = json!({"resources": [{"uri": "a:b", "name": "b", "title": "B", "description": "d",
            "mimeType": "text/plain", "size": 3, "icons": [{"src": "data:,"}],
            "annotations": {"priority": 1}, "_meta": {}, "x": 1}], "nextCursor": "", "x": 1});
        let templates = json!({"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "b", "x": 1}],
            "ttlMs": 1, "cacheScope": "public"});

        let read: ListResourcesResult = serde_json::from_value(resources.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), resources);
        let read: ListResourceTemplatesResult = serde_json::from_value(templates.clone()).unwrap();
        assert_eq!(
            read.freshness,
            Some(Freshness::public(Duration::from_millis(1)))
        );
        assert_eq!(serde_json::to_value(read).unwrap(), templates);
    }

    // spec: 2025-11-25 AMB-01
    #[test]
    fn a_size_may_be_any_number() {
        let wire = json!({"uri": "a:b", "name": "b", "size": 3.0, "title": null});
        let resource: Resource = serde_json::from_value(wire).unwrap();

        assert_eq!(resource.size, Some(3));
        assert_eq!(
            serde_json::to_value(resource).unwrap(),
            json!({"uri": "a:b", "name": "b", "size": 3})
        );
    }

    #[test]
    fn results_are_made_with_little_effort() {
        let read = ReadResourceResult::text("a:b", "t");
        assert_eq!(read.contents[0].as_text(), Some("t"));
        assert_eq!(
            serde_json::to_value(ReadResourceResult::blob("a:b", [1])).unwrap(),
            json!({"contents": [{"uri": "a:b", "blob": "AQ=="}]})
        );
    }
}
