//! Metadata documents of protected resources and authorization servers, and their discovery.

mod discovery;
mod resource;
mod server;

#[cfg(feature = "client")]
pub(crate) use discovery::is_temporary;
pub use discovery::{
    DiscoveredDocument, Discovery, DiscoveryError, DiscoveryStep, ExpectedIssuer, ResourceProbe,
    ServerProbe,
};
pub use resource::ResourceMetadata;
#[cfg(feature = "resource")]
pub(crate) use resource::WELL_KNOWN;
pub use server::ServerMetadata;
#[cfg(feature = "client")]
pub(crate) use server::check;
#[cfg(feature = "resource")]
pub(crate) use server::places;

use serde::de::DeserializeOwned;

/// Kind of a metadata document. The list is complete: no other kind is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataDocument {
    /// Metadata of a protected resource (RFC 9728).
    Resource,
    /// Metadata of an authorization server (RFC 8414).
    Server,
}

impl std::fmt::Display for MetadataDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resource => "the protected-resource metadata",
            Self::Server => "the authorization-server metadata",
        })
    }
}

/// Reason why a metadata document is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The document is not JSON, or a member has the wrong type; holds the parser's message.
    #[error("it is not valid metadata JSON ({0})")]
    Json(Box<str>),
    /// A required member is missing.
    #[error("it has no {0:?}")]
    Missing(&'static str),
    /// A member does not have the required value.
    #[error("its {member:?} is {found:?}, and not {expected:?}")]
    Mismatch {
        /// Name of the JSON member.
        member: &'static str,
        /// The value in the document.
        found: Box<str>,
        /// The required value.
        expected: Box<str>,
    },
    /// A member is not a URL that the client may use.
    #[error("its {member:?} ({found:?}) cannot be used: {reason}")]
    Address {
        /// Name of the JSON member.
        member: &'static str,
        /// The value in the document.
        found: Box<str>,
        /// Reason why the client does not use the URL.
        reason: Box<str>,
    },
    /// A list does not contain a required value.
    #[error("its {member:?} does not list {lacks:?}")]
    Lacks {
        /// Name of the JSON member.
        member: &'static str,
        /// The value that the list must contain.
        lacks: &'static str,
    },
}

/// Maximum nesting depth of a document.
const MOST_LEVELS: usize = 128;

/// Returns true if the JSON is nested too deep, also in unknown members.
pub(crate) fn is_too_deep(body: &[u8]) -> bool {
    let (mut levels, mut is_text, mut is_escaped) = (0_usize, false, false);
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => levels += 1,
            b']' | b'}' if !is_text => levels = levels.saturating_sub(1),
            _ => {}
        }
        if levels > MOST_LEVELS {
            return true;
        }
    }
    false
}

/// Parses a document. Unknown members are ignored. A repeated member is an error.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, MetadataError> {
    if is_too_deep(body) {
        return Err(MetadataError::Json("it is nested too deep".into()));
    }
    // At most 200 characters, because the message of the parser may quote the document.
    let invalid = |error: serde_json::Error| {
        let text: String = error.to_string().chars().take(200).collect();
        MetadataError::Json(text.into())
    };
    serde_json::from_slice(body).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-44
    #[test]
    fn a_document_has_a_hundred_and_twenty_eight_levels_at_most() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!is_too_deep(deep(MOST_LEVELS).as_bytes()));
        assert!(is_too_deep(deep(MOST_LEVELS + 1).as_bytes()));
        let text = format!(r#"{{"a":"\"{}"}}"#, deep(1_000));
        assert!(
            !is_too_deep(text.as_bytes()),
            "brackets in a text are letters"
        );
        let wide = "[]".repeat(1_000);
        assert!(!is_too_deep(wide.as_bytes()));
    }
}
