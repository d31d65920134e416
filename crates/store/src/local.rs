//! The common part of the stores in memory and in a directory: a table, a journal and the watchers.

use std::sync::{Arc, MutexGuard};

use bytes::Bytes;

use crate::changes::Changes;
use crate::epoch::Epoch;
use crate::error::{LimitError, StoreError};
use crate::key::{Key, Prefix};
use crate::limits::StoreLimits;
use crate::log::{ExpectedTail, Retention, Tail};
use crate::page::{Listing, Page};
use crate::position::Position;
use crate::record::{Expiry, Precondition, Record};
use crate::store_time::StoreTime;
use crate::sync::{Mutex, RwLock};
use crate::table::{Change, Slot, Table};
use crate::version::Version;
use crate::watch::Watchers;

/// Makes a change durable before it is seen.
pub(crate) trait Journal: Send + 'static {
    /// Writes down a change that `table` has not seen yet.
    fn commit(&mut self, table: &Table, change: &Change) -> Result<(), CommitError>;
}

/// A change that was not made durable.
#[derive(Debug)]
pub(crate) struct CommitError {
    /// Whether a reader of the journal would see it nevertheless.
    pub(crate) is_visible: bool,
    pub(crate) error: StoreError,
}

/// Maximum number of expired entries that one write removes; a full store removes all of them.
///
/// The number exceeds 1, so that the backlog shrinks. It is bounded, so that no write waits for
/// long.
const PURGE_STEP: usize = 64;

/// A store in this process: a table, and a journal that makes its changes durable.
#[derive(Debug)]
pub(crate) struct LocalStore<J> {
    table: RwLock<Table>,
    /// Held by the one writer at a time, who alone changes the table.
    journal: Mutex<J>,
    watchers: Arc<Watchers>,
}

/// A write: the only one, for as long as it lasts. Readers see the table meanwhile.
struct Write<'a, J> {
    table: &'a RwLock<Table>,
    journal: MutexGuard<'a, J>,
}

impl<J: Journal> LocalStore<J> {
    pub(crate) fn new(table: Table, journal: J, limits: &StoreLimits) -> Self {
        Self {
            table: RwLock::new(table),
            journal: Mutex::new(journal),
            watchers: Arc::new(Watchers::new(limits)),
        }
    }

    pub(crate) fn get(&self, now: StoreTime, key: &Key) -> Option<Record> {
        self.table.read().get(now, key).cloned()
    }

    pub(crate) fn put(
        &self,
        now: StoreTime,
        key: &Key,
        value: &Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> Result<Version, StoreError> {
        self.write(now, &Slot::Record(key.clone()), |table| {
            let (version, change) = table.plan_put(key, value, condition, expiry)?;
            Ok((version, Some(change)))
        })
    }

    pub(crate) fn remove(
        &self,
        now: StoreTime,
        key: &Key,
        condition: Precondition,
    ) -> Result<bool, StoreError> {
        self.write(now, &Slot::Record(key.clone()), |table| {
            let change = table.plan_remove(key, condition)?;
            Ok((change.is_some(), change))
        })
    }

    pub(crate) fn list(&self, now: StoreTime, prefix: &Prefix, page: &Page) -> Listing {
        self.table.read().list(now, prefix, page)
    }

    pub(crate) fn append(
        &self,
        now: StoreTime,
        log: &Key,
        events: &[Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> Result<Position, StoreError> {
        self.write(now, &Slot::Log(log.clone()), |table| {
            table.plan_append(log, events, tail, retention, expiry)
        })
    }

    pub(crate) fn add(
        &self,
        now: StoreTime,
        key: &Key,
        amount: i64,
        expiry: Expiry,
    ) -> Result<i64, StoreError> {
        self.write(now, &Slot::Counter(key.clone()), |table| {
            let (sum, change) = table.plan_add(key, amount, expiry)?;
            Ok((sum, Some(change)))
        })
    }

    pub(crate) fn epoch(&self, fresh: Epoch) -> Result<Epoch, StoreError> {
        let mut write = self.begin();
        if let Some(epoch) = self.table.read().epoch() {
            return Ok(epoch);
        }
        write.commit(Change::Epoch(fresh)).map(|()| fresh)
    }

    pub(crate) fn read(&self, now: StoreTime, log: &Key, after: Position, most: usize) -> Tail {
        self.table.read().read(now, log, after, most)
    }

    pub(crate) fn forget(&self, now: StoreTime, log: &Key) -> Result<bool, StoreError> {
        self.write(now, &Slot::Log(log.clone()), |table| {
            let change = table.plan_forget(log);
            Ok((change.is_some(), change))
        })
    }

    pub(crate) fn changes(&self, prefix: &Prefix) -> Result<Changes, LimitError> {
        self.watchers.changes(prefix)
    }

    /// Makes every write wait until the guard is dropped, as a slow disk does.
    #[cfg(all(test, feature = "file"))]
    pub(crate) fn hold_writes(&self) -> MutexGuard<'_, J> {
        self.journal.lock()
    }

    fn begin(&self) -> Write<'_, J> {
        Write {
            table: &self.table,
            journal: self.journal.lock(),
        }
    }

    fn write<R>(
        &self,
        now: StoreTime,
        slot: &Slot,
        plan: impl Fn(&mut Table) -> Result<(R, Option<Change>), StoreError>,
    ) -> Result<R, StoreError> {
        let mut write = self.begin();
        write.expire(now, slot)?;
        write.purge(now, PURGE_STEP);
        let planned = write.plan(&plan);
        let planned = match planned {
            Err(error) if error.limit().is_some() && write.purge(now, usize::MAX) => {
                write.plan(&plan)
            }
            planned => planned,
        };
        let (answer, change) = planned?;
        let Some(change) = change else {
            return Ok(answer);
        };
        let done = write.commit(change);
        drop(write);
        // Also after a failure: it may be visible. A counter has no watchers.
        if !matches!(slot, Slot::Counter(_)) {
            self.watchers.notify(slot.key());
        }
        done.map(|()| answer)
    }
}

impl<J> Drop for LocalStore<J> {
    fn drop(&mut self) {
        self.watchers.close();
    }
}

impl<J: Journal> Write<'_, J> {
    fn plan<R>(
        &mut self,
        plan: impl Fn(&mut Table) -> Result<(R, Option<Change>), StoreError>,
    ) -> Result<(R, Option<Change>), StoreError> {
        plan(&mut self.table.write())
    }

    fn commit(&mut self, planned: Change) -> Result<(), StoreError> {
        // A disk may take seconds, and readers share the table with the journal for so long.
        let committed = self.journal.commit(&self.table.read(), &planned);
        match committed {
            Ok(()) => {
                self.table.write().apply(planned);
                Ok(())
            }
            Err(CommitError { is_visible, error }) => {
                if is_visible {
                    self.table.write().apply(planned);
                }
                Err(error)
            }
        }
    }

    /// Removes an expired entry in `slot` before the write is planned.
    fn expire(&mut self, now: StoreTime, slot: &Slot) -> Result<(), StoreError> {
        let over = self.table.read().plan_expire(now, slot);
        over.map_or(Ok(()), |change| self.commit(change))
    }

    /// Removes expired entries elsewhere. Returns true if it removed an entry.
    fn purge(&mut self, now: StoreTime, most: usize) -> bool {
        let over = self.table.read().plan_purge(now, most);
        let mut any = false;
        for change in over {
            // The next write retries a failed removal. An expired entry is absent for every reader
            // even so.
            any |= self.commit(change).is_ok();
        }
        any
    }
}
