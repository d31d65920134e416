//! Verified access tokens: their issuer, subject, audiences and scopes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use pintle_runtime::BoxFuture;
use serde_json::{Map, Value};

use super::dpop::Confirmation;
use crate::{Scopes, Secret};

/// Claims of a verified access token.
///
/// `RequireBearer` inserts an `Arc<VerifiedToken>` into the extensions of the
/// [`http::request::Parts`], where handlers can read it. It does not contain the token itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// Issuer identifier of the authorization server.
    pub issuer: Box<str>,
    /// Subject of the token: unique at the issuer.
    pub subject: Box<str>,
    /// OAuth client id, if the issuer reports it.
    pub client: Option<Box<str>>,
    /// Audiences of the token. One of them must name this server.
    pub audiences: Vec<Box<str>>,
    /// Scopes of the token.
    pub scopes: Scopes,
    /// Expiry time, if the issuer reports it.
    pub expires: Option<SystemTime>,
    /// Confirmation key: requests must prove possession of it.
    pub confirmation: Option<Confirmation>,
    /// Other claims of the token.
    pub claims: Map<String, Value>,
}

impl VerifiedToken {
    /// Creates the claims of a token of this issuer and subject, without audiences or scopes.
    pub fn new(issuer: &str, subject: &str) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            client: None,
            audiences: Vec::new(),
            scopes: Scopes::none(),
            expires: None,
            confirmation: None,
            claims: Map::new(),
        }
    }

    /// Returns the principal id, unique across issuers. It is equal for all tokens of the same
    /// issuer, subject and client.
    ///
    /// It includes the client, so that one application cannot continue the work of another.
    pub fn principal_id(&self) -> String {
        let client = self.client.as_deref().unwrap_or_default();
        // A JSON list is unambiguous for every content of its strings.
        Value::from(vec![&*self.issuer, &*self.subject, client]).to_string()
    }
}

/// Reason why a token is not accepted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TokenError {
    /// The token is invalid. The client receives the reason, so it must not contain the token.
    Invalid(Cow<'static, str>),
    /// The token cannot be verified now, for example because the issuer is unreachable.
    Unavailable(Arc<dyn Error + Send + Sync>),
}

impl TokenError {
    /// Creates [`TokenError::Invalid`] with a reason.
    pub fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Creates [`TokenError::Unavailable`] with a reason.
    pub fn unavailable(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unavailable(Arc::from(reason.into()))
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) => f.write_str(reason),
            Self::Unavailable(_) => f.write_str("the token could not be verified"),
        }
    }
}

impl Error for TokenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Invalid(_) => None,
            Self::Unavailable(reason) => Some(&**reason),
        }
    }
}

/// Verifies access tokens.
///
/// An implementation must check that the token is genuine, current, and from the issuer that it
/// names. The caller then checks the audience, expiry, scopes and key binding.
///
/// # Examples
///
/// ```
/// use pintle_auth::resource::{VerifiedToken, TokenVerifier, TokenError};
/// use pintle_auth::{Scopes, Secret};
///
/// /// Accepts one token.
/// struct One(Secret);
///
/// impl TokenVerifier for One {
///     async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
///         if !self.0.is(token.reveal()) {
///             return Err(TokenError::invalid("the token is unknown"));
///         }
///         let mut verified = VerifiedToken::new("https://issuer.example", "ada");
///         verified.audiences.push("https://api.example/mcp".into());
///         verified.scopes = Scopes::parse("files:read").expect("a scope");
///         Ok(verified)
///     }
/// }
/// ```
pub trait TokenVerifier: Send + Sync + 'static {
    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    ///
    /// [`TokenError`] if the token is invalid or cannot be verified now.
    fn verify(
        &self,
        token: &Secret,
    ) -> impl Future<Output = Result<VerifiedToken, TokenError>> + Send;
}

/// Object-safe form of [`TokenVerifier`].
pub(crate) trait DynVerifier: Send + Sync {
    fn verify_dyn<'a>(
        &'a self,
        token: &'a Secret,
    ) -> BoxFuture<'a, Result<VerifiedToken, TokenError>>;
}

impl<V: TokenVerifier> DynVerifier for V {
    fn verify_dyn<'a>(
        &'a self,
        token: &'a Secret,
    ) -> BoxFuture<'a, Result<VerifiedToken, TokenError>> {
        Box::pin(self.verify(token))
    }
}

/// The scopes that each scope implies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hierarchy(BTreeMap<Box<str>, Vec<Box<str>>>);

impl Hierarchy {
    pub(crate) fn imply(&mut self, scope: &str, implied: &str) {
        let own = self.0.entry(scope.into()).or_default();
        own.push(implied.into());
    }

    /// Returns the scopes and all that they imply, directly or through other scopes.
    pub(crate) fn close(&self, granted: &Scopes) -> Vec<Box<str>> {
        let mut all: Vec<Box<str>> = granted.iter().map(Into::into).collect();
        let mut next = 0;
        while let Some(scope) = all.get(next) {
            let implied = self.0.get(scope).cloned().unwrap_or_default();
            let new: Vec<_> = implied
                .into_iter()
                .filter(|one| !all.contains(one))
                .collect();
            all.extend(new);
            next += 1;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 SEC-19
    // spec: 2026-07-28 A-28
    #[test]
    fn a_principal_is_issuer_subject_and_client() {
        let id = |issuer: &str, subject: &str, client: Option<&str>| {
            let mut verified = VerifiedToken::new(issuer, subject);
            verified.client = client.map(Into::into);
            verified.principal_id()
        };
        let own = id("https://i.example", "ada", Some("app"));
        assert_eq!(own, id("https://i.example", "ada", Some("app")));
        for other in [
            id("https://i.example", "ada", None),
            id("https://i.example", "ada", Some("other")),
            id("https://i.example", "eve", Some("app")),
            id("https://j.example", "ada", Some("app")),
            id("https://i.example", "ada\",\"app", Some("")),
        ] {
            assert_ne!(own, other);
        }
    }

    // spec: 2026-07-28 N-AUTH-42
    #[test]
    fn a_scope_includes_its_implied_scopes() {
        let mut hierarchy = Hierarchy::default();
        hierarchy.imply("admin", "write");
        hierarchy.imply("write", "read");
        hierarchy.imply("read", "write");
        let close = |list: &str| {
            hierarchy
                .close(&Scopes::parse(list).expect("scopes"))
                .join(" ")
        };
        assert_eq!(close("admin"), "admin write read");
        assert_eq!(close("read"), "read write");
        assert_eq!(close("other"), "other");
        assert_eq!(close(""), "");
    }
}
