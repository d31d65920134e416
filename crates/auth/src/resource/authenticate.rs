//! Authentication and authorization of one request. Only its head is read.

use std::sync::Arc;
use std::time::SystemTime;

use http::request::Parts;
use pintle_runtime::{MissingScopes, Principal};
use tokio::time::{Instant, timeout};

use super::ResourceLimits;
use super::bearer_error::{BearerError, Challenges};
use super::credentials::{Credentials, Scheme};
use super::dpop::{Confirmation, Dpop, DpopError, ProofVerifier, Subject};
use super::metadata::Metadata;
use super::uri::{Canonical, names};
use super::verified_token::{DynVerifier, Hierarchy, TokenError, VerifiedToken};
use crate::Secret;

/// Decides whether a request to a protected server is admitted, from its bearer or DPoP token.
pub(crate) struct Authenticator {
    pub(crate) verifier: Box<dyn DynVerifier>,
    pub(crate) resource: Canonical,
    pub(crate) audiences: Vec<Box<str>>,
    pub(crate) required: Vec<Box<str>>,
    pub(crate) hierarchy: Hierarchy,
    pub(crate) metadata: Metadata,
    pub(crate) challenges: Challenges,
    pub(crate) dpop: Dpop,
    pub(crate) proofs: ProofVerifier,
    pub(crate) limits: ResourceLimits,
}

/// Principal and verified token of an admitted request.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) principal: Principal,
    pub(crate) verified: Arc<VerifiedToken>,
}

impl Authenticator {
    /// Verifies the token of a request: audience, expiry, key binding and required scopes.
    ///
    /// # Errors
    ///
    /// [`BearerError`] if the request must be rejected.
    pub(crate) async fn admit(&self, parts: &Parts) -> Result<Admitted, BearerError> {
        let shown = Credentials::of(parts, self.limits.max_token_bytes)?;
        if shown.scheme == Scheme::Dpop && self.dpop == Dpop::Off {
            return Err(BearerError::Missing);
        }
        let verified = self.verify(&shown.token).await?;
        self.check_verified_token(&verified)?;
        if shown.scheme == Scheme::Dpop {
            self.proofs.refresh().await;
        }
        self.check_binding(parts, &shown, &verified)?;
        let scopes = self.hierarchy.close(&verified.scopes);
        let principal = Principal::new(verified.principal_id(), scopes);
        if !principal.has_scopes(&self.required) {
            return Err(BearerError::Scopes(self.required.join(" ")));
        }
        Ok(Admitted {
            principal,
            verified: Arc::new(verified),
        })
    }

    /// Returns the time at which open streams of the token must end: its expiry plus the clock skew.
    ///
    /// A token without an expiry gets `stream_ttl`.
    pub(crate) fn end_of(&self, verified: &VerifiedToken) -> Option<Instant> {
        let left = match verified.expires {
            Some(end) => {
                let end = end.checked_add(self.limits.max_clock_skew)?;
                end.duration_since(SystemTime::now()).unwrap_or_default()
            }
            None => self.limits.stream_ttl,
        };
        Instant::now().checked_add(left)
    }

    /// Returns the rejection of a principal without the scopes of the operation.
    ///
    /// It names the scopes of the operation and those that every request requires.
    pub(crate) fn step_up(&self, MissingScopes(scopes): &MissingScopes) -> BearerError {
        let more = scopes.iter().filter(|scope| !self.required.contains(scope));
        let all: Vec<&str> = self
            .required
            .iter()
            .chain(more)
            .map(|scope| &**scope)
            .collect();
        BearerError::Scopes(all.join(" "))
    }

    async fn verify(&self, token: &Secret) -> Result<VerifiedToken, BearerError> {
        let within = self.limits.verify_timeout;
        match timeout(within, self.verifier.verify_dyn(token)).await {
            Ok(Ok(verified)) => Ok(verified),
            Ok(Err(TokenError::Invalid(reason))) => Err(BearerError::Invalid(reason)),
            Ok(Err(TokenError::Unavailable(reason))) => {
                tracing::debug!(%reason, "a token cannot be verified");
                Err(BearerError::Unavailable)
            }
            Err(_) => {
                tracing::debug!(?within, "a token was not verified in time");
                Err(BearerError::Unavailable)
            }
        }
    }

    /// Checks the audience and the expiry of a token. This applies to every verifier.
    fn check_verified_token(&self, verified: &VerifiedToken) -> Result<(), BearerError> {
        let is_ours = |audience: &str| self.audiences.iter().any(|own| names(audience, own));
        if !verified.audiences.iter().any(|audience| is_ours(audience)) {
            let own = self.resource.as_str();
            let reason = format!("the token is for another server: its `aud` does not name {own}");
            return Err(BearerError::Invalid(reason.into()));
        }
        let has_ended = |end: SystemTime| {
            let end = end.checked_add(self.limits.max_clock_skew);
            end.is_some_and(|end| end <= SystemTime::now())
        };
        match verified.expires {
            Some(end) if has_ended(end) => {
                Err(BearerError::Invalid("the token has expired (`exp`)".into()))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the client possesses the key to which the token is bound.
    fn check_binding(
        &self,
        parts: &Parts,
        shown: &Credentials,
        verified: &VerifiedToken,
    ) -> Result<(), BearerError> {
        match (shown.scheme, &verified.confirmation) {
            (Scheme::Bearer, None) if self.dpop != Dpop::Required => Ok(()),
            (_, None) => Err(BearerError::Invalid(
                "the token is not bound to a key (`cnf`)".into(),
            )),
            (Scheme::Dpop, Some(Confirmation::Key(key))) => {
                self.check_proof(parts, &shown.token, key, &verified.principal_id())
            }
            (_, Some(_)) => Err(BearerError::Invalid(
                "the request does not prove the binding of the token (`cnf`)".into(),
            )),
        }
    }

    fn check_proof(
        &self,
        parts: &Parts,
        token: &Secret,
        key: &str,
        principal: &str,
    ) -> Result<(), BearerError> {
        let now = SystemTime::now();
        let subject = Subject {
            method: parts.method.as_str(),
            // The proof names the public URL, because a proxy may change the host of the request.
            url: &format!("{}{}", self.resource.origin(), parts.uri.path()),
            token,
            key,
            principal,
            now,
        };
        self.proofs
            .check(&parts.headers, &subject)
            .map_err(|bad| match bad {
                DpopError::Invalid(reason) => BearerError::Proof(reason),
                DpopError::Nonce => BearerError::Nonce(self.proofs.nonce(now).unwrap_or_default()),
                DpopError::Full => {
                    tracing::warn!("the cache of DPoP proofs is full");
                    BearerError::Unavailable
                }
            })
    }
}
