//! What a client brings back as the state of a request.

use std::time::{Duration, SystemTime};

use pintle::keys::{Keys, RootKey};
use pintle::server::{MemoryStateStore, StateSeal};

/// A state that we sealed is opened; a changed state is rejected.
///
/// # Panics
///
/// If not.
pub fn state(data: &[u8]) {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let keys = Keys::new(RootKey::new([7; 32]));
    let text = String::from_utf8_lossy(data);
    let (binding, state) = text.split_once('\n').unwrap_or(("", &text));
    assert!(
        keys.open(now, binding.as_bytes(), state).is_err(),
        "it was forged"
    );
    assert!(
        MemoryStateStore::default()
            .open(now, binding.as_bytes(), state)
            .is_err(),
        "it was forged"
    );
    sealed_is_opened(&keys, now, binding.as_bytes(), state.as_bytes());
}

fn sealed_is_opened(keys: &Keys, now: SystemTime, binding: &[u8], content: &[u8]) {
    let sealed = keys
        .seal(now, binding, content)
        .expect("there is randomness");
    let opened = keys.open(now, binding, &sealed);
    assert_eq!(opened.as_deref(), Ok(content));
    // Any single change, at a place that the content selects.
    let at = content.first().map_or(0, |byte| usize::from(*byte)) % sealed.len();
    let (before, rest) = sealed.split_at(at);
    let other = if rest.starts_with('A') { 'B' } else { 'A' };
    let changed = format!("{before}{other}{}", &rest[1..]);
    assert!(
        keys.open(now, binding, &changed).is_err(),
        "a changed state was opened"
    );
    let other = [binding, b"!"].concat();
    assert!(
        keys.open(now, &other, &sealed).is_err(),
        "a state of another request was opened"
    );
}
