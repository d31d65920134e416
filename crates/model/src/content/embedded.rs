//! Resources inside of content: whole, or as a link.

use crate::object::object;
use crate::tagged::tag;
use crate::{Annotations, Extra, Icon, Meta, Resource, ResourceContents, number};

tag!(ResourceTag = "resource");
tag!(ResourceLinkTag = "resource_link");

/// The contents of a resource, embedded in a message or a result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmbeddedResource {
    kind: ResourceTag,
    /// The contents.
    pub resource: ResourceContents,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Metadata of the block; the contents have their own.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(EmbeddedResource {
    "type" => default kind,
    "resource" => required resource,
    "annotations" => optional annotations,
    "_meta" => optional meta,
});

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
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceLink {
    kind: ResourceLinkTag,
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

object!(ResourceLink {
    "type" => default kind,
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
