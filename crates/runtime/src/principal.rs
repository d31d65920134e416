//! Who is authorized.

use std::collections::BTreeSet;
use std::sync::Arc;

/// Whoever a request was authorized for. Sessions, tasks and state belong to a principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    id: Arc<str>,
    scopes: Arc<BTreeSet<Box<str>>>,
}

impl Principal {
    /// Names a principal and what it may do. The id is unique across issuers.
    pub fn new(
        id: impl Into<Arc<str>>,
        scopes: impl IntoIterator<Item = impl Into<Box<str>>>,
    ) -> Self {
        Self {
            id: id.into(),
            scopes: Arc::new(scopes.into_iter().map(Into::into).collect()),
        }
    }

    /// The principal's unique name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What the principal may do.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|scope| &**scope)
    }

    /// Whether the principal may do what `scope` names.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.contains(scope)
    }
}
