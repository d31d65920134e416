//! The counted side effects of a handler.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_runtime::sync::Mutex;

/// Counts of side effects by name. A clone shares the counts.
#[derive(Debug, Clone, Default)]
pub struct SideEffects(Arc<Mutex<BTreeMap<String, usize>>>);

impl SideEffects {
    /// Counts a side effect; returns the number of times it has happened, this one included.
    pub fn note(&self, effect: &str) -> usize {
        let mut counts = self.0.lock();
        let count = counts.entry(effect.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        self.0.lock().clone()
    }
}
