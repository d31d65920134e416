//! The place of a reader in the log of a stream of another replica. No I/O.
//!
//! A client that resumes names the last event that it received. The numbers of a stream have no gap. So the reader
//! knows the events that the client lacks, also if the client has received more than the log has.

use pintle_store::Position;

use super::event::StreamEvent;

/// The state of a reader.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Reading {
    tail: Position,
    /// The number of the first event that the client lacks.
    next: u64,
    /// Whether the client has received the end that another replica wrote.
    has_end: bool,
    is_ended: bool,
}

/// An event that the client lacks is not in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GapError;

impl Reading {
    /// Begins at the start of the log, for a client that received the events up to this number.
    pub(super) fn after(number: u64) -> Self {
        Self {
            tail: Position::START,
            next: number.saturating_add(1),
            has_end: number == StreamEvent::TAKEN_OVER,
            is_ended: false,
        }
    }

    /// The position of the last event that was read.
    pub(super) fn tail(&self) -> Position {
        self.tail
    }

    /// Returns true if no event follows.
    #[cfg(all(test, not(shuttle)))]
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Takes over the next event. Returns true if the client lacks it.
    ///
    /// # Errors
    ///
    /// [`GapError`] if an event before it is missing.
    pub(super) fn read(
        &mut self,
        position: Position,
        event: &StreamEvent,
    ) -> Result<bool, GapError> {
        let is_new = self.next <= event.number && !self.has_end;
        if self.next < event.number && event.number != StreamEvent::TAKEN_OVER {
            return Err(GapError);
        }
        self.tail = position;
        self.is_ended |= event.is_last;
        if is_new {
            self.next = event.number.saturating_add(1);
        }
        Ok(is_new)
    }
}
