//! States that travel encrypted: any process that has the keys goes on with them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_keys::{Keys, Purpose};

use super::seal::{LIFE, SealError, SealFuture, StateSeal, UnsealError};

/// The expiry in front of the content, in seconds since 1970.
const EXPIRY: usize = 8;

/// Seals request states with the keys of [`Purpose::State`]. A state is valid for ten minutes.
impl StateSeal for Keys {
    fn seal(&self, now: SystemTime, binding: &[u8], content: &[u8]) -> Result<String, SealError> {
        let content = [seconds(now + LIFE).to_be_bytes().as_slice(), content].concat();
        let sealed = self.sealer(Purpose::State).seal(binding, &content);
        sealed
            .map(|sealed| URL_SAFE_NO_PAD.encode(sealed))
            .map_err(|_| SealError)
    }

    fn open(&self, now: SystemTime, binding: &[u8], state: &str) -> Result<Vec<u8>, UnsealError> {
        let opened = self.sealer(Purpose::State).open(binding, &decoded(state)?);
        unexpired(opened.map_err(|_| UnsealError)?, now)
    }

    fn refresh(&self) -> SealFuture<'_, ()> {
        Box::pin(async {
            if let Err(error) = Keys::refresh(self).await {
                // The known keys still seal, so the request goes on.
                tracing::warn!(%error, source = ?std::error::Error::source(&error), "the keys are not rotated");
            }
        })
    }

    fn open_or_refresh<'a>(
        &'a self,
        now: SystemTime,
        binding: &'a [u8],
        state: &'a str,
    ) -> SealFuture<'a, Result<Vec<u8>, UnsealError>> {
        Box::pin(async move {
            let (sealer, sealed) = (self.sealer(Purpose::State), decoded(state)?);
            let opened = sealer.open_or_refresh(binding, &sealed).await;
            unexpired(opened.map_err(|_| UnsealError)?, now)
        })
    }
}

fn decoded(state: &str) -> Result<Vec<u8>, UnsealError> {
    URL_SAFE_NO_PAD.decode(state).map_err(|_| UnsealError)
}

fn unexpired(mut opened: Vec<u8>, now: SystemTime) -> Result<Vec<u8>, UnsealError> {
    let (expires, _) = opened.split_first_chunk::<EXPIRY>().ok_or(UnsealError)?;
    if u64::from_be_bytes(*expires) <= seconds(now) {
        return Err(UnsealError);
    }
    opened.drain(..EXPIRY);
    Ok(opened)
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since: Duration| since.as_secs())
}

#[cfg(test)]
mod tests {
    use pintle_keys::RootKey;

    use super::*;

    fn keys(byte: u8) -> Keys {
        Keys::new(RootKey::new([byte; 32]))
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
        let rotated = keys(2).also_open(RootKey::new([1; 32]));
        assert_eq!(rotated.open(now, b"", &state), Ok(b"content".to_vec()));
        assert_eq!(keys(2).open(now, b"", &state), Err(UnsealError));
    }

    // spec: 2026-07-28 N-MRTR-15
    #[tokio::test]
    async fn a_state_of_a_ring_in_a_store_opens_at_every_replica() {
        let store = std::sync::Arc::new(pintle_store::MemoryStore::default());
        let day = Duration::from_secs(24 * 60 * 60);
        let join = || Keys::in_store(store.clone(), None, day);
        let (one, other) = (join().await.expect("joins"), join().await.expect("joins"));
        let now = SystemTime::now();
        StateSeal::refresh(&one).await;
        let state = one.seal(now, b"", b"content").expect("seals");
        let opened = StateSeal::open_or_refresh(&other, now, b"", &state).await;
        assert_eq!(opened, Ok(b"content".to_vec()));
        let late = other.open_or_refresh(now + LIFE, b"", &state).await;
        assert_eq!(late, Err(UnsealError));
        for bad in ["", "%", "AAAA"] {
            let opened = other.open_or_refresh(now, b"", bad).await;
            assert_eq!(opened, Err(UnsealError));
        }
    }
}
