//! Logs: events in order, read from a position.

use std::fmt;

use bytes::Bytes;

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

/// Where an event is in its log.
///
/// Positions grow with every append; they are not consecutive. Neither a log nor one that comes
/// after it under the same key uses a position twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// The position with this number, as [`Position::get`] gave it.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, to be written down.
    pub const fn get(self) -> u64 {
        self.0
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
