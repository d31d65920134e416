//! The keys that the next notification reports.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pintle_store::Key;
use tokio::sync::Notify;

/// Maximum number of keys between two notifications. More become one that reports every key.
pub(crate) const MAX_KEYS: usize = 1_024;

/// Gathers changed keys, each once.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    content: Mutex<Content>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Content {
    changes: Batch,
    is_closed: bool,
}

/// The changes of one notification.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) keys: HashSet<Key>,
    /// Whether any key may have changed.
    pub(crate) is_all: bool,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && !self.is_all
    }

    fn push(&mut self, key: Key) {
        if !self.is_all {
            self.keys.insert(key);
        }
        if self.keys.len() > MAX_KEYS {
            self.push_all();
        }
    }

    fn push_all(&mut self) {
        self.keys = HashSet::new();
        self.is_all = true;
    }
}

impl Outbox {
    /// Adds a key.
    pub(crate) fn push(&self, key: &Key) {
        self.lock().changes.push(key.clone());
        self.changed.notify_one();
    }

    /// Reports every key, because a notification failed.
    pub(crate) fn push_all(&self) {
        self.lock().changes.push_all();
        self.changed.notify_one();
    }

    /// Lets [`Outbox::next`] return `None` after the last batch.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for changes.
    pub(crate) async fn next(&self) -> Option<Batch> {
        loop {
            {
                let mut content = self.lock();
                if !content.changes.is_empty() {
                    return Some(std::mem::take(&mut content.changes));
                }
                if content.is_closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use pintle_store::Namespace;

    use super::*;

    fn key(number: usize) -> Key {
        Key::new(&Namespace::fixed("tests"), &number.to_string()).expect("a key")
    }

    // hardening: H-194
    #[tokio::test]
    async fn too_many_keys_become_one_report_of_all() {
        let outbox = Outbox::default();
        for number in 0..MAX_KEYS {
            outbox.push(&key(number));
            outbox.push(&key(number));
        }
        let batch = outbox.next().await.expect("a batch");
        assert_eq!((batch.keys.len(), batch.is_all), (MAX_KEYS, false));

        for number in 0..=MAX_KEYS + 1 {
            outbox.push(&key(number));
        }
        let batch = outbox.next().await.expect("a batch");
        assert_eq!((batch.keys.len(), batch.is_all), (0, true));
    }

    #[tokio::test]
    async fn a_closed_outbox_ends_after_its_last_batch() {
        let outbox = Outbox::default();
        outbox.push(&key(1));
        outbox.close();
        assert!(outbox.next().await.is_some());
        assert!(outbox.next().await.is_none());
    }
}
