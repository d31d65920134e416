//! Logs: events in order, read from a position.

use std::fmt;

use bytes::Bytes;

use crate::error::StoreError;
use crate::limits::StoreLimits;
use crate::position::Position;

/// One event of a log.
///
/// Its `Debug` does not show the value.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Position of the event in its log.
    pub position: Position,
    /// Value that was appended.
    pub value: Bytes,
}

impl Event {
    /// An event, for those who write a store.
    pub fn new(position: Position, value: Bytes) -> Self {
        Self { position, value }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("position", &self.position)
            .field("bytes", &self.value.len())
            .finish()
    }
}

/// The tail that a writer expects of a log: the position of its last event.
// Closed: every store handles every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedTail {
    /// Any tail, and also no log.
    Any,
    /// The last event has this position. [`Position::START`] means that the log does not exist.
    At(Position),
}

impl ExpectedTail {
    /// Compares with `tail`, the position of the last event, or [`Position::START`] without a log.
    ///
    /// # Errors
    ///
    /// [`StoreError::Moved`] if the log has another tail.
    pub fn check(self, tail: Position) -> Result<(), StoreError> {
        match self {
            Self::At(expected) if expected != tail => Err(StoreError::Moved { tail }),
            Self::At(_) | Self::Any => Ok(()),
        }
    }
}

/// The events that a log keeps, at most. A store keeps fewer if its own limits are smaller.
///
/// The newest event is always kept. The default adds no limit to the limits of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Largest number of events.
    pub max_events: usize,
    /// Largest sum of the sizes of their values, in bytes.
    pub max_bytes: usize,
}

impl Retention {
    /// Returns the smaller one of each limit, for implementations of a store.
    pub fn within(self, limits: &StoreLimits) -> Self {
        Self {
            max_events: self.max_events.min(limits.max_log_events),
            max_bytes: self.max_bytes.min(limits.max_log_bytes),
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_events: usize::MAX,
            max_bytes: usize::MAX,
        }
    }
}

/// Events after a position, the loss of some of them, or a position that the log never had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tail {
    /// The events that come next, without a gap.
    Events {
        /// Oldest first; none when the reader has seen all.
        events: Vec<Event>,
        /// Whether there are more after these.
        more: bool,
    },
    /// Events after that position were dropped, or the log it belongs to is gone.
    Lost,
    /// The log has no event at that position, and never dropped one there.
    Unknown,
}
