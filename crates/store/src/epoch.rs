//! The identity of the content of a store.

use std::fmt;

/// 128 random bits that name the content of a store. A store that lost its content has another epoch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(u128);

impl Epoch {
    /// Creates an epoch from random bits.
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    pub const fn get(self) -> u128 {
        self.0
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epoch({:032x})", self.0)
    }
}

/// How a store bounds its content.
// Closed: an operator must know which of the two applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// The store enforces [`StoreLimits::max_entries`](crate::StoreLimits::max_entries) and
    /// [`StoreLimits::max_bytes`](crate::StoreLimits::max_bytes) exactly.
    Exact,
    /// The engine behind the store decides when it is full. An exact total would send every write
    /// through one counter.
    Engine,
}
