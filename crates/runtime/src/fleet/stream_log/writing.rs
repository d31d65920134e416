//! The place of a writer in the log of its stream. No I/O.
//!
//! A writer appends at the tail that it knows, and the store compares. So no event follows an end that another
//! replica wrote. After each append that did not succeed, the writer reads after its tail: its own events, the
//! same tail, or an end.

use pintle_store::Position;

use super::event::StreamEvent;
use crate::fleet::ReplicaId;

/// The state of a writer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Writing {
    me: ReplicaId,
    tail: Position,
    /// The number of the next event.
    next: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    Ready,
    /// The last append may have happened.
    InDoubt,
    /// Nothing is appended any more: another replica ended the stream, or the log is gone.
    Over,
}

/// The next operation of a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum WriteStep {
    /// Append at this tail the events from this number on.
    Append(Position, u64),
    /// Read the events after this position.
    Read(Position),
}

impl Writing {
    /// Begins a log that does not exist.
    pub(super) fn new(me: ReplicaId) -> Self {
        Self {
            me,
            tail: Position::START,
            next: 0,
            state: State::Ready,
        }
    }

    /// Returns the next operation. `None` if nothing is appended any more.
    pub(super) fn step(&self) -> Option<WriteStep> {
        match self.state {
            State::Ready => Some(WriteStep::Append(self.tail, self.next)),
            State::InDoubt => Some(WriteStep::Read(self.tail)),
            State::Over => None,
        }
    }

    /// The number of the next event.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The store appended so many events. The last one has this position.
    pub(super) fn appended(&mut self, count: u64, tail: Position) {
        (self.tail, self.next) = (tail, self.next + count);
    }

    /// The append failed, or the log has another tail: it may have happened.
    pub(super) fn doubt(&mut self) {
        self.state = State::InDoubt;
    }

    /// Takes over the events after the tail.
    pub(super) fn read<'a>(&mut self, events: impl Iterator<Item = (Position, &'a StreamEvent)>) {
        self.state = State::Ready;
        for (position, event) in events {
            if event.writer != self.me || event.number != self.next {
                return self.end();
            }
            (self.tail, self.next) = (position, self.next + 1);
        }
    }

    /// The log is gone, or another replica ended the stream.
    pub(super) fn end(&mut self) {
        self.state = State::Over;
    }
}
