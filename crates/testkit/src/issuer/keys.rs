//! The signing keys of an issuer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde_json::{Value, json};

/// A key that is public, in this repository, because ring cannot generate RSA keys.
const RSA: &[u8] = include_bytes!("rsa.p8");

/// The signature of a token. Exhaustive: three good ways, and the two of attackers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signature {
    /// ECDSA over P-256.
    #[default]
    Es256,
    /// RSA, PKCS #1.
    Rs256,
    /// Ed25519, with the `alg` value `EdDSA`.
    EdDsa,
    /// No signature: `alg` is `none`.
    None,
    /// HMAC with the public RSA key as its secret.
    Hs256WithPublicKey,
}

/// The keys of an issuer, the newest last.
pub(super) struct Keys {
    sets: Vec<KeySet>,
    next: u32,
}

/// One key of each kind.
pub(super) struct KeySet {
    number: u32,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
    rsa: RsaKeyPair,
}

impl Keys {
    pub(super) fn new() -> Self {
        let mut keys = Self {
            sets: Vec::new(),
            next: 1,
        };
        keys.rotate();
        keys
    }

    pub(super) fn rotate(&mut self) {
        self.sets.push(KeySet::new(self.next));
        self.next += 1;
    }

    pub(super) fn retire(&mut self) {
        let old = self.sets.len().saturating_sub(1);
        self.sets.drain(..old);
    }

    pub(super) fn newest(&self) -> &KeySet {
        self.sets.last().expect("there is always one")
    }

    /// The keys as a JWK set.
    pub(super) fn set(&self) -> Value {
        let keys: Vec<Value> = self.sets.iter().flat_map(KeySet::published).collect();
        json!({ "keys": keys })
    }
}

impl KeySet {
    fn new(number: u32) -> Self {
        let rsa = RsaKeyPair::from_pkcs8(RSA).expect("the key is whole");
        let rng = SystemRandom::new();
        let ed = Ed25519KeyPair::generate_pkcs8(&rng).expect("the system gives randomness");
        Self {
            number,
            ec: ec_key(),
            ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("it was just made"),
            rsa,
        }
    }

    fn published(&self) -> [Value; 3] {
        let (x, y) = point(&self.ec);
        let rsa: PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        [
            json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256",
                "kid": self.id(Signature::Es256), "x": x, "y": y }),
            json!({ "kty": "RSA", "use": "sig", "kid": self.id(Signature::Rs256),
                "n": text(&rsa.n), "e": text(&rsa.e) }),
            json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig",
                "kid": self.id(Signature::EdDsa), "x": text(self.ed.public_key().as_ref()) }),
        ]
    }

    /// The id (`kid`) of the key that makes this signature.
    pub(super) fn id(&self, signature: Signature) -> String {
        let kind = match signature {
            Signature::Es256 => "ec",
            Signature::EdDsa => "ed",
            Signature::Rs256 | Signature::None | Signature::Hs256WithPublicKey => "rsa",
        };
        format!("{kind}-{}", self.number)
    }

    pub(super) fn sign(&self, signature: Signature, text: &str) -> Vec<u8> {
        let bytes = text.as_bytes();
        match signature {
            Signature::Es256 => sign_ec(&self.ec, text),
            Signature::EdDsa => self.ed.sign(bytes).as_ref().to_vec(),
            Signature::Rs256 => self.sign_rsa(bytes),
            Signature::None => Vec::new(),
            Signature::Hs256WithPublicKey => {
                let public = self.rsa.public().as_ref();
                let key = hmac::Key::new(hmac::HMAC_SHA256, public);
                hmac::sign(&key, bytes).as_ref().to_vec()
            }
        }
    }

    fn sign_rsa(&self, bytes: &[u8]) -> Vec<u8> {
        let mut signed = vec![0; self.rsa.public().modulus_len()];
        let rng = SystemRandom::new();
        self.rsa
            .sign(&RSA_PKCS1_SHA256, &rng, bytes, &mut signed)
            .expect("the key signs");
        signed
    }
}

impl Signature {
    /// The value of `alg` in headers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::EdDsa => "EdDSA",
            Self::None => "none",
            Self::Hs256WithPublicKey => "HS256",
        }
    }
}

/// A new key of the elliptic curve.
pub(super) fn ec_key() -> EcdsaKeyPair {
    let rng = SystemRandom::new();
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &rng);
    let made = made.expect("the system gives randomness");
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &rng)
        .expect("it was just made")
}

pub(super) fn sign_ec(key: &EcdsaKeyPair, text: &str) -> Vec<u8> {
    let signed = key.sign(&SystemRandom::new(), text.as_bytes());
    signed.expect("the key signs").as_ref().to_vec()
}

/// The two coordinates of a point.
pub(super) fn point(key: &EcdsaKeyPair) -> (String, String) {
    let point = key.public_key().as_ref();
    let (x, y) = point[1..].split_at(32);
    (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y))
}
