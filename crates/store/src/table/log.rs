//! One log in memory.

use std::collections::VecDeque;
use std::collections::vec_deque::Iter;
use std::iter::Take;

use super::{Room, entry_cost};
use crate::key::Key;
use crate::limits::StoreLimits;
use crate::log::{Event, Position, Tail};
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

    /// Appends an event and drops the events up to `horizon`.
    pub(super) fn push(&mut self, event: Event, expiry: Expiry, horizon: Position) {
        self.bytes += event.value.len();
        self.events.push_back(event);
        (self.expiry, self.horizon) = (expiry, horizon);
        while self.events.front().is_some_and(|it| it.position <= horizon) {
            let dropped = self.events.pop_front();
            self.bytes -= dropped.map_or(0, |event| event.value.len());
        }
    }

    /// The oldest events that have to go when one of `bytes` bytes comes.
    pub(super) fn overflow(&self, bytes: usize, limits: &StoreLimits) -> Take<Iter<'_, Event>> {
        let (mut events, mut total) = (self.events.len() + 1, self.bytes + bytes);
        let mut dropped = 0;
        for event in &self.events {
            if events <= limits.max_log_events && total <= limits.max_log_bytes {
                break;
            }
            events -= 1;
            total -= event.value.len();
            dropped += 1;
        }
        self.events.iter().take(dropped)
    }

    pub(super) fn read(&self, after: Position, mut room: Room) -> Tail {
        let from = match self.events.binary_search_by_key(&after, |it| it.position) {
            Ok(at) => at + 1,
            Err(_) if self.begins_after(after) => 0,
            Err(_) if after < self.horizon => return Tail::Lost,
            Err(_) => return Tail::Unknown,
        };
        let mut rest = self.events.range(from..).peekable();
        let mut events = Vec::new();
        while let Some(event) = rest.next_if(|event| room.has(&event.value)) {
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

    /// How many events are left.
    #[cfg(feature = "file")]
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Bytes of the values that are left.
    #[cfg(feature = "file")]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The events that are left, oldest first.
    #[cfg(feature = "file")]
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }
}
