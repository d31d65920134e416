//! Credentials in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use pintle_runtime::sync::Mutex;

use crate::credentials::{CredentialStore, KeyGuard};
use crate::secret::Secret;

/// Stores credentials in memory until the process ends. Clones share one store.
///
/// Several authorizers of one server must share a store, because a refresh token may be valid once:
/// the store lets one of them renew it at a time.
#[derive(Debug, Clone, Default)]
pub struct MemoryCredentialStore {
    texts: Arc<Mutex<BTreeMap<Box<str>, Secret>>>,
    locked: Arc<Mutex<BTreeSet<Box<str>>>>,
}

impl CredentialStore for MemoryCredentialStore {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        let texts = self.texts.lock();
        Ok(texts.get(key).cloned())
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        let mut texts = self.texts.lock();
        match text {
            Some(text) => texts.insert(key.into(), text.clone()),
            None => texts.remove(key),
        };
        Ok(())
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        let is_free = self.locked.lock().insert(key.into());
        Ok(is_free.then(|| Box::new(KeyLock::of(self, key)) as KeyGuard))
    }
}

/// The lock of one key. A drop releases it.
struct KeyLock {
    key: Box<str>,
    locked: Arc<Mutex<BTreeSet<Box<str>>>>,
}

impl KeyLock {
    fn of(store: &MemoryCredentialStore, key: &str) -> Self {
        Self {
            key: key.into(),
            locked: Arc::clone(&store.locked),
        }
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        self.locked.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-45
    #[test]
    fn a_key_has_one_guard_at_a_time() {
        let one = MemoryCredentialStore::default();
        let two: Arc<dyn CredentialStore> = Arc::new(one.clone());
        let guard = one.try_lock("k").expect("a lock").expect("free");
        assert!(two.try_lock("k").expect("a lock").is_none());
        assert!(two.try_lock("other").expect("a lock").is_some());
        drop(guard);
        assert!(two.try_lock("k").expect("a lock").is_some());
    }

    #[test]
    fn clones_of_a_store_share_its_texts() {
        let one = MemoryCredentialStore::default();
        let two = one.clone();
        one.save("k", Some(&"v".into())).expect("saved");
        assert!(
            two.load("k")
                .expect("read")
                .is_some_and(|text| text.is("v"))
        );
        two.save("k", None).expect("removed");
        assert!(one.load("k").expect("read").is_none());
    }
}
