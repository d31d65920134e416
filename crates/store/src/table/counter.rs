//! Counters in memory.

use super::{Change, Slot, Table, entry_cost};
use crate::error::{LimitError, LimitKind, StoreError};
use crate::key::Key;
use crate::record::Expiry;

/// A sum, and when it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counter {
    /// Names this life of the counter.
    pub(crate) birth: u64,
    pub(crate) sum: i64,
    pub(crate) expiry: Expiry,
}

impl Table {
    pub(crate) fn plan_add(
        &mut self,
        key: &Key,
        amount: i64,
        expiry: Expiry,
    ) -> Result<(i64, Change), StoreError> {
        let mut counter = match self.counters.get(key) {
            Some(counter) => *counter,
            None => self.new_counter(key, expiry)?,
        };
        let sum = counter.sum.checked_add(amount);
        counter.sum = sum.ok_or_else(|| LimitError::new(LimitKind::Counter, 64))?;
        let key = key.clone();
        Ok((counter.sum, Change::Count { key, counter }))
    }

    fn new_counter(&mut self, key: &Key, expiry: Expiry) -> Result<Counter, LimitError> {
        self.check_room(1, entry_cost(key), 0)?;
        Ok(Counter {
            birth: self.next(),
            sum: 0,
            expiry,
        })
    }

    pub(super) fn count(&mut self, key: Key, counter: Counter) {
        self.remove_counter(&key);
        self.bytes += entry_cost(&key);
        self.remember(Slot::Counter(key.clone()), counter.expiry);
        self.counters.insert(key, counter);
    }

    pub(super) fn remove_counter(&mut self, key: &Key) {
        if let Some(counter) = self.counters.remove(key) {
            self.bytes -= entry_cost(key);
            self.unremember(Slot::Counter(key.clone()), counter.expiry);
        }
    }

    /// Returns the counter of a key, expired or not.
    #[cfg(feature = "file")]
    pub(crate) fn counter(&self, key: &Key) -> Option<Counter> {
        self.counters.get(key).copied()
    }
}
