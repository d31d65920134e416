//! Public keys as JSON.
//!
//! Spec: RFC 7517, RFC 7518, RFC 8037, RFC 7638.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::algorithm::Algorithm;
use crate::metadata::is_too_deep;

/// A key as it is written. Members that are there twice make it none.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Jwk {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    #[serde(default)]
    key_ops: Option<Vec<String>>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
    /// The private part, or a key that is secret as a whole.
    #[serde(default)]
    d: Option<IgnoredAny>,
    #[serde(default)]
    k: Option<IgnoredAny>,
}

/// A public key that verifies signatures.
#[derive(Debug, Clone)]
pub(crate) struct PublicKey {
    pub(crate) id: Option<Box<str>>,
    /// Value of `alg`: the only algorithm of the key.
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) material: Material,
}

impl PublicKey {
    /// Returns true if the key is of the kind that `algorithm` needs, and is for it.
    pub(crate) fn fits(&self, algorithm: Algorithm) -> bool {
        let is_kind = match (algorithm, &self.material) {
            (Algorithm::Es256, Material::P256(_))
            | (Algorithm::Es384, Material::P384(_))
            | (Algorithm::EdDsa, Material::Ed25519(_)) => true,
            (_, Material::Rsa { .. }) => algorithm.rsa().is_some(),
            _ => false,
        };
        is_kind && self.algorithm.is_none_or(|only| only == algorithm)
    }
}

/// Closed: other kinds of keys are not used.
#[derive(Debug, Clone)]
pub(crate) enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Jwk {
    /// Returns true if the key has a private or symmetric part.
    pub(crate) fn is_private(&self) -> bool {
        self.d.is_some() || self.k.is_some()
    }

    /// The key, if it is one to verify signatures with.
    pub(crate) fn to_key(&self) -> Option<PublicKey> {
        let is_for_signatures = self
            .purpose
            .as_deref()
            .is_none_or(|purpose| purpose == "sig")
            && self
                .key_ops
                .as_ref()
                .is_none_or(|all| all.iter().any(|one| one == "verify"));
        if !is_for_signatures {
            return None;
        }
        let algorithm = match &self.alg {
            // A key for an algorithm that is not known here verifies nothing here.
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        Some(PublicKey {
            id: self.kid.as_deref().map(Into::into),
            algorithm,
            material: self.material()?,
        })
    }

    fn material(&self) -> Option<Material> {
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Some(Material::Rsa {
                n: number(&self.n)?,
                e: number(&self.e)?,
            }),
            ("EC", Some("P-256")) => self.point(32).map(Material::P256),
            ("EC", Some("P-384")) => self.point(48).map(Material::P384),
            ("OKP", Some("Ed25519")) => exactly(&self.x, 32).map(Material::Ed25519),
            _ => None,
        }
    }

    fn point(&self, size: usize) -> Option<Vec<u8>> {
        let mut point = vec![4];
        point.extend(exactly(&self.x, size)?);
        point.extend(exactly(&self.y, size)?);
        Some(point)
    }

    /// Returns the thumbprint (RFC 7638, SHA-256), or `None` for an invalid key.
    pub(crate) fn thumbprint(&self) -> Option<String> {
        self.material()?;
        let text = |member: &Option<String>| member.clone().unwrap_or_default();
        // Base64url needs no escapes, and the members stand in the order of their names.
        let members = match self.kty.as_str() {
            "RSA" => format!(
                r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#,
                text(&self.e),
                text(&self.n)
            ),
            "EC" => format!(
                r#"{{"crv":"{}","kty":"EC","x":"{}","y":"{}"}}"#,
                text(&self.crv),
                text(&self.x),
                text(&self.y)
            ),
            _ => format!(
                r#"{{"crv":"{}","kty":"OKP","x":"{}"}}"#,
                text(&self.crv),
                text(&self.x)
            ),
        };
        Some(URL_SAFE_NO_PAD.encode(digest(&SHA256, members.as_bytes())))
    }
}

fn bytes(member: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(member.as_deref()?).ok()
}

/// A whole number, without the zeros that some write in front of it.
fn number(member: &Option<String>) -> Option<Vec<u8>> {
    let bytes = bytes(member)?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    Some(bytes[start..].to_vec())
}

fn exactly(member: &Option<String>, size: usize) -> Option<Vec<u8>> {
    bytes(member).filter(|bytes| bytes.len() == size)
}

/// The keys of an issuer.
#[derive(Debug, Default)]
pub(crate) struct KeySet(Vec<PublicKey>);

#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeySet {
    /// Reads a set. Keys that cannot be used are left out, and so are those beyond `most`.
    pub(crate) fn read(text: &[u8], most: usize) -> Option<Self> {
        if is_too_deep(text) {
            return None;
        }
        let written: Written<'_> = serde_json::from_slice(text).ok()?;
        let usable = |raw: &&RawValue| serde_json::from_str::<Jwk>(raw.get()).ok()?.to_key();
        let keys = written.keys.iter().take(most).filter_map(usable).collect();
        Some(Self(keys))
    }

    /// Returns true if no key of the set can be used.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key that a header names; without a name, the only one that fits.
    pub(crate) fn pick(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&PublicKey> {
        let mut fitting = self.0.iter().filter(|key| key.fits(algorithm));
        match id {
            Some(id) => fitting.find(|key| key.id.as_deref() == Some(id)),
            None => {
                let only = fitting.next()?;
                fitting.next().is_none().then_some(only)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jwk(text: &str) -> Jwk {
        serde_json::from_str(text).expect("a key")
    }

    const POINT: &str = r#""crv":"P-256","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA""#;

    #[test]
    fn a_thumbprint_is_that_of_the_standards_examples() {
        let rsa = jwk(
            r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#,
        );
        assert_eq!(
            rsa.thumbprint().as_deref(),
            Some("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        );
        let ec = jwk(&format!(r#"{{"kty":"EC",{POINT}}}"#));
        assert_eq!(
            ec.thumbprint().as_deref(),
            Some("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        );
    }

    #[test]
    fn only_public_keys_for_signatures_are_taken() {
        let taken = |members: &str| jwk(&format!("{{{members}}}")).to_key().is_some();
        let ec = format!(r#""kty":"EC",{POINT}"#);
        assert!(taken(&ec));
        assert!(taken(&format!(
            r#"{ec},"use":"sig","key_ops":["verify"],"alg":"ES256""#
        )));
        assert!(!taken(&format!(r#"{ec},"use":"enc""#)));
        assert!(!taken(&format!(r#"{ec},"key_ops":["sign"]"#)));
        assert!(!taken(&format!(r#"{ec},"alg":"HS256""#)));
        assert!(!taken(r#""kty":"oct","k":"AAAA""#));
        assert!(!taken(r#""kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA""#));
        assert!(!taken(r#""kty":"RSA","n":"AAAA""#));
        assert!(jwk(&format!(r#"{{{ec},"d":"AAAA"}}"#)).is_private());
    }

    #[test]
    fn a_key_is_found_by_its_name_or_because_it_is_the_only_one() {
        let one = |kid: &str| format!(r#"{{"kty":"EC","kid":"{kid}",{POINT}}}"#);
        let set = |keys: &[String], most| {
            let text = format!(r#"{{"keys":[{}]}}"#, keys.join(","));
            KeySet::read(text.as_bytes(), most).expect("a set")
        };
        let two = set(&[one("a"), one("b")], 100);
        assert!(two.pick(Some("b"), Algorithm::Es256).is_some());
        assert!(two.pick(Some("c"), Algorithm::Es256).is_none());
        assert!(two.pick(Some("b"), Algorithm::Rs256).is_none());
        assert!(two.pick(None, Algorithm::Es256).is_none());
        let odd = set(&["7".into(), "{}".into(), one("a")], 100);
        assert!(odd.pick(None, Algorithm::Es256).is_some());
        assert!(KeySet::read(br#"{"keys":{}}"#, 100).is_none());
    }

    #[test]
    fn keys_beyond_the_limit_are_not_looked_at() {
        let keys: Vec<String> = (0..4)
            .map(|kid| format!(r#"{{"kty":"EC","kid":"{kid}",{POINT}}}"#))
            .collect();
        let text = format!(r#"{{"keys":[{}]}}"#, keys.join(","));
        let set = KeySet::read(text.as_bytes(), 3).expect("a set");
        assert!(set.pick(Some("2"), Algorithm::Es256).is_some());
        assert!(set.pick(Some("3"), Algorithm::Es256).is_none());
    }
}
