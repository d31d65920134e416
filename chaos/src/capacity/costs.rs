//! CPU of a store for one operation, and bytes of its records, as `chaos measure` found them.

use super::fleet::Rates;
use crate::counted::{OPERATIONS, Operation};

/// Costs of one engine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    /// Microseconds of one operation, in the order of [`OPERATIONS`]. A list has its first three records.
    micros: [f64; OPERATIONS.len()],
    /// Microseconds of each record in a list.
    listed_micros: f64,
}

pub(super) const REDIS: Costs = Costs {
    micros: [2.5, 25.9, 16.2, 16.2, 29.4, 15.3, 7.2, 7.2],
    listed_micros: 2.5,
};

pub(super) const POSTGRES: Costs = Costs {
    micros: [9.4, 60.9, 47.2, 28.8, 411.6, 37.5, 8.8, 8.8],
    listed_micros: 1.44,
};

/// Bytes of Redis for the end of a session, for an entry of the news, and for a message in an inbox.
pub(super) const END_BYTES: f64 = 216.0;
pub(super) const ENTRY_BYTES: f64 = 198.0;
pub(super) const MESSAGE_BYTES: f64 = 86.0;
/// Bytes of Redis for the log of a reply with a question, as estimated: its beginning, the question, and its result.
pub(super) const STREAM_BYTES: f64 = 1_300.0;
/// Bytes of a server for its part of a session.
pub(super) const PART_BYTES: f64 = 2_700.0;
/// CPU of three servers for a call.
pub(super) const CALL_MICROS: f64 = 35.0;

impl Costs {
    /// Returns the cores that the store needs.
    pub(super) fn cores(&self, rates: &Rates, servers: usize) -> f64 {
        let each = OPERATIONS.iter().zip(self.micros);
        let micros: f64 = each
            .map(|((operation, _), micros)| rates.of(*operation) * micros)
            .sum();
        let listed = rates.of(Operation::List) * servers as f64 * self.listed_micros;
        (micros + listed) / 1e6
    }
}
