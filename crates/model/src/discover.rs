//! Identity and capabilities of a server, on request; since 2026-07-28.
//!
//! Spec: [2026-07-28, Discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover).

use crate::fit::fit_freshness;
use crate::object::object;
use crate::{Extra, Fit, FitError, Freshness, Meta, Revision, ServerCapabilities};

/// Revisions and capabilities of the server. Its identity is in the metadata, as in every result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// Revisions that the server supports. Text, because some may be unknown.
    pub supported_versions: Vec<String>,
    /// Capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Instructions for using the server, for the model.
    pub instructions: Option<String>,
    /// Cache hint of the result.
    pub freshness: Option<Freshness>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(DiscoverResult {
    "supportedVersions" => required supported_versions,
    "capabilities" => required capabilities,
    "instructions" => optional instructions,
    "ttlMs" | "cacheScope" => hint freshness,
    "_meta" => optional meta,
});

impl DiscoverResult {
    /// Creates the result of a server that supports `revisions`.
    pub fn new(
        revisions: impl IntoIterator<Item = Revision>,
        capabilities: ServerCapabilities,
    ) -> Self {
        let texts = revisions
            .into_iter()
            .map(|revision| revision.as_str().to_owned());
        Self {
            supported_versions: texts.collect(),
            capabilities,
            instructions: None,
            freshness: None,
            meta: None,
            extra: Extra::new(),
        }
    }

    /// Returns the known revisions of the server, in the server's order.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.supported_versions
            .iter()
            .filter_map(|text| text.parse().ok())
    }
}

impl Fit for DiscoverResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        fit_freshness(&mut self.freshness, revision);
        self.capabilities.fit(revision)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2026-07-28 N-DISC-02, N-DISC-08
    #[test]
    fn a_server_presents_itself_with_a_cache_hint() {
        let capabilities = ServerCapabilities::default().with_tools();
        let mut result = DiscoverResult::new(Revision::modern(), capabilities);
        result.fit(Revision::LATEST).unwrap();

        assert_eq!(
            serde_json::to_value(result).unwrap(),
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private"})
        );
    }

    // spec: 2026-07-28 A-40
    #[test]
    fn only_texts_and_capabilities_make_a_discovery() {
        let read = serde_json::from_value::<DiscoverResult>;

        let unknown =
            read(json!({"supportedVersions": ["2099-01-01", "2026-07-28"], "capabilities": {}}));
        assert!(unknown.unwrap().revisions().eq([Revision::LATEST]));
        assert!(read(json!({"supportedVersions": [1], "capabilities": {}})).is_err());
        assert!(read(json!({"supportedVersions": []})).is_err());
    }
}
