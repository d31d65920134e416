//! Contents of a resource.

use serde::ser::{Serialize, Serializer};

use crate::object::object;
use crate::read::{Read, ReadError, Source, deserialize_by_read};
use crate::{Base64, Extra, JsonObject, Meta};

/// One item of a resource: text, or bytes.
///
/// `text` or `blob` decides the kind. If both are present, the item is text, and the bytes are kept
/// among its unknown members.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// A text.
    Text(TextResourceContents),
    /// Bytes.
    Blob(BlobResourceContents),
    /// An item of unknown kind, kept unchanged.
    Unknown(JsonObject),
}

impl ResourceContents {
    /// Creates a text item.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text(TextResourceContents::new(uri, text))
    }

    /// Creates an item of bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Blob(BlobResourceContents::new(uri, Base64::encode(bytes)))
    }

    /// Sets the media type. An item of unknown kind does not change.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        match &mut self {
            Self::Text(item) => item.mime_type = Some(mime_type.into()),
            Self::Blob(item) => item.mime_type = Some(mime_type.into()),
            Self::Unknown(_) => {}
        }
        self
    }

    /// Returns the URI of the item; empty if an unknown item has none.
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(item) => &item.uri,
            Self::Blob(item) => &item.uri,
            Self::Unknown(members) => members
                .get("uri")
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default(),
        }
    }

    /// Returns the base64 of the item if it is large.
    pub(crate) fn large_base64(&mut self) -> Option<&mut Base64> {
        match self {
            Self::Blob(item) => item.blob.is_large().then_some(&mut item.blob),
            Self::Text(_) | Self::Unknown(_) => None,
        }
    }

    /// The text, if the item is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(item) => Some(&item.text),
            Self::Blob(_) | Self::Unknown(_) => None,
        }
    }
}

/// An item of text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// URI of the item.
    pub uri: String,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// The text.
    pub text: String,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(TextResourceContents {
    "uri" => required uri,
    "mimeType" => optional mime_type,
    "text" => required text,
    "_meta" => optional meta,
});

impl TextResourceContents {
    /// Creates a text item.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            text: text.into(),
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// An item of bytes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// URI of the item.
    pub uri: String,
    /// Media type, if known.
    pub mime_type: Option<String>,
    /// The bytes.
    pub blob: Base64,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(BlobResourceContents {
    "uri" => required uri,
    "mimeType" => optional mime_type,
    "blob" => required blob,
    "_meta" => optional meta,
});

impl BlobResourceContents {
    /// Creates an item of bytes.
    pub fn new(uri: impl Into<String>, blob: Base64) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            blob,
            meta: None,
            extra: Extra::new(),
        }
    }
}

impl From<TextResourceContents> for ResourceContents {
    fn from(item: TextResourceContents) -> Self {
        Self::Text(item)
    }
}

impl From<BlobResourceContents> for ResourceContents {
    fn from(item: BlobResourceContents) -> Self {
        Self::Blob(item)
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(item) => item.serialize(serializer),
            Self::Blob(item) => item.serialize(serializer),
            Self::Unknown(members) => members.serialize(serializer),
        }
    }
}

impl Read for ResourceContents {
    fn read(source: &mut dyn Source<'_>) -> Result<Self, ReadError> {
        AnyContents::read(source).map(Self::from)
    }
}

deserialize_by_read!(ResourceContents);

/// The members of every kind of item: read in one pass, then sorted out.
struct AnyContents {
    uri: Option<String>,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<Base64>,
    meta: Option<Meta>,
    extra: Extra,
}

object!(AnyContents {
    "uri" => optional uri,
    "mimeType" => optional mime_type,
    "text" => optional text,
    "blob" => optional blob,
    "_meta" => optional meta,
});

impl From<AnyContents> for ResourceContents {
    fn from(any: AnyContents) -> Self {
        match any {
            AnyContents {
                uri: Some(uri),
                mime_type,
                text: Some(text),
                blob,
                meta,
                mut extra,
            } => {
                if let Some(blob) = blob {
                    extra.insert("blob".to_owned(), blob.as_str().into());
                }
                Self::Text(TextResourceContents {
                    uri,
                    mime_type,
                    text,
                    meta,
                    extra,
                })
            }
            AnyContents {
                uri: Some(uri),
                mime_type,
                text: None,
                blob: Some(blob),
                meta,
                extra,
            } => Self::Blob(BlobResourceContents {
                uri,
                mime_type,
                blob,
                meta,
                extra,
            }),
            other => Self::Unknown(members(&other)),
        }
    }
}

fn members(contents: &AnyContents) -> JsonObject {
    match serde_json::to_value(contents) {
        Ok(serde_json::Value::Object(members)) => members,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(wire: &Value) -> ResourceContents {
        serde_json::from_value(wire.clone()).unwrap()
    }

    // spec: 2026-07-28 N-RSRC-08
    #[test]
    fn an_item_has_the_kind_of_its_members_and_survives_a_round_trip() {
        let text = json!({"uri": "a:b", "mimeType": "text/plain", "text": "", "_meta": {}, "x": 1});
        let blob = json!({"uri": "a:b", "blob": "AQI=", "x": 1});
        let neither = json!({"uri": "a:b", "stream": "x"});

        assert!(matches!(read(&text), ResourceContents::Text(_)));
        assert!(matches!(read(&blob), ResourceContents::Blob(_)));
        assert!(matches!(read(&neither), ResourceContents::Unknown(_)));
        for wire in [text, blob, neither] {
            assert_eq!(read(&wire).uri(), "a:b");
            assert_eq!(serde_json::to_value(read(&wire)).unwrap(), wire);
        }
    }

    #[test]
    fn an_item_that_is_both_is_text_and_keeps_the_bytes() {
        let both = json!({"uri": "a:b", "text": "t", "blob": "AQI="});

        assert_eq!(read(&both).as_text(), Some("t"));
        assert_eq!(serde_json::to_value(read(&both)).unwrap(), both);
    }

    #[test]
    fn bytes_are_encoded() {
        let blob = ResourceContents::blob("a:b", [1, 2]).with_mime_type("image/png");
        let wire = json!({"uri": "a:b", "mimeType": "image/png", "blob": "AQI="});
        assert_eq!(serde_json::to_value(blob).unwrap(), wire);
    }
}
