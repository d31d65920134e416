//! Appends to logs: planned, then applied.

use bytes::Bytes;

use super::{Change, Log, Slot, Table, entry_cost, event_cost, own};
use crate::error::{LimitError, StoreError};
use crate::key::Key;
use crate::log::{Event, ExpectedTail, Retention};
use crate::position::Position;
use crate::record::Expiry;

/// A batch of events at the end of a log.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) log: Key,
    /// Names this life of the log.
    pub(crate) birth: Position,
    pub(crate) events: Vec<Event>,
    pub(crate) expiry: Expiry,
    /// Events up to here are dropped.
    pub(crate) horizon: Position,
}

impl Table {
    /// Plans an append. Returns the position of the last event afterwards, and no change if the batch
    /// is empty and there is no log.
    pub(crate) fn plan_append(
        &mut self,
        log: &Key,
        events: &[Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> Result<(Position, Option<Change>), StoreError> {
        let found = self.logs.get(log).map_or(Position::START, Log::tail);
        tail.check(found)?;
        self.limits.check_batch(events)?;
        if events.is_empty() && found == Position::START {
            return Ok((found, None));
        }
        let dropped = self.dropped(log, events, retention);
        self.check_append(log, events, dropped)?;
        let append = self.number(log, events, dropped, expiry);
        let last = append.events.last().map_or(found, |event| event.position);
        Ok((last, Some(Change::Append(append))))
    }

    /// Returns the number of events to drop: first those of the log, then those of the batch.
    fn dropped(&self, log: &Key, events: &[Bytes], retention: Retention) -> usize {
        let retention = retention.within(&self.limits);
        let added = events.iter().map(Bytes::len);
        let old = self.logs.get(log);
        let mut count = old.map_or(0, Log::len) + events.len();
        let mut bytes = old.map_or(0, Log::bytes) + added.clone().sum::<usize>();
        let sizes = old.into_iter().flat_map(Log::sizes).chain(added);
        let dropped = sizes.take_while(|size| {
            let is_over = count > retention.max_events || bytes > retention.max_bytes;
            let is_dropped = is_over && count > 1;
            count -= 1;
            bytes -= size;
            is_dropped
        });
        dropped.count()
    }

    fn check_append(&self, log: &Key, events: &[Bytes], dropped: usize) -> Result<(), LimitError> {
        let (old, is_new) = match self.logs.get(log) {
            Some(found) => (found.len(), false),
            None => (0, true),
        };
        let freed = self.logs.get(log).into_iter().flat_map(Log::sizes);
        let freed = freed.take(dropped).map(event_cost).sum();
        let added = events.iter().skip(dropped.saturating_sub(old));
        let added: usize = added.map(|event| event_cost(event.len())).sum();
        let head = if is_new { entry_cost(log) } else { 0 };
        self.check_room(usize::from(is_new), head + added, freed)
    }

    /// Gives each event its position.
    fn number(&mut self, log: &Key, events: &[Bytes], dropped: usize, expiry: Expiry) -> Append {
        let birth = match self.logs.get(log) {
            Some(found) => found.birth,
            None => Position::new(self.next()),
        };
        let mut numbered = Vec::with_capacity(events.len());
        for value in events {
            numbered.push(Event::new(Position::new(self.next()), own(value)));
        }
        let horizon = self.logs.get(log).map_or(birth, |found| found.horizon);
        let old = self.logs.get(log).into_iter().flat_map(Log::events);
        let horizon = match dropped.checked_sub(1) {
            Some(last) => old.chain(&numbered).nth(last).map(|event| event.position),
            None => Some(horizon),
        };
        Append {
            log: log.clone(),
            birth,
            events: numbered,
            expiry,
            horizon: horizon.expect("an event that is dropped is in the log or in the batch"),
        }
    }

    pub(super) fn append(&mut self, append: Append) {
        let (key, birth) = (append.log, append.birth);
        let mut log = match self.logs.remove(&key) {
            Some(log) => log,
            None => Log::new(birth, append.expiry),
        };
        self.bytes -= if log.is_empty() { 0 } else { log.cost(&key) };
        self.unremember(Slot::Log(key.clone()), log.expiry);
        log.push(append.events, append.expiry, append.horizon);
        self.bytes += log.cost(&key);
        self.remember(Slot::Log(key.clone()), log.expiry);
        self.logs.insert(key, log);
    }
}
