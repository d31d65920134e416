//! Resources inside of content: whole, or as a link.

use serde::{Deserialize, Serialize};

use crate::tagged::tag;
use crate::{Annotations, Extra, Icon, Meta, Resource, ResourceContents, number};

tag!(ResourceTag = "resource");
tag!(ResourceLinkTag = "resource_link");

/// The contents of a resource, embedded in a message or a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EmbeddedResource {
    #[serde(rename = "type", default)]
    kind: ResourceTag,
    /// The contents.
    pub resource: ResourceContents,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the block; the contents have their own.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl EmbeddedResource {
    /// Creates a block with contents.
    pub fn new(resource: impl Into<ResourceContents>) -> Self {
        Self {
            kind: ResourceTag,
            resource: resource.into(),
            annotations: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// A link to a resource that the client may read. The server need not list it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    #[serde(rename = "type", default)]
    kind: ResourceLinkTag,
    /// URI of the resource.
    pub uri: String,
    /// Programmatic name.
    pub name: String,
    /// Title, for display to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the resource, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes before any encoding, if known.
    #[serde(
        default,
        deserialize_with = "number::optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub size: Option<u64>,
    /// Icons, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
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

impl ResourceLink {
    /// Creates a link to `uri` with a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::from(Resource::new(uri, name))
    }
}

impl From<Resource> for ResourceLink {
    fn from(resource: Resource) -> Self {
        Self {
            kind: ResourceLinkTag,
            uri: resource.uri,
            name: resource.name,
            title: resource.title,
            description: resource.description,
            mime_type: resource.mime_type,
            size: resource.size,
            icons: resource.icons,
            annotations: resource.annotations,
            meta: resource.meta,
            extra: resource.extra,
        }
    }
}
