//! Who is authorized.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

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

    /// Whether the principal may do what all of `scopes` name.
    #[inline]
    pub fn has_scopes(&self, scopes: &[Box<str>]) -> bool {
        scopes.iter().all(|scope| self.has_scope(scope))
    }
}

/// Until when a request is authorized, where that is known.
///
/// Whoever authorizes attaches it to the request. What goes on for longer than its answer takes, a
/// stream of changes for instance, ends at that moment, and its client comes back with what it has
/// by then. A call that has begun is answered whenever it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizedUntil(pub Instant);

/// All scopes that a request takes, because its principal lacks one of them.
///
/// A transport that refuses such a request attaches them to its answer; whoever authorizes in front
/// of it tells the client how to get them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingScopes(pub Arc<[Box<str>]>);

impl MissingScopes {
    /// The scopes in the form in which OAuth writes them: separated by spaces.
    pub fn joined(&self) -> String {
        self.0.join(" ")
    }
}
