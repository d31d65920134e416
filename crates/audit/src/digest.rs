//! Digests of values that a log must not contain.

use std::fmt;

use pintle_runtime::{RandomnessError, random_bytes};
use ring::digest::{SHA256, digest};
use ring::hmac;

/// Length of a digest with a key, in bytes.
const KEYED_BYTES: usize = 16;
/// Length of the digest of a session id, in bytes. Spans have the same digest.
const SESSION_BYTES: usize = 8;

/// The key of the digests of a log: HMAC-SHA-256, of which a line has the first 16 bytes.
///
/// Digests without a key would show short arguments to a reader who tries all of them. Give all
/// replicas the same key if their digests are compared.
#[derive(Clone)]
pub struct AuditKey(hmac::Key);

impl AuditKey {
    /// Uses 32 bytes, which must be secret and random.
    pub fn new(bytes: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// # Errors
    ///
    /// The system has no randomness.
    pub(crate) fn random() -> Result<Self, RandomnessError> {
        Ok(Self::new(&random_bytes()?))
    }

    pub(crate) fn digest(&self, bytes: &[u8]) -> String {
        hex(&hmac::sign(&self.0, bytes).as_ref()[..KEYED_BYTES])
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey")
    }
}

/// The digest of a session id. It needs no key, because a session id cannot be guessed.
pub(crate) fn of_session(id: &[u8]) -> String {
    hex(&digest(&SHA256, id).as_ref()[..SESSION_BYTES])
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.map(|digit| char::from(DIGITS[usize::from(digit)]));
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyed_digest_is_that_of_hmac_sha_256() {
        // RFC 4231, test case 1, with its key padded by zeros, as HMAC pads it.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let digest = AuditKey::new(&key).digest(b"Hi There");
        assert_eq!(digest, "b0344c61d8db38535ca8afceaf0bf12b");
    }

    #[test]
    fn a_session_digest_is_that_of_spans() {
        // The first 8 bytes of SHA-256 of "abc" (FIPS 180-2).
        assert_eq!(of_session(b"abc"), "ba7816bf8f01cfea");
    }
}
