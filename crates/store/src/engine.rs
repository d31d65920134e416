//! What both stores share: a table behind a lock, a journal before it, and those who watch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::error::{LimitReached, StoreError};
use crate::key::{Key, Prefix};
use crate::limits::StoreLimits;
use crate::log::{Position, Tail};
use crate::moment::Moment;
use crate::page::{Listing, Page};
use crate::record::{Expiry, Precondition, Record, Version};
use crate::table::{Change, Slot, Table};
use crate::watch::{Watch, Watchers};

/// Makes a change durable before it is seen.
pub(crate) trait Journal: Send + 'static {
    /// Writes down a change that `table` has not seen yet.
    fn commit(&mut self, table: &Table, change: &Change) -> Result<(), Uncommitted>;
}

/// A change that was not made durable.
#[derive(Debug)]
pub(crate) struct Uncommitted {
    /// Whether a reader of the journal would see it nevertheless.
    pub(crate) is_visible: bool,
    pub(crate) error: StoreError,
}

/// How much of what is over a write clears away, at most; all of it when the store is full.
///
/// More than one write adds, so that it shrinks; not all, so that no write waits for long.
const PURGE_STEP: usize = 64;

/// A store, operation by operation.
#[derive(Debug)]
pub(crate) struct Engine<J> {
    shared: Mutex<Shared<J>>,
    watchers: Arc<Watchers>,
    most_watchers: usize,
}

#[derive(Debug)]
struct Shared<J> {
    table: Table,
    journal: J,
}

impl<J: Journal> Engine<J> {
    pub(crate) fn new(table: Table, journal: J, limits: &StoreLimits) -> Self {
        Self {
            shared: Mutex::new(Shared { table, journal }),
            watchers: Arc::default(),
            most_watchers: limits.watchers,
        }
    }

    pub(crate) fn get(&self, now: Moment, key: &Key) -> Option<Record> {
        self.lock().table.get(now, key).cloned()
    }

    pub(crate) fn put(
        &self,
        now: Moment,
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
        now: Moment,
        key: &Key,
        condition: Precondition,
    ) -> Result<bool, StoreError> {
        self.write(now, &Slot::Record(key.clone()), |table| {
            let change = table.plan_remove(key, condition)?;
            Ok((change.is_some(), change))
        })
    }

    pub(crate) fn list(&self, now: Moment, prefix: &Prefix, page: &Page) -> Listing {
        self.lock().table.list(now, prefix, page)
    }

    pub(crate) fn append(
        &self,
        now: Moment,
        log: &Key,
        event: &Bytes,
        expiry: Expiry,
    ) -> Result<Position, StoreError> {
        self.write(now, &Slot::Log(log.clone()), |table| {
            let (position, change) = table.plan_append(log, event, expiry)?;
            Ok((position, Some(change)))
        })
    }

    pub(crate) fn read(&self, now: Moment, log: &Key, after: Position, most: usize) -> Tail {
        self.lock().table.read(now, log, after, most)
    }

    pub(crate) fn forget(&self, now: Moment, log: &Key) -> Result<bool, StoreError> {
        self.write(now, &Slot::Log(log.clone()), |table| {
            let change = table.plan_forget(log);
            Ok((change.is_some(), change))
        })
    }

    pub(crate) fn watch(&self, prefix: &Prefix) -> Result<Watch, LimitReached> {
        self.watchers.watch(prefix, self.most_watchers)
    }

    fn write<R>(
        &self,
        now: Moment,
        slot: &Slot,
        plan: impl Fn(&mut Table) -> Result<(R, Option<Change>), StoreError>,
    ) -> Result<R, StoreError> {
        let mut shared = self.lock();
        shared.expire(now, slot)?;
        shared.purge(now, PURGE_STEP);
        let planned = match plan(&mut shared.table) {
            Err(error) if error.limit().is_some() && shared.purge(now, usize::MAX) => {
                plan(&mut shared.table)
            }
            planned => planned,
        };
        let (answer, change) = planned?;
        let Some(change) = change else {
            return Ok(answer);
        };
        let done = shared.commit(change);
        drop(shared);
        // Also after a failure: it may be visible.
        self.watchers.notify(slot.key());
        done.map(|()| answer)
    }

    fn lock(&self) -> MutexGuard<'_, Shared<J>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> Drop for Engine<J> {
    fn drop(&mut self) {
        self.watchers.close();
    }
}

impl<J: Journal> Shared<J> {
    fn commit(&mut self, change: Change) -> Result<(), StoreError> {
        match self.journal.commit(&self.table, &change) {
            Ok(()) => {
                self.table.apply(change);
                Ok(())
            }
            Err(Uncommitted { is_visible, error }) => {
                if is_visible {
                    self.table.apply(change);
                }
                Err(error)
            }
        }
    }

    /// Removes what is over in `slot`, so that nobody plans with it.
    fn expire(&mut self, now: Moment, slot: &Slot) -> Result<(), StoreError> {
        let change = self.table.plan_expire(now, slot);
        change.map_or(Ok(()), |change| self.commit(change))
    }

    /// Removes what is over elsewhere; whether it removed something.
    fn purge(&mut self, now: Moment, most: usize) -> bool {
        let over = self.table.plan_purge(now, most);
        let mut any = false;
        for change in over {
            // One that cannot be removed is tried again with the next write; it is over for
            // everybody all the same.
            any |= self.commit(change).is_ok();
        }
        any
    }
}

/// Implements [`Store`](crate::Store) for a type with a field `engine`.
macro_rules! store_by_engine {
    ($store:ty) => {
        impl $crate::Store for $store {
            fn get<'a>(
                &'a self,
                now: $crate::Moment,
                key: &'a $crate::Key,
            ) -> $crate::StoreFuture<'a, Option<$crate::Record>> {
                Box::pin(async move { Ok(self.engine.get(now, key)) })
            }

            fn put<'a>(
                &'a self,
                now: $crate::Moment,
                key: &'a $crate::Key,
                value: ::bytes::Bytes,
                condition: $crate::Precondition,
                expiry: $crate::Expiry,
            ) -> $crate::StoreFuture<'a, $crate::Version> {
                Box::pin(async move { self.engine.put(now, key, &value, condition, expiry) })
            }

            fn remove<'a>(
                &'a self,
                now: $crate::Moment,
                key: &'a $crate::Key,
                condition: $crate::Precondition,
            ) -> $crate::StoreFuture<'a, bool> {
                Box::pin(async move { self.engine.remove(now, key, condition) })
            }

            fn list<'a>(
                &'a self,
                now: $crate::Moment,
                prefix: &'a $crate::Prefix,
                page: $crate::Page,
            ) -> $crate::StoreFuture<'a, $crate::Listing> {
                Box::pin(async move { Ok(self.engine.list(now, prefix, &page)) })
            }

            fn append<'a>(
                &'a self,
                now: $crate::Moment,
                log: &'a $crate::Key,
                event: ::bytes::Bytes,
                expiry: $crate::Expiry,
            ) -> $crate::StoreFuture<'a, $crate::Position> {
                Box::pin(async move { self.engine.append(now, log, &event, expiry) })
            }

            fn read<'a>(
                &'a self,
                now: $crate::Moment,
                log: &'a $crate::Key,
                after: $crate::Position,
                most: usize,
            ) -> $crate::StoreFuture<'a, $crate::Tail> {
                Box::pin(async move { Ok(self.engine.read(now, log, after, most)) })
            }

            fn forget<'a>(
                &'a self,
                now: $crate::Moment,
                log: &'a $crate::Key,
            ) -> $crate::StoreFuture<'a, bool> {
                Box::pin(async move { self.engine.forget(now, log) })
            }

            fn changed<'a>(
                &'a self,
                prefix: &'a $crate::Prefix,
            ) -> $crate::StoreFuture<'a, $crate::Changes> {
                Box::pin(async move {
                    let watch = self.engine.watch(prefix)?;
                    Ok($crate::Changes::new(move |cx| watch.poll_next(cx)))
                })
            }
        }
    };
}

pub(crate) use store_by_engine;
