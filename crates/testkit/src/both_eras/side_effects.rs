//! What a handler does to the world, counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was done, and how often. Cloning gives another handle to the same counts.
#[derive(Debug, Clone, Default)]
pub struct SideEffects(Arc<Mutex<BTreeMap<String, usize>>>);

impl SideEffects {
    /// Counts a deed; gives back how often it was done by now.
    pub fn note(&self, deed: &str) -> usize {
        let mut counts = self.lock();
        let count = counts.entry(deed.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        self.lock().clone()
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
