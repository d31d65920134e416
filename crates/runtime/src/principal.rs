//! Identity and permissions of an authorized user.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// The user or client that a request was authorized for. Sessions, tasks and state belong to a
/// principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    id: Arc<str>,
    scopes: Arc<BTreeSet<Box<str>>>,
}

impl Principal {
    /// Creates a principal from its id and its scopes. The id is unique across issuers.
    pub fn new(
        id: impl Into<Arc<str>>,
        scopes: impl IntoIterator<Item = impl Into<Box<str>>>,
    ) -> Self {
        Self::of(id.into(), scopes.into_iter().map(Into::into).collect())
    }

    // Not generic, so that it is compiled once.
    fn of(id: Arc<str>, scopes: Vec<Box<str>>) -> Self {
        let scopes = Arc::new(scopes.into_iter().collect());
        Self { id, scopes }
    }

    /// The principal's unique name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the scopes that the principal was granted.
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

/// The end of a request's authorization, where it is known.
///
/// The code that authorizes attaches it to the request. A stream that outlives its answer, of
/// changes for instance, ends at that instant. The client then reconnects with a current token. A
/// call that has begun is answered even after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizedUntil(pub Instant);

/// All scopes that a request requires, because its principal lacks one of them.
///
/// A transport that refuses such a request attaches them to its response; the authorization in
/// front of the transport then adds a challenge for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingScopes(pub Arc<[Box<str>]>);

impl MissingScopes {
    /// The scopes in the form in which OAuth writes them: separated by spaces.
    pub fn joined(&self) -> String {
        self.0.join(" ")
    }
}
