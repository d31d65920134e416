//! Private keys of a client. They sign client assertions and DPoP proofs.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use crate::secret::Secret;

/// Lifetime of a client assertion, which is signed for one request.
const ASSERTION_TIME: Duration = Duration::from_secs(120);

/// Signature algorithm. There is no `none` and no algorithm with a shared secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA on P-256.
    Es256,
    /// ECDSA on P-384.
    Es384,
    /// RSA, PKCS #1 v1.5.
    Rs256,
    /// RSA with PSS padding.
    Ps256,
    /// EdDSA with Ed25519.
    EdDsa,
}

/// A private key. `Debug` shows its algorithm and no part of the key.
pub struct SigningKey {
    algorithm: Algorithm,
    id: Option<Box<str>>,
    pair: Pair,
}

enum Pair {
    Elliptic(EcdsaKeyPair),
    Rsa(RsaKeyPair),
    Edwards(Ed25519KeyPair),
}

/// Reason why a key cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The algorithm is not supported.
    #[error("the algorithm is not one of ES256, ES384, RS256, PS256, EdDSA")]
    Algorithm,
    /// The text is not a key in PEM, PKCS #8.
    #[error("the key is not in PEM, PKCS #8 (`BEGIN PRIVATE KEY`)")]
    Form,
    /// The key has another type than the algorithm needs, or is too weak.
    #[error("the key does not fit the algorithm")]
    Kind,
    /// The signature failed, because the system has no randomness or no memory.
    #[error("the signature could not be created")]
    Signing,
}

impl Algorithm {
    /// Returns the algorithm with this JOSE name.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError::Algorithm`].
    pub fn named(name: &str) -> Result<Self, SigningKeyError> {
        match name {
            "ES256" => Ok(Self::Es256),
            "ES384" => Ok(Self::Es384),
            "RS256" => Ok(Self::Rs256),
            "PS256" => Ok(Self::Ps256),
            "EdDSA" => Ok(Self::EdDsa),
            _ => Err(SigningKeyError::Algorithm),
        }
    }

    /// Returns the JOSE name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl SigningKey {
    /// Reads a private key in PEM, PKCS #8.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`]. It contains no part of the key.
    pub fn from_pem(pem: &str, algorithm: Algorithm) -> Result<Self, SigningKeyError> {
        let body = pem
            .split_once("-----BEGIN PRIVATE KEY-----")
            .and_then(|(_, rest)| rest.split_once("-----END PRIVATE KEY-----"))
            .ok_or(SigningKeyError::Form)?;
        let text: Secret = body.0.split_ascii_whitespace().collect::<String>().into();
        let bytes = STANDARD
            .decode(text.reveal())
            .map_err(|_| SigningKeyError::Form)?;
        Self::from_pkcs8(&Secret::new(bytes), algorithm)
    }

    /// Reads a private key in PKCS #8.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError::Kind`].
    pub fn from_pkcs8(
        bytes: &Secret<Vec<u8>>,
        algorithm: Algorithm,
    ) -> Result<Self, SigningKeyError> {
        let random = SystemRandom::new();
        let bytes = bytes.reveal();
        let pair = match algorithm {
            Algorithm::Es256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &random)
                    .map(Pair::Elliptic)
            }
            Algorithm::Es384 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, bytes, &random)
                    .map(Pair::Elliptic)
            }
            Algorithm::Rs256 | Algorithm::Ps256 => RsaKeyPair::from_pkcs8(bytes).map(Pair::Rsa),
            Algorithm::EdDsa => {
                Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes).map(Pair::Edwards)
            }
        };
        Ok(Self {
            algorithm,
            id: None,
            pair: pair.map_err(|_| SigningKeyError::Kind)?,
        })
    }

    /// Creates a random key for ES256, and its PKCS #8 form for a store.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError::Signing`].
    pub fn generate() -> Result<(Self, Secret<Vec<u8>>), SigningKeyError> {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let bytes = Secret::new(
            made.map_err(|_| SigningKeyError::Signing)?
                .as_ref()
                .to_vec(),
        );
        Ok((Self::from_pkcs8(&bytes, Algorithm::Es256)?, bytes))
    }

    /// Sets the key id (`kid`) of the published public key.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Returns the algorithm of its signatures.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Signs an assertion that authenticates the client at an authorization server.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError::Signing`].
    ///
    /// Spec: RFC 7523, 2.2 and 3.
    pub(crate) fn assertion(
        &self,
        client: &str,
        audience: &str,
        id: &str,
        now: SystemTime,
    ) -> Result<Secret, SigningKeyError> {
        let mut header = json!({ "typ": "JWT", "alg": self.algorithm.name() });
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        let claims = json!({
            "iss": client, "sub": client, "aud": audience, "jti": id,
            "iat": seconds(now), "exp": seconds(now + ASSERTION_TIME),
        });
        self.sign(&header, &claims)
    }

    /// Signs a DPoP proof for one request.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`].
    ///
    /// Spec: RFC 9449, 4.2.
    pub(crate) fn proof(&self, of: &Proof<'_>) -> Result<Secret, SigningKeyError> {
        let header = json!({
            "typ": "dpop+jwt", "alg": self.algorithm.name(), "jwk": self.public()?,
        });
        let url = of.url.split(['?', '#']).next().unwrap_or_default();
        let mut claims = json!({
            "jti": of.id, "htm": of.method, "htu": url, "iat": seconds(of.now),
        });
        if let Some(token) = of.token {
            let hash = digest(&SHA256, token.as_bytes());
            claims["ath"] = json!(URL_SAFE_NO_PAD.encode(hash));
        }
        if let Some(nonce) = of.nonce {
            claims["nonce"] = json!(nonce);
        }
        self.sign(&header, &claims)
    }

    /// Returns the public key as a JSON Web Key.
    fn public(&self) -> Result<Value, SigningKeyError> {
        let (Pair::Elliptic(pair), Algorithm::Es256) = (&self.pair, self.algorithm) else {
            return Err(SigningKeyError::Kind);
        };
        // An uncompressed point: its type byte, then both coordinates.
        let point = pair
            .public_key()
            .as_ref()
            .get(1..)
            .ok_or(SigningKeyError::Kind)?;
        let (x, y) = point.split_at(point.len() / 2);
        let [x, y] = [x, y].map(|half| URL_SAFE_NO_PAD.encode(half));
        Ok(json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y }))
    }

    fn sign(&self, header: &Value, claims: &Value) -> Result<Secret, SigningKeyError> {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let input = format!("{}.{}", encode(header), encode(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Elliptic(pair) => pair
                .sign(&random, input.as_bytes())
                .map(|signature| signature.as_ref().to_vec()),
            Pair::Edwards(pair) => Ok(pair.sign(input.as_bytes()).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let signed = match self.algorithm {
                    Algorithm::Ps256 => {
                        pair.sign(&RSA_PSS_SHA256, &random, input.as_bytes(), &mut signature)
                    }
                    _ => pair.sign(&RSA_PKCS1_SHA256, &random, input.as_bytes(), &mut signature),
                };
                signed.map(|()| signature)
            }
        };
        let signature = signature.map_err(|_| SigningKeyError::Signing)?;
        Ok(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature)).into())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm.name())
    }
}

/// Request, token and nonce of a DPoP proof.
#[derive(Clone, Copy)]
pub(crate) struct Proof<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) nonce: Option<&'a str>,
    pub(crate) id: &'a str,
    pub(crate) now: SystemTime,
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn parts(token: &Secret) -> (Value, Value) {
        let decode = |part: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64");
            serde_json::from_slice(&bytes).expect("JSON")
        };
        let mut all = token.reveal().split('.');
        let mut next = || decode(all.next().expect("a part"));
        (next(), next())
    }

    fn is_signed_by(token: &Secret, key: &SigningKey) -> bool {
        let Pair::Elliptic(pair) = &key.pair else {
            return false;
        };
        let (input, signature) = token.reveal().rsplit_once('.').expect("a signature");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref())
            .verify(input.as_bytes(), &signature)
            .is_ok()
    }

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000)
    }

    // spec: 2026-07-28 X-CC-02
    #[test]
    fn an_assertion_identifies_the_client_for_a_short_time() {
        let (key, _) = SigningKey::generate().expect("a key");
        let token = key
            .assertion("c", "https://as", "j", now())
            .expect("signed");
        let (header, claims) = parts(&token);
        assert_eq!(header, json!({ "typ": "JWT", "alg": "ES256" }));
        let expected = json!({
            "iss": "c", "sub": "c", "aud": "https://as", "jti": "j", "iat": 1_000, "exp": 1_120,
        });
        assert_eq!(claims, expected);
        assert!(is_signed_by(&token, &key));
        let named = key
            .with_id("k")
            .assertion("c", "a", "j", now())
            .expect("signed");
        assert_eq!(parts(&named).0["kid"], "k");
    }

    // spec: 2026-07-28 X-DPOP-01
    #[test]
    fn a_proof_is_for_one_request_and_one_token() {
        let (key, _) = SigningKey::generate().expect("a key");
        let of = Proof {
            method: "POST",
            url: "https://mcp.example/mcp?key=x",
            token: Some("token"),
            nonce: Some("n"),
            id: "j",
            now: now(),
        };
        let token = key.proof(&of).expect("signed");
        let (header, claims) = parts(&token);
        assert_eq!(
            (&header["typ"], &header["jwk"]["crv"]),
            (&json!("dpop+jwt"), &json!("P-256"))
        );
        assert!(header["jwk"].get("d").is_none(), "the private half stays");
        let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, b"token"));
        let expected = json!({
            "jti": "j", "htm": "POST", "htu": "https://mcp.example/mcp", "iat": 1_000,
            "ath": hash, "nonce": "n",
        });
        assert_eq!(claims, expected);
        assert!(is_signed_by(&token, &key));
    }

    // hardening: H-46
    // spec: 2026-07-28 X-DPOP-05
    #[test]
    fn a_key_shows_nothing_of_itself_and_fits_its_algorithm() {
        let (key, kept) = SigningKey::generate().expect("a key");
        assert_eq!(format!("{key:?} {kept:?}"), "SigningKey(ES256) Secret");
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            STANDARD.encode(kept.reveal())
        );
        assert!(SigningKey::from_pem(&pem, Algorithm::Es256).is_ok());
        for (text, algorithm, fault) in [
            (pem.as_str(), Algorithm::Rs256, SigningKeyError::Kind),
            (pem.as_str(), Algorithm::EdDsa, SigningKeyError::Kind),
            ("x", Algorithm::Es256, SigningKeyError::Form),
            (
                "-----BEGIN PRIVATE KEY-----\n*\n-----END PRIVATE KEY-----",
                Algorithm::Es256,
                SigningKeyError::Form,
            ),
        ] {
            assert_eq!(SigningKey::from_pem(text, algorithm).err(), Some(fault));
        }
        for name in ["none", "HS256", "es256", ""] {
            assert_eq!(Algorithm::named(name), Err(SigningKeyError::Algorithm));
        }
    }
}
