//! States that stay here; the client carries a name that nobody guesses.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_runtime::random_bytes;

use super::seal::{LIFE, SealError, StateSeal, UnsealError};

/// Maximum number of states; the oldest is dropped.
const MOST_STATES: usize = 4_096;
/// Bytes that a vault holds.
const MOST_BYTES: usize = 16 << 20;

/// Request states in the memory of one process, bounded and short-lived.
#[derive(Default)]
pub struct MemoryStateStore(Mutex<Held>);

#[derive(Default)]
struct Held {
    state_by_name: HashMap<String, State>,
    /// The names by age.
    names: VecDeque<String>,
    bytes: usize,
}

struct State {
    expires: SystemTime,
    binding: Vec<u8>,
    content: Vec<u8>,
}

impl State {
    fn len(&self) -> usize {
        self.binding.len() + self.content.len()
    }
}

impl StateSeal for MemoryStateStore {
    fn seal(&self, now: SystemTime, binding: &[u8], content: &[u8]) -> Result<String, SealError> {
        let state = State {
            expires: now.checked_add(LIFE).ok_or(SealError)?,
            binding: binding.to_vec(),
            content: content.to_vec(),
        };
        if state.len() > MOST_BYTES {
            return Err(SealError);
        }
        let name = URL_SAFE_NO_PAD.encode(random_bytes::<16>()?);
        let mut held = self.lock();
        held.make_room(now, state.len());
        held.put(name.clone(), state);
        Ok(name)
    }

    fn open(&self, now: SystemTime, binding: &[u8], state: &str) -> Result<Vec<u8>, UnsealError> {
        let held = self.lock();
        let state = held.state_by_name.get(state).ok_or(UnsealError)?;
        if state.expires <= now || state.binding != binding {
            return Err(UnsealError);
        }
        Ok(state.content.clone())
    }
}

impl Held {
    fn put(&mut self, name: String, state: State) {
        self.bytes += state.len();
        self.names.push_back(name.clone());
        self.state_by_name.insert(name, state);
    }

    /// Drops what has expired, and the oldest for as long as there is no room.
    fn make_room(&mut self, now: SystemTime, bytes: usize) {
        while let Some(oldest) = self.names.front() {
            let expires = self.state_by_name.get(oldest).map(|state| state.expires);
            let is_full = self.names.len() >= MOST_STATES || self.bytes + bytes > MOST_BYTES;
            if !is_full && expires.is_some_and(|expires| expires > now) {
                return;
            }
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let name = self.names.pop_front();
        if let Some(state) = name.and_then(|name| self.state_by_name.remove(&name)) {
            self.bytes -= state.len();
        }
    }
}

impl MemoryStateStore {
    // Nothing here panics halfway, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock()
    }
}

impl fmt::Debug for MemoryStateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStateStore").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-MRTR-09, N-MRTR-11
    // hardening: H-23
    #[test]
    fn a_sealed_state_opens_for_the_same_request_until_it_expires() {
        let (store, now) = (MemoryStateStore::default(), SystemTime::now());
        let state = store.seal(now, b"binding", b"content").expect("room");
        assert_eq!(store.open(now, b"binding", &state), Ok(b"content".to_vec()));
        assert_eq!(store.open(now, b"other", &state), Err(UnsealError));
        assert_eq!(store.open(now + LIFE, b"binding", &state), Err(UnsealError));
        assert_eq!(
            store.open(now, b"binding", &format!("{state}x")),
            Err(UnsealError)
        );
    }

    // spec: 2026-07-28 N-MRTR-13
    #[test]
    fn a_full_vault_forgets_the_oldest() {
        let (store, now) = (MemoryStateStore::default(), SystemTime::now());
        let first = store.seal(now, b"", &[1; 1 << 20]).expect("room");
        for _ in 0..20 {
            store.seal(now, b"", &[0; 1 << 20]).expect("room");
        }
        assert_eq!(store.open(now, b"", &first), Err(UnsealError));
        assert!(store.lock().bytes <= MOST_BYTES);
        store.seal(now + LIFE, b"", b"later").expect("room");
        assert_eq!(store.lock().names.len(), 1);
    }

    // spec: 2026-07-28 N-MRTR-13
    #[test]
    fn a_store_with_the_most_states_forgets_the_oldest() {
        let (store, now) = (MemoryStateStore::default(), SystemTime::now());
        let first = store.seal(now, b"", b"first").expect("room");
        let second = store.seal(now, b"", b"second").expect("room");
        for _ in 2..MOST_STATES {
            store.seal(now, b"", b"").expect("room");
        }
        assert_eq!(store.open(now, b"", &first), Ok(b"first".to_vec()));
        store.seal(now, b"", b"one more").expect("room");
        assert_eq!(store.open(now, b"", &first), Err(UnsealError));
        assert_eq!(store.open(now, b"", &second), Ok(b"second".to_vec()));
        assert_eq!(store.lock().names.len(), MOST_STATES);
    }

    // spec: 2026-07-28 N-MRTR-13
    #[test]
    fn a_state_larger_than_the_store_is_refused_and_removes_no_other() {
        let (store, now) = (MemoryStateStore::default(), SystemTime::now());
        let kept = store.seal(now, b"", b"kept").expect("room");
        let too_large = vec![0; MOST_BYTES];
        assert!(store.seal(now, b"b", &too_large).is_err());
        assert_eq!(store.open(now, b"", &kept), Ok(b"kept".to_vec()));
        assert!(store.seal(now, b"", &too_large).is_ok());
    }
}
