//! The derivation of keys, and the cipher.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

use crate::error::OpenError;
use crate::purpose::Purpose;
use crate::root_key::RootKey;

/// Separates these keys from keys that another program derives of the same bytes.
const SALT: &[u8] = b"pintle-keys/1";
/// Label of the key that wraps a ring in a store.
const RING: &str = "ring";
/// Label of the key of digests.
const DIGEST: &str = "digest";

/// Random bytes of a text.
pub(crate) const RANDOM_BYTES: usize = 24;
/// Random bytes from which the key of a text is derived.
const SALT_BYTES: usize = 16;
/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 16;
/// Bytes of the tag behind the content.
pub(crate) const TAG_BYTES: usize = 16;

/// All keys that are derived from one root key.
pub(crate) struct Secret {
    /// A fingerprint of the root key.
    pub(crate) number: [u8; 4],
    by_purpose: [Prk; Purpose::ALL.len()],
    ring: Prk,
    digest: Prk,
}

/// The use of a derived key: a purpose, or the ring in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    Purpose(Purpose),
    Ring,
}

impl Secret {
    pub(crate) fn derive(root: &RootKey) -> Self {
        let root = Salt::new(HKDF_SHA256, SALT).extract(root.bytes());
        let mut number = [0; 4];
        let okm = root.expand(&[b"number"], Bytes(number.len()));
        okm.and_then(|okm| okm.fill(&mut number)).expect(FITS);
        Self {
            number,
            by_purpose: Purpose::ALL.map(|purpose| labelled(&root, purpose.label())),
            ring: labelled(&root, RING),
            digest: labelled(&root, DIGEST),
        }
    }

    /// Returns the keyed digest of a text.
    pub(crate) fn digest(&self, text: &[u8]) -> [u8; DIGEST_BYTES] {
        let mut digest = [0; DIGEST_BYTES];
        let info = [text];
        let okm = self.digest.expand(&info, Bytes(DIGEST_BYTES));
        okm.and_then(|okm| okm.fill(&mut digest)).expect(FITS);
        digest
    }

    /// Encrypts `content`, and appends the tag.
    pub(crate) fn seal(
        &self,
        usage: Usage,
        random: &[u8; RANDOM_BYTES],
        covered: &[u8],
        content: &mut Vec<u8>,
    ) {
        let (key, nonce) = self.cipher(usage, random);
        key.seal_in_place_append_tag(nonce, Aad::from(covered), content)
            .expect("a text of this size fits into memory, and into the cipher");
    }

    /// Decrypts a content with its tag.
    pub(crate) fn open(
        &self,
        usage: Usage,
        random: &[u8; RANDOM_BYTES],
        covered: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        let (key, nonce) = self.cipher(usage, random);
        let mut content = sealed.to_vec();
        let opened = key.open_in_place(nonce, Aad::from(covered), &mut content);
        let length = opened.map_err(|_| OpenError::Changed)?.len();
        content.truncate(length);
        Ok(content)
    }

    /// The key and the nonce of one text.
    fn cipher(&self, usage: Usage, random: &[u8; RANDOM_BYTES]) -> (LessSafeKey, Nonce) {
        let prk = match usage {
            Usage::Purpose(purpose) => &self.by_purpose[purpose as usize],
            Usage::Ring => &self.ring,
        };
        let (salt, rest) = random.split_at(SALT_BYTES);
        let info = [salt];
        let okm = prk.expand(&info, &CHACHA20_POLY1305).expect(FITS);
        let mut nonce = [0; NONCE_LEN];
        nonce[NONCE_LEN - rest.len()..].copy_from_slice(rest);
        let key = LessSafeKey::new(UnboundKey::from(okm));
        (key, Nonce::assume_unique_for_key(nonce))
    }
}

const FITS: &str = "HKDF derives up to 8,160 bytes";

fn labelled(root: &Prk, label: &str) -> Prk {
    let info = [b"purpose/".as_slice(), label.as_bytes()];
    root.expand(&info, HKDF_SHA256).expect(FITS).into()
}

/// A number of bytes to derive.
struct Bytes(usize);

impl KeyType for Bytes {
    fn len(&self) -> usize {
        self.0
    }
}
