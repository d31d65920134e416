//! States that travel encrypted: any process that has the keys goes on with them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_runtime::random_bytes;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::seal::{LIFE, SealError, StateSeal, UnsealError};

/// The form of a state; another one is not opened.
const FORM: u8 = 1;
/// Form, nonce.
const HEAD: usize = 1 + NONCE_LEN;
/// The expiry in front of the content, in seconds since 1970.
const EXPIRY: usize = 8;

/// The key of a sealed state: 32 random bytes. Its `Debug` prints nothing.
#[derive(Clone)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// A key from random bytes, the same in all replicas of a server.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey")
    }
}

/// A ring of keys: the first seals, all open. To rotate, put a new key first, and drop the last
/// one ten minutes later.
pub struct StateKeys {
    seals: LessSafeKey,
    opens: Vec<LessSafeKey>,
}

impl StateKeys {
    /// A ring of one key.
    pub fn new(key: StateKey) -> Self {
        Self {
            seals: cipher(&key),
            opens: vec![cipher(&key)],
        }
    }

    /// Opens what was sealed with an older key, too.
    #[must_use]
    pub fn also_open(mut self, key: StateKey) -> Self {
        self.opens.push(cipher(&key));
        self
    }

    /// A key that only this process has.
    ///
    /// # Errors
    ///
    /// [`SealError`] if there is no randomness.
    pub fn random() -> Result<Self, SealError> {
        Ok(Self::new(StateKey(random_bytes()?)))
    }
}

impl StateSeal for StateKeys {
    fn seal(&self, now: SystemTime, binding: &[u8], content: &[u8]) -> Result<String, SealError> {
        let nonce: [u8; NONCE_LEN] = random_bytes()?;
        let mut sealed = [seconds(now + LIFE).to_be_bytes().as_slice(), content].concat();
        self.seals
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(bound(binding)),
                &mut sealed,
            )
            .map_err(|_| SealError)?;
        let whole = [&[FORM], nonce.as_slice(), &sealed].concat();
        Ok(URL_SAFE_NO_PAD.encode(whole))
    }

    fn open(&self, now: SystemTime, binding: &[u8], state: &str) -> Result<Vec<u8>, UnsealError> {
        let whole = URL_SAFE_NO_PAD.decode(state).map_err(|_| UnsealError)?;
        let (head, sealed) = whole.split_at_checked(HEAD).ok_or(UnsealError)?;
        let nonce = head.strip_prefix(&[FORM]).ok_or(UnsealError)?;
        let nonce: [u8; NONCE_LEN] = nonce.try_into().map_err(|_| UnsealError)?;
        let aad = bound(binding);
        let opened = self.opens.iter().find_map(|key| {
            let mut sealed = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(nonce);
            let content = key.open_in_place(nonce, Aad::from(&aad), &mut sealed);
            content.ok().map(|content| content.to_vec())
        });
        unexpired(opened.ok_or(UnsealError)?, now)
    }
}

fn unexpired(mut opened: Vec<u8>, now: SystemTime) -> Result<Vec<u8>, UnsealError> {
    let (expires, _) = opened.split_first_chunk::<EXPIRY>().ok_or(UnsealError)?;
    if u64::from_be_bytes(*expires) <= seconds(now) {
        return Err(UnsealError);
    }
    opened.drain(..EXPIRY);
    Ok(opened)
}

fn cipher(key: &StateKey) -> LessSafeKey {
    let key = UnboundKey::new(&CHACHA20_POLY1305, &key.0);
    LessSafeKey::new(key.expect("a key is 32 bytes long"))
}

/// Returns the bytes that are authenticated besides the content.
fn bound(binding: &[u8]) -> Vec<u8> {
    [b"pintle request state\0", [FORM].as_slice(), binding].concat()
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since: Duration| since.as_secs())
}

impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKeys").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(byte: u8) -> StateKeys {
        StateKeys::new(StateKey::new([byte; 32]))
    }

    // spec: 2026-07-28 N-MRTR-08, N-MRTR-09, N-MRTR-11
    // hardening: H-23
    #[test]
    fn a_state_with_one_bit_changed_is_not_opened() {
        let (keys, now) = (keys(1), SystemTime::now());
        let state = keys.seal(now, b"binding", b"content").expect("seals");
        assert_eq!(keys.open(now, b"binding", &state), Ok(b"content".to_vec()));
        let bytes = URL_SAFE_NO_PAD.decode(&state).expect("our own form");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(keys.open(now, b"binding", &changed), Err(UnsealError));
        }
    }

    // spec: 2026-07-28 N-MRTR-11
    #[test]
    fn a_state_of_another_request_or_another_time_is_not_opened() {
        let (keys, now) = (keys(1), SystemTime::now());
        let state = keys.seal(now, b"binding", b"content").expect("seals");
        assert_eq!(keys.open(now, b"other", &state), Err(UnsealError));
        assert_eq!(keys.open(now + LIFE, b"binding", &state), Err(UnsealError));
    }

    // spec: 2026-07-28 N-MRTR-15
    #[test]
    fn any_process_with_the_key_opens_a_state_also_after_a_rotation() {
        let now = SystemTime::now();
        let state = keys(1).seal(now, b"", b"content").expect("seals");
        let rotated = keys(2).also_open(StateKey::new([1; 32]));
        assert_eq!(rotated.open(now, b"", &state), Ok(b"content".to_vec()));
        assert_eq!(keys(2).open(now, b"", &state), Err(UnsealError));
    }
}
