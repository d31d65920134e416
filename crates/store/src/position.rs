//! The position of an event in a log.

/// The position of an event in its log.
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
