//! Proofs of possession of a key (DPoP), good and bad.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_FIXED, EcdsaKeyPair, UnparsedPublicKey};
use serde_json::{Map, Value, json};

use super::keys::{ec_key, point, sign_ec};
use super::random_name;
use super::token::{now, text};

/// A key that tokens can be bound to. Clones are the same key.
#[derive(Clone)]
pub struct ProofKey(Arc<EcdsaKeyPair>);

impl ProofKey {
    /// A new key.
    pub fn new() -> Self {
        Self(Arc::new(ec_key()))
    }

    /// The thumbprint of the key: RFC 7638.
    pub fn thumbprint(&self) -> String {
        let (x, y) = point(&self.0);
        thumbprint(&x, &y)
    }

    /// Begins a proof for one request with one token: valid, unless its builder changes it.
    pub fn proof(&self, method: &str, url: &str, token: &str) -> Proof {
        let (x, y) = point(&self.0);
        let key = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y });
        let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, token.as_bytes()));
        let proof = Proof {
            key: self.clone(),
            header: Map::new(),
            claims: Map::new(),
        };
        proof
            .header("typ", json!("dpop+jwt"))
            .header("alg", json!("ES256"))
            .header("jwk", key)
            .claim("jti", json!(random_name()))
            .claim("htm", json!(method))
            .claim("htu", json!(url))
            .claim("iat", json!(now()))
            .claim("ath", json!(hash))
    }
}

/// Returns the thumbprint of the key that signed the proof for a token request. Returns nothing if
/// the proof is not valid: RFC 9449, 4.3.
pub(super) fn proven(proof: &str, place: &str) -> Option<String> {
    let (text, signature) = proof.rsplit_once('.')?;
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    let mut parts = text.split('.').map(|part| {
        let bytes = decoded(part)?;
        serde_json::from_slice::<Value>(&bytes).ok()
    });
    let (header, claims) = (parts.next()??, parts.next()??);
    let (x, y) = (header["jwk"]["x"].as_str()?, header["jwk"]["y"].as_str()?);
    let mut point = vec![4];
    point.extend(decoded(x)?);
    point.extend(decoded(y)?);
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(text.as_bytes(), &decoded(signature)?).ok()?;
    let is_of_now = claims["iat"].as_u64()?.abs_diff(now()) < 300;
    let is_good = header["typ"] == "dpop+jwt"
        && header["alg"] == "ES256"
        && claims["htm"] == "POST"
        && claims["htu"] == place
        && claims["jti"].is_string();
    (is_good && is_of_now).then(|| thumbprint(x, y))
}

fn thumbprint(x: &str, y: &str) -> String {
    let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    URL_SAFE_NO_PAD.encode(digest(&SHA256, members.as_bytes()))
}

impl Default for ProofKey {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ProofKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProofKey").field(&self.thumbprint()).finish()
    }
}

/// A proof that is about to be signed.
#[derive(Debug, Clone)]
#[must_use = "it is no proof before `sign`"]
pub struct Proof {
    key: ProofKey,
    header: Map<String, Value>,
    claims: Map<String, Value>,
}

impl Proof {
    /// Replaces a claim; null removes it.
    pub fn claim(mut self, name: &str, value: Value) -> Self {
        self.claims.remove(name);
        if !value.is_null() {
            self.claims.insert(name.to_owned(), value);
        }
        self
    }

    /// Replaces a member of the header; null removes it.
    pub fn header(mut self, name: &str, value: Value) -> Self {
        self.header.remove(name);
        if !value.is_null() {
            self.header.insert(name.to_owned(), value);
        }
        self
    }

    /// Sets the age of the proof in seconds; negative if it is from the future.
    pub fn aged(self, seconds: i64) -> Self {
        self.claim("iat", json!(now().saturating_add_signed(-seconds)))
    }

    /// Signs the proof and returns it as a compact JWT.
    pub fn sign(&self) -> String {
        let text = text(&self.header, &self.claims);
        let signed = sign_ec(&self.key.0, &text);
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signed))
    }
}
