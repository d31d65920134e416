//! The store: each operation runs on one of its two threads.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, PageRoom, Position,
    Precondition, Prefix, Record, Retention, Store, StoreError, StoreFuture, StoreLimits,
    StoreTime, Tail, Version, Watchers,
};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::logs::Append;
use crate::open_error::OpenError;
use crate::values::{Failed, millis};
use crate::worker::Worker;
use crate::{counters, logs, records};

/// Keeps records, logs and counters in a SQLite database.
///
/// Several processes of one host may open the same file. The file must not be on a network file system,
/// because its locks may not work there.
///
/// At most [`StoreLimits::max_queued_writes`] operations wait for each of the two threads. One that waits
/// longer than 5 s, also for the lock of another process, fails and has not happened. Dropping the
/// store waits for them. The disk bounds the content: see [`Capacity::Engine`].
#[derive(Debug)]
pub struct SqliteStore {
    writer: Worker,
    reader: Worker,
    watchers: Arc<Watchers>,
    limits: Arc<StoreLimits>,
}

/// Maximum number of expired entries of each kind that one write deletes.
const PURGE_STEP: usize = 64;

impl SqliteStore {
    /// Opens a database, and creates it if it does not exist.
    ///
    /// The call reads and writes the disk. In a runtime, run it at the start of the program or on a
    /// thread for blocking calls.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the file cannot be read and written, or has other tables.
    pub fn open(path: impl AsRef<Path>, limits: StoreLimits) -> Result<Self, OpenError> {
        let (path, queued) = (path.as_ref(), limits.max_queued_writes);
        let watchers = Arc::new(Watchers::new(&limits));
        Ok(Self {
            writer: Worker::start(path, queued, Some(Arc::clone(&watchers)))?,
            reader: Worker::start(path, queued, None)?,
            watchers,
            limits: Arc::new(limits),
        })
    }

    /// Carries out a write as one transaction, and wakes the watchers of `key`.
    async fn write<T: Send + 'static>(
        &self,
        now: StoreTime,
        key: Option<&Key>,
        operation: impl FnOnce(&Transaction<'_>) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (watchers, key) = (Arc::clone(&self.watchers), key.cloned());
        self.writer
            .run(move |connection| {
                let ended = transact(connection, now, operation);
                // Also after an error: the write may be visible. The caller may be gone by then.
                if let Some(key) = key {
                    watchers.notify(&key);
                }
                ended
            })
            .await
    }
}

fn transact<T>(
    connection: &mut Connection,
    now: StoreTime,
    operation: impl FnOnce(&Transaction<'_>) -> Result<T, Failed>,
) -> Result<T, Failed> {
    let write = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = operation(&write)?;
    purge(&write, now)?;
    write.commit()?;
    Ok(result)
}

/// Deletes some expired entries. The operations ignore those that remain.
fn purge(write: &Transaction<'_>, now: StoreTime) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM records WHERE key IN (SELECT key FROM records WHERE expiry <= ?1 LIMIT ?2)",
        "DELETE FROM counters WHERE key IN (SELECT key FROM counters WHERE expiry <= ?1 LIMIT ?2)",
    ] {
        let mut statement = write.prepare_cached(sql)?;
        statement.execute(params![millis(now), PURGE_STEP as i64])?;
    }
    logs::purge(write, now, PURGE_STEP)
}

impl Store for SqliteStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        let key = key.clone();
        Box::pin(self.reader.run(move |it| records::get(it, now, &key)))
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        Box::pin(async move {
            self.limits.check_value(value.len())?;
            let copy = key.clone();
            self.write(now, Some(key), move |write| {
                records::put(write, now, &copy, &value, condition, expiry)
            })
            .await
        })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        let copy = key.clone();
        Box::pin(self.write(now, Some(key), move |write| {
            records::remove(write, now, &copy, condition)
        }))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        let (prefix, limits) = (prefix.clone(), Arc::clone(&self.limits));
        Box::pin(
            self.reader
                .run(move |it| records::list(it, now, &prefix, &page, &limits)),
        )
    }

    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        Box::pin(async move {
            self.limits.check_batch(events)?;
            let append = Append {
                log: log.clone(),
                events: events.to_vec(),
                tail,
                retention: retention.within(&self.limits),
                expiry,
            };
            self.write(now, Some(log), move |write| {
                logs::append(write, now, &append)
            })
            .await
        })
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        let (log, room) = (log.clone(), PageRoom::new(most, &self.limits));
        Box::pin(self.reader.run(move |it| {
            // Several statements must see one state of the database.
            let read = it.transaction()?;
            logs::read(&read, now, &log, after, room)
        }))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        let copy = log.clone();
        Box::pin(self.write(now, Some(log), move |write| logs::forget(write, now, &copy)))
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(async move { Ok(self.watchers.changes(prefix)?) })
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        let key = key.clone();
        Box::pin(self.write(now, None, move |write| {
            counters::add(write, now, &key, amount, expiry)
        }))
    }

    /// Returns the clock of the host, which all processes of the store share.
    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(async { Ok(Some(StoreTime::from(SystemTime::now()))) })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        // Without a time: an epoch does not expire.
        Box::pin(self.write(StoreTime::default(), None, move |write| {
            counters::epoch(write, fresh)
        }))
    }

    fn capacity(&self) -> Capacity {
        Capacity::Engine
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.watchers.close();
    }
}
