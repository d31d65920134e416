//! Root keys: 32 bytes from which all other keys are derived.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ring::rand::{SecureRandom, SystemRandom};

use crate::error::SealError;

/// Bytes of a root key.
pub(crate) const KEY_BYTES: usize = 32;

/// Base64 with or without padding, because tools differ.
const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// A root key: 32 random bytes. Its `Debug` shows nothing of them.
#[derive(Clone)]
pub struct RootKey([u8; KEY_BYTES]);

impl RootKey {
    /// Creates a key from random bytes, the same in all replicas of a server.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Draws a key from the randomness of the system.
    ///
    /// # Errors
    ///
    /// [`SealError`] if the system has no randomness.
    pub fn random() -> Result<Self, SealError> {
        random_bytes().map(Self)
    }

    /// Reads 32 bytes in base64, in either alphabet. Padding is optional.
    pub(crate) fn from_base64(text: &str) -> Option<Self> {
        let decoded = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
        decoded.ok()?.try_into().ok().map(Self)
    }

    pub(crate) const fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl fmt::Debug for RootKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RootKey")
    }
}

/// Draws random bytes from the system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    let drawn = SystemRandom::new().fill(&mut bytes);
    drawn.map(|()| bytes).map_err(|_| SealError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes_in_either_alphabet() {
        let key = [0xfb; 32];
        for engine in [&STANDARD, &URL_SAFE] {
            let text = engine.encode(key);
            for text in [&text, text.trim_end_matches('=')] {
                let read = RootKey::from_base64(text).expect("a key");
                assert_eq!(read.bytes(), &key);
            }
        }
    }

    #[test]
    fn a_text_of_another_length_is_not_a_key() {
        for bytes in [0, 16, 31, 33] {
            let text = STANDARD.encode(vec![1; bytes]);
            assert!(RootKey::from_base64(&text).is_none(), "{bytes} bytes");
        }
        assert!(RootKey::from_base64("not base64!").is_none());
    }
}
