//! What a token grants, and to whom.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::dpop::Confirmation;
use crate::{Scopes, Secret};

/// What a token that was verified says.
///
/// Handlers find it beside their request: `RequireBearer` puts an `Arc<VerifiedToken>` among the extensions
/// of the [`http::request::Parts`]. The token itself is not there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VerifiedToken {
    /// Who issued the token.
    pub issuer: Box<str>,
    /// For whom: unique at the issuer.
    pub subject: Box<str>,
    /// Through which client, where the issuer says so.
    pub client: Option<Box<str>>,
    /// For which servers. A token for none is good for none.
    pub audiences: Vec<Box<str>>,
    /// What it is good for.
    pub scopes: Scopes,
    /// Until when, where the issuer says so.
    pub expires: Option<SystemTime>,
    /// The key that must come with it.
    pub confirmation: Option<Confirmation>,
    /// Everything else that the issuer says.
    pub claims: Map<String, Value>,
}

impl VerifiedToken {
    /// A grant of nothing yet.
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

    /// Whoever it is for, unique across issuers: another token for the same one has the same name.
    ///
    /// The client is a part of it: what one application began, another does not go on with.
    pub fn principal_id(&self) -> String {
        let client = self.client.as_deref().unwrap_or_default();
        // A list in JSON cannot be read in two ways, whatever is in its texts.
        Value::from(vec![&*self.issuer, &*self.subject, client]).to_string()
    }
}

/// Why a token grants nothing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TokenError {
    /// It is no good. The reason is told to the client: it says nothing of the token itself.
    Invalid(Cow<'static, str>),
    /// Nobody can say: whoever would have to is not to be had.
    Unavailable(Arc<dyn Error + Send + Sync>),
}

impl TokenError {
    /// A token is no good, for this reason.
    pub fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Invalid(reason.into())
    }

    /// Nobody can say, for this reason.
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

/// Says what tokens grant.
///
/// Whoever implements it answers for the token: that it is genuine, current, and from the issuer that
/// it says. Audience, expiry, scopes and the binding to a key are looked at afterwards, by whoever
/// asked.
///
/// # Examples
///
/// ```
/// use pintle_auth::resource::{VerifiedToken, TokenVerifier, TokenError};
/// use pintle_auth::{Scopes, Secret};
///
/// /// Knows one token.
/// struct One(Secret);
///
/// impl TokenVerifier for One {
///     async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
///         if !self.0.is(token.reveal()) {
///             return Err(TokenError::invalid("the token is unknown"));
///         }
///         let mut grant = VerifiedToken::new("https://issuer.example", "ada");
///         grant.audiences.push("https://api.example/mcp".into());
///         grant.scopes = Scopes::parse("files:read").expect("a scope");
///         Ok(grant)
///     }
/// }
/// ```
pub trait TokenVerifier: Send + Sync + 'static {
    /// Looks at a token.
    ///
    /// # Errors
    ///
    /// [`TokenError`].
    fn verify(
        &self,
        token: &Secret,
    ) -> impl Future<Output = Result<VerifiedToken, TokenError>> + Send;
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`TokenVerifier`] for trait objects.
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

/// Which scopes are granted by others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hierarchy(BTreeMap<Box<str>, Vec<Box<str>>>);

impl Hierarchy {
    pub(crate) fn imply(&mut self, scope: &str, implied: &str) {
        let own = self.0.entry(scope.into()).or_default();
        own.push(implied.into());
    }

    /// The scopes, and everything that follows from them.
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
            let mut grant = VerifiedToken::new(issuer, subject);
            grant.client = client.map(Into::into);
            grant.principal_id()
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
    fn a_scope_brings_along_what_follows_from_it() {
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
