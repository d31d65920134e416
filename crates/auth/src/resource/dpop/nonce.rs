//! Nonces that need no memory: a time, and proof that it was we who wrote it.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;

use crate::resource::uri::RequireBearerError;

/// Bytes of a time.
const TIME: usize = 8;

/// Makes nonces, and knows its own.
pub(super) struct Nonces {
    key: hmac::Key,
    life: Duration,
}

impl Nonces {
    pub(super) fn new(life: Duration) -> Result<Self, RequireBearerError> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| RequireBearerError::NoRandomness)?;
        Ok(Self { key, life })
    }

    pub(super) fn make(&self, now: SystemTime) -> String {
        let time = seconds(now).to_be_bytes();
        let mut nonce = time.to_vec();
        nonce.extend_from_slice(hmac::sign(&self.key, &time).as_ref());
        URL_SAFE_NO_PAD.encode(nonce)
    }

    pub(super) fn is_good(&self, nonce: Option<&str>, now: SystemTime) -> bool {
        let Some(Ok(bytes)) = nonce.map(|nonce| URL_SAFE_NO_PAD.decode(nonce)) else {
            return false;
        };
        let Some((time, tag)) = bytes.split_first_chunk::<TIME>() else {
            return false;
        };
        let age = seconds(now).saturating_sub(u64::from_be_bytes(*time));
        hmac::verify(&self.key, time, tag).is_ok() && age <= self.life.as_secs()
    }
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_ours_and_of_this_time() {
        let life = Duration::from_secs(300);
        let nonces = Nonces::new(life).expect("randomness");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let nonce = nonces.make(now);
        assert!(nonces.is_good(Some(&nonce), now + life));
        assert!(!nonces.is_good(Some(&nonce), now + life + Duration::from_secs(1)));
        let others = Nonces::new(life).expect("randomness");
        assert!(!others.is_good(Some(&nonce), now));
        for bad in [None, Some(""), Some("AAAA"), Some("%"), Some(&nonce[1..])] {
            assert!(!nonces.is_good(bad, now), "{bad:?}");
        }
    }
}
