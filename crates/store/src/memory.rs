//! The default store: in memory, bounded, gone with the process.

use crate::engine::{Engine, Journal, Uncommitted, store_by_engine};
use crate::limits::StoreLimits;
use crate::table::{Change, Table};

/// Keeps records and logs in memory.
///
/// An operation never waits: its future is ready at the first poll.
#[derive(Debug)]
pub struct MemoryStore {
    engine: Engine<Nothing>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(limits: StoreLimits) -> Self {
        let engine = Engine::new(Table::new(limits.clone()), Nothing, &limits);
        Self { engine }
    }
}

impl Default for MemoryStore {
    /// An empty store with the default limits.
    fn default() -> Self {
        Self::new(StoreLimits::default())
    }
}

store_by_engine!(MemoryStore);

/// Writes nothing down.
#[derive(Debug)]
struct Nothing;

impl Journal for Nothing {
    fn commit(&mut self, _: &Table, _: &Change) -> Result<(), Uncommitted> {
        Ok(())
    }
}
