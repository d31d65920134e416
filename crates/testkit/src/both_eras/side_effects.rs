//! The counted side effects of a handler.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts of side effects by name. A clone shares the counts.
#[derive(Debug, Clone, Default)]
pub struct SideEffects(Arc<Mutex<BTreeMap<String, usize>>>);

impl SideEffects {
    /// Counts a side effect; returns the number of times it has happened, this one included.
    pub fn note(&self, effect: &str) -> usize {
        let mut counts = self.lock();
        let count = counts.entry(effect.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        self.lock().clone()
    }

    // A poisoned lock is safe to use, because every change is one statement.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
