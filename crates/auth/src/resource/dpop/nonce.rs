//! Nonces that need no memory: a sealed time.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_keys::{Keys, Purpose, Sealer};

/// Binds the text to its use.
const DPOP: &[u8] = b"dpop";

/// Issues nonces, and recognizes those of all servers with the same keys.
pub(super) struct Nonces {
    keys: Keys,
    sealer: Sealer,
    life: Duration,
}

impl Nonces {
    pub(super) fn new(keys: Keys, life: Duration) -> Self {
        let sealer = keys.sealer(Purpose::Nonce);
        Self { keys, sealer, life }
    }

    /// Rotates keys that replicas share, if that is due.
    pub(super) async fn refresh(&self) {
        if let Err(error) = self.keys.refresh().await {
            // The known keys still seal, so the request goes on.
            tracing::warn!(%error, source = ?std::error::Error::source(&error), "the keys are not rotated");
        }
    }

    /// Issues a nonce; `None` if the system has no randomness.
    pub(super) fn make(&self, now: SystemTime) -> Option<String> {
        let time = seconds(now).to_be_bytes();
        let sealed = self.sealer.seal(DPOP, &time).ok()?;
        Some(URL_SAFE_NO_PAD.encode(sealed))
    }

    pub(super) fn is_good(&self, nonce: Option<&str>, now: SystemTime) -> bool {
        let issued = nonce.and_then(|nonce| self.issued(nonce));
        let age = issued.map(|issued| seconds(now).saturating_sub(issued));
        age.is_some_and(|age| age <= self.life.as_secs())
    }

    /// The time of a nonce, in seconds.
    fn issued(&self, nonce: &str) -> Option<u64> {
        let sealed = URL_SAFE_NO_PAD.decode(nonce).ok()?;
        let time = self.sealer.open(DPOP, &sealed).ok()?;
        time.try_into().ok().map(u64::from_be_bytes)
    }
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use pintle_keys::RootKey;

    use super::*;

    fn nonces(byte: u8) -> Nonces {
        let keys = Keys::new(RootKey::new([byte; 32]));
        Nonces::new(keys, Duration::from_secs(300))
    }

    #[test]
    fn a_nonce_is_ours_and_of_this_time() {
        let (nonces, life) = (nonces(1), Duration::from_secs(300));
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let nonce = nonces.make(now).expect("randomness");
        assert!(nonces.is_good(Some(&nonce), now + life));
        assert!(!nonces.is_good(Some(&nonce), now + life + Duration::from_secs(1)));
        for bad in [None, Some(""), Some("AAAA"), Some("%"), Some(&nonce[1..])] {
            assert!(!nonces.is_good(bad, now), "{bad:?}");
        }
    }

    #[test]
    fn a_nonce_is_good_at_every_server_with_the_keys() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let nonce = nonces(1).make(now).expect("randomness");
        assert!(nonces(1).is_good(Some(&nonce), now));
        assert!(!nonces(2).is_good(Some(&nonce), now));
    }
}
