//! Sealed texts of one purpose.

use std::fmt;

use super::Keys;
use crate::error::{OpenError, SealError};
use crate::purpose::Purpose;
use crate::secret::Usage;
use crate::text::{self, open, seal};

/// Seals and opens texts of one purpose. The form of a text is in the documentation of the crate.
#[derive(Clone)]
pub struct Sealer {
    keys: Keys,
    purpose: Purpose,
}

impl Sealer {
    /// Bytes that a sealed text has more than its content.
    pub const OVERHEAD_BYTES: usize = text::OVERHEAD_BYTES;

    pub(crate) fn new(keys: Keys, purpose: Purpose) -> Self {
        Self { keys, purpose }
    }

    /// Seals `content`. Only the same `associated` data opens it.
    ///
    /// # Errors
    ///
    /// [`SealError`] if the system has no randomness.
    pub fn seal(&self, associated: &[u8], content: &[u8]) -> Result<Vec<u8>, SealError> {
        let secret = self.keys.sealing(self.purpose);
        seal(&secret, Usage::Purpose(self.purpose), associated, content)
    }

    /// Opens a text with the keys that this process knows.
    ///
    /// # Errors
    ///
    /// - [`OpenError::UnknownKey`] if its key is not one of them; [`Self::open_or_refresh`] may open it.
    /// - [`OpenError::NotSealed`], [`OpenError::Changed`] otherwise.
    pub fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        let secrets = self.keys.opening(self.purpose);
        open(&secrets, Usage::Purpose(self.purpose), associated, sealed)
    }

    /// Opens a text. Reads a ring in a store again if the key of the text is unknown.
    ///
    /// # Errors
    ///
    /// [`OpenError`], and [`OpenError::UnknownKey`] also if the ring cannot be read.
    pub async fn open_or_refresh(
        &self,
        associated: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        match self.open(associated, sealed) {
            Err(OpenError::UnknownKey) if self.keys.learn(sealed).await => {
                self.open(associated, sealed)
            }
            opened => opened,
        }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root_key::RootKey;

    const DATA: &[u8] = b"tools/call add";
    const CONTENT: &[u8] = b"the first answer";

    #[test]
    fn a_text_with_one_bit_changed_does_not_open() {
        let sealer = Keys::new(RootKey::new([1; 32])).sealer(Purpose::State);
        let text = sealer.seal(DATA, CONTENT).expect("seals");
        assert_eq!(sealer.open(DATA, &text).as_deref(), Ok(CONTENT));
        for bit in 0..text.len() * 8 {
            let mut changed = text.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let expected = match bit / 8 {
                0 => OpenError::NotSealed,
                1..=4 => OpenError::UnknownKey,
                _ => OpenError::Changed,
            };
            assert_eq!(sealer.open(DATA, &changed), Err(expected), "bit {bit}");
        }
    }

    #[test]
    fn a_text_that_was_cut_does_not_open() {
        let sealer = Keys::new(RootKey::new([1; 32])).sealer(Purpose::State);
        let text = sealer.seal(DATA, b"").expect("seals");
        for length in 0..text.len() {
            assert!(
                sealer.open(DATA, &text[..length]).is_err(),
                "{length} bytes"
            );
        }
        assert_eq!(sealer.open(DATA, &text).as_deref(), Ok(&b""[..]));
    }

    #[test]
    fn a_text_opens_for_its_own_purpose_and_data_only() {
        let keys = Keys::new(RootKey::new([1; 32]));
        for purpose in Purpose::ALL {
            let text = keys.sealer(purpose).seal(DATA, CONTENT).expect("seals");
            for other in Purpose::ALL {
                let opened = keys.sealer(other).open(DATA, &text);
                assert_eq!(opened.is_ok(), other == purpose, "{purpose:?}, {other:?}");
            }
            let elsewhere = keys.sealer(purpose).open(b"tools/call", &text);
            assert_eq!(elsewhere, Err(OpenError::Changed));
        }
    }

    #[test]
    fn two_texts_of_one_content_differ() {
        let sealer = Keys::new(RootKey::new([1; 32])).sealer(Purpose::Nonce);
        assert_ne!(sealer.seal(DATA, CONTENT), sealer.seal(DATA, CONTENT));
    }
}
