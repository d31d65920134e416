//! One log in memory.

use std::collections::VecDeque;

use super::entry_cost;
use crate::key::Key;
use crate::limits::StoreLimits;
use crate::log::{Event, Tail};
use crate::page::PageRoom;
use crate::position::Position;
use crate::record::Expiry;

/// Events in order, and the horizon of the dropped ones.
#[derive(Debug)]
pub(crate) struct Log {
    /// Less than every position of this log; no other log was born there.
    pub(crate) birth: Position,
    /// The last event that was dropped, or `birth`.
    pub(crate) horizon: Position,
    pub(crate) expiry: Expiry,
    events: VecDeque<Event>,
    /// Bytes of the values.
    bytes: usize,
}

impl Log {
    pub(super) fn new(birth: Position, expiry: Expiry) -> Self {
        Self {
            birth,
            horizon: birth,
            expiry,
            events: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Appends events and drops the events up to the horizon.
    pub(super) fn push(&mut self, events: Vec<Event>, expiry: Expiry, horizon: Position) {
        for event in events {
            self.bytes += event.value.len();
            self.events.push_back(event);
        }
        (self.expiry, self.horizon) = (expiry, horizon);
        while self
            .events
            .front()
            .is_some_and(|it| it.position <= self.horizon)
        {
            let dropped = self.events.pop_front();
            self.bytes -= dropped.map_or(0, |event| event.value.len());
        }
    }

    pub(super) fn read(&self, after: Position, mut room: PageRoom) -> Tail {
        let from = match self.events.binary_search_by_key(&after, |it| it.position) {
            Ok(at) => at + 1,
            Err(_) if self.begins_after(after) => 0,
            Err(_) if after < self.horizon => return Tail::Lost,
            Err(_) => return Tail::Unknown,
        };
        let mut rest = self.events.range(from..).peekable();
        let mut events = Vec::new();
        while let Some(event) = rest.next_if(|event| room.take(event.value.len())) {
            events.push(event.clone());
        }
        let more = rest.peek().is_some();
        Tail::Events { events, more }
    }

    /// Whether nothing lies between `after` and the first event.
    fn begins_after(&self, after: Position) -> bool {
        if self.horizon == self.birth {
            after == Position::START
        } else {
            after == self.horizon
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn cost(&self, key: &Key) -> usize {
        entry_cost(key) + self.bytes + self.events.len() * StoreLimits::ENTRY_BYTES
    }

    /// The position of the last event, or the birth without one.
    pub(super) fn tail(&self) -> Position {
        self.events
            .back()
            .map_or(self.birth, |event| event.position)
    }

    /// The sizes of the values that are left, oldest first.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.events.iter().map(|event| event.value.len())
    }

    /// How many events are left.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Bytes of the values that are left.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The events that are left, oldest first.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }
}
