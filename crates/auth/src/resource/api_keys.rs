//! Keys that an operator hands out, in place of tokens of an authorization server.

use super::uri::RequireBearerError;
use super::verified_token::{TokenError, TokenVerifier, VerifiedToken};
use crate::{Scopes, Secret};

/// A key of one caller, for [`RequireBearer::api_keys`](super::RequireBearer::api_keys).
#[derive(Debug, Clone)]
pub struct ApiKey {
    secret: Secret,
    owner: Box<str>,
    scopes: Box<str>,
}

impl ApiKey {
    /// Creates a key of `owner`, which is the subject of its principal.
    pub fn new(secret: impl Into<Secret>, owner: &str) -> Self {
        Self {
            secret: secret.into(),
            owner: owner.into(),
            scopes: "".into(),
        }
    }

    /// Sets the scopes of the key, separated by blanks.
    #[must_use]
    pub fn scopes(mut self, scopes: &str) -> Self {
        self.scopes = scopes.into();
        self
    }
}

/// Verifies the keys of one server.
pub(super) struct ApiKeyVerifier(Vec<(Secret, VerifiedToken)>);

impl ApiKeyVerifier {
    /// Creates the verifier of keys whose tokens are for `audience`.
    ///
    /// # Errors
    ///
    /// If there is no key, a key is empty or appears twice, or a scope is invalid.
    pub(super) fn new(
        issuer: &str,
        audience: &str,
        keys: Vec<ApiKey>,
    ) -> Result<Self, RequireBearerError> {
        if keys.is_empty() {
            return Err(RequireBearerError::ApiKeys("no key is given"));
        }
        let mut known = Vec::<(Secret, VerifiedToken)>::new();
        for key in keys {
            let secret = key.secret.reveal();
            if secret.is_empty() {
                return Err(RequireBearerError::ApiKeys("a key is empty"));
            }
            if known.iter().any(|(other, _)| other.is(secret)) {
                return Err(RequireBearerError::ApiKeys("two keys are equal"));
            }
            let mut verified = VerifiedToken::new(issuer, &key.owner);
            verified.audiences.push(audience.into());
            verified.scopes = Scopes::parse(&key.scopes)
                .map_err(|_| RequireBearerError::Scope(key.scopes.clone()))?;
            known.push((key.secret, verified));
        }
        Ok(Self(known))
    }
}

impl TokenVerifier for ApiKeyVerifier {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        // All keys are compared, so the time does not show the position of a key.
        let fitting = self.0.iter().fold(None, |found, (key, verified)| {
            if key.is(token.reveal()) {
                Some(verified)
            } else {
                found
            }
        });
        fitting
            .cloned()
            .ok_or_else(|| TokenError::invalid("the key is unknown"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::RequireBearer;

    #[test]
    fn unusable_api_keys_are_an_error_at_the_start() {
        let key = |secret: &str| ApiKey::new(secret.to_owned(), "ada");
        let build = |keys: Vec<ApiKey>| {
            let guard = RequireBearer::api_keys("https://api.test/keys", keys);
            guard.audience("https://api.test/mcp").build().map(drop)
        };
        assert_eq!(build(vec![key("a"), key("b").scopes("x y")]), Ok(()));
        for keys in [vec![], vec![key("")], vec![key("a"), key("a")]] {
            assert!(matches!(build(keys), Err(RequireBearerError::ApiKeys(_))));
        }
        let scopes = build(vec![key("a").scopes("x \"y")]);
        assert!(matches!(scopes, Err(RequireBearerError::Scope(_))));
    }

    #[test]
    fn an_api_key_is_not_printed() {
        let key = ApiKey::new("key-of-ada".to_owned(), "ada");
        assert!(!format!("{key:?}").contains("key-of-ada"));
    }
}
