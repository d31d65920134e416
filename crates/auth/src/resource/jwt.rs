//! Access tokens in JWT form.

use std::sync::Arc;
use std::time::SystemTime;

use super::algorithm::Algorithm;
use super::claims::{Claims, Expiry};
use super::issuer::Issuer;
use super::jws::{Jws, JwsError};
use super::keys::KeyRing;
use super::verified_token::{TokenError, TokenVerifier, VerifiedToken};
use crate::Secret;

/// Values of `typ` in access tokens; `typ` may be missing. Other types are rejected.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

/// Verifies signed tokens of one issuer.
pub(crate) struct JwtVerifier {
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) keys: KeyRing,
    pub(crate) algorithms: Vec<Algorithm>,
}

impl TokenVerifier for JwtVerifier {
    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, TokenError> {
        let jws = Jws::parse(token.reveal())?;
        check_type(jws.header.typ.as_deref())?;
        let algorithm = jws.algorithm(&self.algorithms)?;
        self.peek(&jws)?;
        let key = self.keys.find(jws.header.kid.as_deref(), algorithm).await?;
        let payload = jws.verify(algorithm, &key)?;
        self.verified(payload, SystemTime::now())
    }
}

impl JwtVerifier {
    /// Checks the issuer before the signature, because a token of another issuer must not cause a fetch
    /// of keys.
    fn peek(&self, jws: &Jws<'_>) -> Result<(), TokenError> {
        let (claims, _) = Claims::read(jws.unverified())?;
        self.check_issuer(&claims)
    }

    fn verified(&self, payload: &[u8], now: SystemTime) -> Result<VerifiedToken, TokenError> {
        let (claims, rest) = Claims::read(payload)?;
        self.check_issuer(&claims)?;
        claims.check_time(now, self.issuer.limits().max_clock_skew, Expiry::Required)?;
        claims.into_verified_token(self.issuer.name(), rest)
    }

    fn check_issuer(&self, claims: &Claims) -> Result<(), TokenError> {
        match claims.iss.as_deref() {
            Some(issuer) if issuer == self.issuer.name() => Ok(()),
            _ => Err(of_another(self.issuer.name())),
        }
    }
}

/// Returns the error for a token that `own` has not issued.
pub(super) fn of_another(own: &str) -> TokenError {
    TokenError::invalid(format!(
        "the token is of another issuer: its `iss` is not {own}"
    ))
}

fn check_type(kind: Option<&str>) -> Result<(), TokenError> {
    let is_ours = |kind: &str| TYPES.iter().any(|own| own.eq_ignore_ascii_case(kind));
    match kind {
        Some(kind) if !is_ours(kind) => Err(TokenError::invalid(
            "the token is not an access token (`typ`)",
        )),
        _ => Ok(()),
    }
}

impl From<JwsError> for TokenError {
    fn from(bad: JwsError) -> Self {
        Self::invalid(bad.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_access_tokens_are_taken() {
        for fine in [
            None,
            Some("JWT"),
            Some("at+jwt"),
            Some("application/AT+JWT"),
        ] {
            assert!(check_type(fine).is_ok(), "{fine:?}");
        }
        for other in ["dpop+jwt", "logout+jwt", "", "at"] {
            assert!(check_type(Some(other)).is_err(), "{other}");
        }
    }
}
