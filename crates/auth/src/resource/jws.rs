//! Signed JSON in its compact form: taken apart, and verified with a public key.
//!
//! Only signatures with public keys exist here. There is no `none` and no HMAC, so an
//! attacker cannot use a public key as a shared secret.
//!
//! Spec: RFC 7515, RFC 7518, RFC 8037.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::algorithm::Algorithm;
use super::jwk::{Jwk, Material, PublicKey};

/// The used members of a header.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) alg: String,
    #[serde(default)]
    pub(crate) kid: Option<String>,
    #[serde(default)]
    pub(crate) typ: Option<String>,
    #[serde(default)]
    pub(crate) jwk: Option<Jwk>,
    /// Critical extensions. None is supported, so a header with this member is rejected.
    #[serde(default)]
    crit: Option<IgnoredAny>,
}

/// A signed text, taken apart and not verified.
pub(crate) struct Jws<'t> {
    pub(crate) header: Header,
    signed: &'t str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// Why a text is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JwsError {
    #[error("the token is not a JWT")]
    Malformed,
    #[error("the token has a critical header parameter, which is not supported (`crit`)")]
    Critical,
    #[error("the token is not signed with an accepted algorithm (`alg`)")]
    Algorithm,
    #[error("the signature of the token does not verify")]
    Signature,
}

impl<'t> Jws<'t> {
    pub(crate) fn parse(text: &'t str) -> Result<Self, JwsError> {
        let (signed, signature) = text.rsplit_once('.').ok_or(JwsError::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(JwsError::Malformed)?;
        if payload.contains('.') {
            return Err(JwsError::Malformed);
        }
        let decode = |part: &str| {
            URL_SAFE_NO_PAD
                .decode(part)
                .map_err(|_| JwsError::Malformed)
        };
        let header: Header =
            serde_json::from_slice(&decode(header)?).map_err(|_| JwsError::Malformed)?;
        if header.crit.is_some() {
            return Err(JwsError::Critical);
        }
        Ok(Self {
            header,
            signed,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    /// Returns the payload before its signature is verified.
    pub(crate) fn unverified(&self) -> &[u8] {
        &self.payload
    }

    /// The algorithm, if it is one of those.
    pub(crate) fn algorithm(&self, allowed: &[Algorithm]) -> Result<Algorithm, JwsError> {
        Algorithm::named(&self.header.alg)
            .filter(|algorithm| allowed.contains(algorithm))
            .ok_or(JwsError::Algorithm)
    }

    /// The payload, once the signature is good.
    pub(crate) fn verify(&self, algorithm: Algorithm, key: &PublicKey) -> Result<&[u8], JwsError> {
        if !key.fits(algorithm) {
            return Err(JwsError::Algorithm);
        }
        let (message, proof) = (self.signed.as_bytes(), &self.signature[..]);
        let point = |parameters: &'static dyn signature::VerificationAlgorithm, bytes: &[u8]| {
            signature::UnparsedPublicKey::new(parameters, bytes).verify(message, proof)
        };
        let verdict = match (&key.material, algorithm.rsa()) {
            (Material::Rsa { n, e }, Some(parameters)) => {
                signature::RsaPublicKeyComponents { n, e }.verify(parameters, message, proof)
            }
            (Material::P256(key), _) => point(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Material::P384(key), _) => point(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Material::Ed25519(key), _) => point(&signature::ED25519, key),
            (Material::Rsa { .. }, None) => return Err(JwsError::Algorithm),
        };
        verdict.map_err(|_| JwsError::Signature)?;
        Ok(&self.payload)
    }
}
