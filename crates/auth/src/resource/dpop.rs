//! DPoP proofs: the client possesses the key to which its token is bound.
//!
//! Spec: RFC 9449, 4.3; the DPoP profile of MCP (SEP-1932, a draft).

mod nonce;
mod proof_cache;

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use pintle_keys::Keys;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ResourceLimits;
use super::algorithm::Algorithm;
use super::jws::Jws;
use super::uri::Canonical;
use crate::Secret;
use nonce::Nonces;
use proof_cache::{Entry, ProofCache, ProofCacheFullError};

/// Where a proof is.
pub(crate) const HEADER: &str = "dpop";
/// Where the nonce for the next proof is.
pub(crate) const NONCE: &str = "dpop-nonce";

/// Binding of a token (`cnf`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// The key of this thumbprint (`jkt`): RFC 9449, section 6.1.
    Key(Box<str>),
    /// Something that cannot be checked here. Such a token is refused.
    Other,
}

impl Confirmation {
    pub(crate) fn read(cnf: &Map<String, Value>) -> Self {
        match (cnf.len(), cnf.get("jkt").and_then(Value::as_str)) {
            (1, Some(thumbprint)) => Self::Key(thumbprint.into()),
            _ => Self::Other,
        }
    }
}

/// Whether tokens are bound to keys. Closed: they may be, must be, or are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dpop {
    /// Tokens that are bound to a key are refused, because no proof is looked at.
    #[default]
    Off,
    /// A token that is bound needs a proof; one that is not, does not.
    Accepted,
    /// Every token is bound.
    Required,
}

/// Whether proofs need a nonce of ours. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DpopNonce {
    /// Proofs need no nonce. A proof is valid once, for a few minutes.
    #[default]
    Off,
    /// Proofs need a nonce. It is valid at every server with the same keys: see
    /// [`RequireBearerBuilder::keys`](super::RequireBearerBuilder::keys).
    Required,
}

/// Request, token and key that a proof must match.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'r> {
    pub(crate) method: &'r str,
    /// The address of the request, as clients know it.
    pub(crate) url: &'r str,
    pub(crate) token: &'r Secret,
    /// The thumbprint of the key that the token is bound to.
    pub(crate) key: &'r str,
    /// Principal of the token.
    pub(crate) principal: &'r str,
    pub(crate) now: SystemTime,
}

/// Why a proof does not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DpopError {
    /// The proof is invalid.
    Invalid(&'static str),
    /// The proof has no current nonce of this server.
    Nonce,
    /// The proof cannot be stored against replay, because the cache is full.
    Full,
}

/// Looks at proofs.
pub(crate) struct ProofVerifier {
    algorithms: Vec<Algorithm>,
    age: Duration,
    used: ProofCache,
    nonces: Option<Nonces>,
}

#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: f64,
    #[serde(default)]
    ath: Option<String>,
    #[serde(default)]
    nonce: Option<String>,
}

impl ProofVerifier {
    pub(crate) fn new(
        algorithms: &[Algorithm],
        nonces: Option<Keys>,
        limits: &ResourceLimits,
    ) -> Self {
        Self {
            algorithms: algorithms.to_vec(),
            age: limits.proof_ttl,
            used: ProofCache::new(limits.max_proofs, limits.max_proofs_per_principal),
            nonces: nonces.map(|keys| Nonces::new(keys, limits.nonce_ttl)),
        }
    }

    /// Rotates keys that replicas share, if that is due.
    pub(crate) async fn refresh(&self) {
        if let Some(nonces) = &self.nonces {
            nonces.refresh().await;
        }
    }

    /// A nonce for the next proof, where proofs need one.
    pub(crate) fn nonce(&self, now: SystemTime) -> Option<String> {
        self.nonces.as_ref()?.make(now)
    }

    /// Looks at the proof of a request whose token is good, once.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        subject: &Subject<'_>,
    ) -> Result<(), DpopError> {
        let proof = single(headers)?;
        let jws = Jws::parse(proof).map_err(|_| DpopError::Invalid("the proof is not a JWT"))?;
        let claims = self.verify(&jws, subject.key)?;
        self.compare(&claims, subject)?;
        let entry = Entry {
            principal: subject.principal,
            key: subject.key,
            id: &claims.jti,
            until: claims.iat + self.age.as_secs_f64(),
        };
        match self.used.enter(&entry, subject.now) {
            Ok(true) => Ok(()),
            Ok(false) => Err(DpopError::Invalid("the proof was used before")),
            Err(ProofCacheFullError) => Err(DpopError::Full),
        }
    }

    /// Returns the claims of a proof that is signed with the key of the token.
    fn verify(&self, jws: &Jws<'_>, bound_to: &str) -> Result<Claims, DpopError> {
        let is_proof = |kind: &str| kind.eq_ignore_ascii_case("dpop+jwt");
        if !jws.header.typ.as_deref().is_some_and(is_proof) {
            return Err(DpopError::Invalid("the proof is not of the type dpop+jwt"));
        }
        let algorithm = jws.algorithm(&self.algorithms).map_err(|_| {
            DpopError::Invalid("the proof is not signed with an accepted algorithm")
        })?;
        let written = jws.header.jwk.as_ref().filter(|key| !key.is_private());
        let written = written.ok_or(DpopError::Invalid("the proof has no public key"))?;
        let key = written.to_key();
        let key = key.ok_or(DpopError::Invalid("the key of the proof cannot be used"))?;
        let payload = jws.verify(algorithm, &key);
        let payload = payload.map_err(|_| DpopError::Invalid("the proof does not verify"))?;
        if written.thumbprint().as_deref() != Some(bound_to) {
            return Err(DpopError::Invalid(
                "the token is bound to another key (`cnf`)",
            ));
        }
        serde_json::from_slice(payload)
            .map_err(|_| DpopError::Invalid("the claims of the proof cannot be read"))
    }

    fn compare(&self, claims: &Claims, subject: &Subject<'_>) -> Result<(), DpopError> {
        if claims.htm != subject.method {
            return Err(DpopError::Invalid(
                "the proof is for another method (`htm`)",
            ));
        }
        let place = claims.htu.split(['?', '#']).next().unwrap_or_default();
        let place = Canonical::parse(place);
        if place.is_none() || place != Canonical::parse(subject.url) {
            return Err(DpopError::Invalid(
                "the proof is for another address (`htu`)",
            ));
        }
        let digest = digest(&SHA256, subject.token.reveal().as_bytes());
        if claims.ath.as_deref() != Some(&*URL_SAFE_NO_PAD.encode(digest)) {
            return Err(DpopError::Invalid("the proof is for another token (`ath`)"));
        }
        let now = subject.now.duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_secs_f64();
        let is_recent = (now - claims.iat).abs() <= self.age.as_secs_f64();
        if !claims.iat.is_finite() || !is_recent {
            return Err(DpopError::Invalid("the proof is not of this time (`iat`)"));
        }
        if claims.jti.is_empty() {
            return Err(DpopError::Invalid("the proof has no name (`jti`)"));
        }
        match &self.nonces {
            Some(nonces) if !nonces.is_good(claims.nonce.as_deref(), subject.now) => {
                Err(DpopError::Nonce)
            }
            _ => Ok(()),
        }
    }
}

/// The only proof that came.
fn single(headers: &HeaderMap) -> Result<&str, DpopError> {
    let mut all = headers.get_all(HEADER).iter();
    match (all.next(), all.next()) {
        (Some(proof), None) => proof
            .to_str()
            .map_err(|_| DpopError::Invalid("the proof is not a JWT")),
        (None, _) => Err(DpopError::Invalid("there is no proof")),
        (Some(_), Some(_)) => Err(DpopError::Invalid("there is more than one proof")),
    }
}
