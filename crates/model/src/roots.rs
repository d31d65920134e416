//! The directories that a server may use.
//!
//! Spec: [2026-07-28, Roots](https://modelcontextprotocol.io/specification/2026-07-28/client/roots).

use crate::fit::drop_without;
use crate::object::object;
use crate::{Extra, Feature, Fit, FitError, Meta, Revision};

/// A directory that a server may use.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Root {
    /// URI of the root; begins with `file://`.
    pub uri: String,
    /// Name of the root, for display.
    pub name: Option<String>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(Root {
    "uri" => required uri,
    "name" => optional name,
    "_meta" => optional meta,
});

impl Root {
    /// Creates a root without a name.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: None,
            meta: None,
            extra: Extra::new(),
        }
    }
}

/// Result of `roots/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots of the client.
    pub roots: Vec<Root>,
    /// Result metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know.
    pub extra: Extra,
}

object!(ListRootsResult {
    "roots" => required roots,
    "_meta" => optional meta,
});

impl ListRootsResult {
    /// Creates a result with `roots`.
    pub fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            ..Self::default()
        }
    }
}

impl Fit for Root {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        drop_without(Feature::ObjectMeta, revision, &mut self.meta);
        Ok(())
    }
}

impl Fit for ListRootsResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        // An answer inside a retry has no `_meta`.
        drop_without(Feature::ServerRequests, revision, &mut self.meta);
        self.roots.fit(revision)
    }
}
