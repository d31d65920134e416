//! The content of a store in memory: the one place that defines each operation.
//!
//! A write has two steps. *Plan* returns the changes or an error; *apply* makes the changes and
//! cannot fail. Between the two a [`Journal`](crate::local::Journal) makes the changes durable.
//! Planning expects that an expired entry under the key was removed before.

mod append;
mod counter;
mod log;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound as Edge;

use bytes::Bytes;

use crate::epoch::Epoch;
use crate::error::{LimitError, LimitKind, StoreError};
use crate::key::{Key, Prefix};
use crate::limits::StoreLimits;
use crate::log::Tail;
use crate::page::{Listing, Page, PageRoom};
use crate::position::Position;
use crate::record::{Expiry, Precondition, Record};
use crate::store_time::StoreTime;
use crate::version::Version;

pub(crate) use append::Append;
pub(crate) use counter::Counter;
pub(crate) use log::Log;

/// Records, logs and counters, and when they expire.
#[derive(Debug, Default)]
pub(crate) struct Table {
    records: BTreeMap<Key, Record>,
    // Only records are listed, and a map with an order takes more code.
    logs: HashMap<Key, Log>,
    counters: HashMap<Key, Counter>,
    epoch: Option<Epoch>,
    due: BTreeSet<(StoreTime, Slot)>,
    /// Cost of all entries, as [`StoreLimits::max_bytes`] counts it.
    bytes: usize,
    /// The last version or position that was given out.
    last: u64,
    limits: StoreLimits,
}

/// A place that holds one record, one log or one counter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Record(Key),
    Log(Key),
    Counter(Key),
}

/// Change that a write makes.
#[derive(Debug)]
pub(crate) enum Change {
    Put { key: Key, record: Record },
    Remove { key: Key },
    Append(Append),
    Forget { log: Key },
    Count { key: Key, counter: Counter },
    RemoveCounter { key: Key },
    Epoch(Epoch),
}

impl Table {
    pub(crate) fn new(limits: StoreLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Gives out only numbers greater than `last` from now on.
    #[cfg(feature = "file")]
    pub(crate) fn count_from(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    // Planning.

    pub(crate) fn plan_put(
        &mut self,
        key: &Key,
        value: &Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> Result<(Version, Change), StoreError> {
        let found = self.records.get(key);
        condition.check(found.map(|record| record.version))?;
        self.limits.check_value(value.len())?;
        let freed = found.map_or(0, |record| record_cost(key, &record.value));
        let fresh = usize::from(found.is_none());
        self.check_room(fresh, record_cost(key, value), freed)?;
        let version = Version::new(self.next());
        let record = Record::new(own(value), version, expiry);
        let key = key.clone();
        Ok((version, Change::Put { key, record }))
    }

    /// `None` when there is nothing to remove.
    pub(crate) fn plan_remove(
        &self,
        key: &Key,
        condition: Precondition,
    ) -> Result<Option<Change>, StoreError> {
        let found = self.records.get(key);
        condition.check(found.map(|record| record.version))?;
        Ok(found.map(|_| Change::Remove { key: key.clone() }))
    }

    pub(crate) fn plan_forget(&self, log: &Key) -> Option<Change> {
        let log = self.logs.get_key_value(log)?.0.clone();
        Some(Change::Forget { log })
    }

    /// Returns changes that remove at most `most` expired entries, oldest first.
    pub(crate) fn plan_purge(&self, now: StoreTime, most: usize) -> Vec<Change> {
        let over = self.due.iter().take_while(|(moment, _)| *moment <= now);
        over.take(most).map(|(_, slot)| slot.removal()).collect()
    }

    /// Returns the change that removes the entry in `slot`, if it has expired.
    pub(crate) fn plan_expire(&self, now: StoreTime, slot: &Slot) -> Option<Change> {
        let expiry = match slot {
            Slot::Record(key) => self.records.get(key)?.expiry,
            Slot::Log(log) => self.logs.get(log)?.expiry,
            Slot::Counter(key) => self.counters.get(key)?.expiry,
        };
        expiry.is_over(now).then(|| slot.removal())
    }

    fn check_room(&self, fresh: usize, cost: usize, freed: usize) -> Result<(), LimitError> {
        let StoreLimits {
            max_entries: entries,
            max_bytes: bytes,
            ..
        } = self.limits;
        let present = self.records.len() + self.logs.len() + self.counters.len();
        if fresh > 0 && present >= entries {
            return Err(LimitError::new(LimitKind::Entries, entries));
        }
        // Whatever makes the store smaller is allowed, also when the limit was lowered.
        if cost > freed && self.bytes - freed + cost > bytes {
            return Err(LimitError::new(LimitKind::Bytes, bytes));
        }
        Ok(())
    }

    // Applying.

    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Put { key, record } => self.put(key, record),
            Change::Remove { key } => self.remove(&key),
            Change::Append(append) => self.append(append),
            Change::Forget { log } => self.forget(&log),
            Change::Count { key, counter } => self.count(key, counter),
            Change::RemoveCounter { key } => self.remove_counter(&key),
            Change::Epoch(epoch) => self.epoch = Some(epoch),
        }
    }

    fn put(&mut self, key: Key, record: Record) {
        self.remove(&key);
        self.bytes += record_cost(&key, &record.value);
        self.remember(Slot::Record(key.clone()), record.expiry);
        self.records.insert(key, record);
    }

    fn remove(&mut self, key: &Key) {
        let Some(record) = self.records.remove(key) else {
            return;
        };
        self.bytes -= record_cost(key, &record.value);
        self.unremember(Slot::Record(key.clone()), record.expiry);
    }

    fn forget(&mut self, key: &Key) {
        let Some(log) = self.logs.remove(key) else {
            return;
        };
        self.bytes -= log.cost(key);
        self.unremember(Slot::Log(key.clone()), log.expiry);
    }

    fn remember(&mut self, slot: Slot, expiry: Expiry) {
        self.due
            .extend(expiry.moment().map(|moment| (moment, slot)));
    }

    fn unremember(&mut self, slot: Slot, expiry: Expiry) {
        if let Some(moment) = expiry.moment() {
            self.due.remove(&(moment, slot));
        }
    }

    // Reading.

    pub(crate) fn get(&self, now: StoreTime, key: &Key) -> Option<&Record> {
        let found = self.records.get(key);
        found.filter(|record| !record.expiry.is_over(now))
    }

    pub(crate) fn list(&self, now: StoreTime, prefix: &Prefix, page: &Page) -> Listing {
        let start = match &page.after {
            Some(after) if after.as_str() >= prefix.as_str() => Edge::Excluded(after.as_str()),
            _ => Edge::Included(prefix.as_str()),
        };
        let mut found = self
            .records
            .range::<str, _>((start, Edge::Unbounded))
            .take_while(|(key, _)| prefix.covers(key))
            .filter(|(_, record)| !record.expiry.is_over(now))
            .peekable();
        let mut room = PageRoom::new(page.limit, &self.limits);
        let mut records = Vec::new();
        while let Some((key, record)) = found.next_if(|(_, record)| room.take(record.value.len())) {
            records.push((key.clone(), record.clone()));
        }
        let last = records.last().map(|(key, _)| key.clone());
        Listing::new(records, last.filter(|_| found.peek().is_some()))
    }

    pub(crate) fn read(&self, now: StoreTime, log: &Key, after: Position, most: usize) -> Tail {
        let found = self.logs.get(log).filter(|log| !log.expiry.is_over(now));
        match found {
            Some(log) => log.read(after, PageRoom::new(most, &self.limits)),
            None if after == Position::START => Tail::Events {
                events: Vec::new(),
                more: false,
            },
            None => Tail::Lost,
        }
    }

    pub(crate) fn epoch(&self) -> Option<Epoch> {
        self.epoch
    }

    /// The log under a key, over or not.
    #[cfg(feature = "file")]
    pub(crate) fn log(&self, key: &Key) -> Option<&Log> {
        self.logs.get(key)
    }
}

impl Slot {
    pub(crate) fn key(&self) -> &Key {
        match self {
            Self::Record(key) | Self::Log(key) | Self::Counter(key) => key,
        }
    }

    fn removal(&self) -> Change {
        match self.clone() {
            Self::Record(key) => Change::Remove { key },
            Self::Log(log) => Change::Forget { log },
            Self::Counter(key) => Change::RemoveCounter { key },
        }
    }
}

/// A copy that keeps nothing else alive: a slice of a large message would not count as one.
fn own(value: &Bytes) -> Bytes {
    Bytes::copy_from_slice(value)
}

fn entry_cost(key: &Key) -> usize {
    key.as_str().len() + StoreLimits::ENTRY_BYTES
}

fn record_cost(key: &Key, value: &Bytes) -> usize {
    entry_cost(key) + value.len()
}

fn event_cost(bytes: usize) -> usize {
    bytes + StoreLimits::ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Namespace;
    use crate::log::{ExpectedTail, Retention};

    #[test]
    fn removed_entries_have_no_cost() {
        let key = Key::new(&Namespace::fixed("a"), "b").expect("a key");
        let limits = StoreLimits {
            max_log_events: 2,
            ..StoreLimits::default()
        };
        let mut table = Table::new(limits);
        let expiry = Expiry::At(StoreTime::from_millis(9));
        for value in ["one", "two, longer", "three"] {
            let value = Bytes::from(value);
            let put = table.plan_put(&key, &value, Precondition::Any, expiry);
            table.apply(put.expect("there is room").1);
            let batch = [value];
            let (tail, retention) = (ExpectedTail::Any, Retention::default());
            let append = table.plan_append(&key, &batch, tail, retention, expiry);
            table.apply(append.expect("there is room").1.expect("a change"));
        }
        let (entry, events) = (3 + 64, 11 + 64 + 5 + 64);
        assert_eq!(table.bytes, entry + 5 + entry + events);

        for change in table.plan_purge(StoreTime::from_millis(9), 10) {
            table.apply(change);
        }
        assert_eq!((table.bytes, table.due.len()), (0, 0));
    }
}
