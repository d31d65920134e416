//! The store: each operation is one statement on a connection of the pool.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreError, StoreFuture, StoreLimits, StoreTime, Tail,
    Version, Watchers,
};
use tokio::task::JoinSet;

use crate::connect_error::ConnectError;
use crate::logs::Append;
use crate::notices::{Late, Listener, Outbox, Sender, send};
use crate::operation_error::OperationError;
use crate::pool::Pool;
use crate::start::start;
use crate::statements::Operation;
use crate::target::Target;
use crate::values::{column, expiry_column, millis, only};
use crate::{logs, records};

/// Keeps records, logs and counters in a schema of a PostgreSQL database.
///
/// Processes of several hosts may share the schema. Records are durable. Logs, counters and the epoch are in
/// unlogged tables: a restart of the server preserves them, and a crash or a failover empties them, so the
/// store has another [`Epoch`] then.
///
/// At most [`StoreLimits::max_queued_writes`] operations wait for the server, and their values have at most
/// [`StoreLimits::max_queued_bytes`]. The server bounds the content: see [`Capacity::Engine`].
///
/// An operation that does not end in time fails with `Retry::Later`. A lost connection fails the writes
/// that wait for it, because they may have happened; reads are repeated once.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Arc<Pool>,
    outbox: Arc<Outbox>,
    watchers: Arc<Watchers>,
    late: Arc<Late>,
    limits: StoreLimits,
    /// The listener, and the reports of late writes. They end with the store.
    _tasks: JoinSet<()>,
}

impl PostgresStore {
    /// Connects to a database, and creates or migrates the tables.
    ///
    /// The form of `url` is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with these parameters:
    ///
    /// - `prefix`: the schema, 1 to 63 of a-z, 0-9, `_` and `-`; default `pintle`.
    /// - `connections`: the connections of the pool, 1 to 100; default 8. One more connection listens.
    /// - `operation_timeout`: longest time for an operation, in milliseconds; default 5000.
    /// - `connect_timeout`: longest time for a step of the start, in seconds; default 10.
    /// - `listen`: the URL of the server itself, percent-encoded, if the pool uses pgbouncer.
    /// - `sslmode`: `disable`, `require`, `verify-ca` or `verify-full`. The default is `disable` on loopback
    ///   and on Unix sockets, and `verify-full` elsewhere.
    /// - `ca`, `cert`, `key`: files in PEM form with the trusted authorities, which replace those of the
    ///   system, and the certificate of this client with its key.
    /// - the parameters of `tokio_postgres::Config`, for example `application_name` and `hostaddr`.
    ///
    /// The user needs `USAGE` on the schema and its sequences, and `SELECT`, `INSERT`, `UPDATE` and `DELETE`
    /// on its tables. The first start of a version may also need `CREATE` on the schema or the database.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if the URL is wrong, the server cannot be reached or used, or has newer tables.
    ///
    /// # Panics
    ///
    /// Panics outside of a Tokio runtime.
    pub async fn connect(url: &str, limits: StoreLimits) -> Result<Self, ConnectError> {
        let target: Arc<Target> = Arc::new(url.parse()?);
        let watchers = Arc::new(Watchers::new(&limits));
        let (first, tls) = start(&target).await?;
        let sender = Sender::random();
        let listener = Listener {
            target: Arc::clone(&target),
            tls: tls.clone(),
            watchers: Arc::clone(&watchers),
            sender,
        };
        let listening = listener.listen().await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(listener.run(listening));
        let outbox = Arc::new(Outbox::default());
        let late = Arc::new(Late::default());
        let limit = target.operation_timeout;
        let (copy, reports) = (Arc::clone(&watchers), Arc::clone(&outbox));
        tasks.spawn(Arc::clone(&late).run(limit, copy, reports));
        let channel = target.schema.clone();
        let pool = Arc::new(Pool::start(first, target, tls, &limits));
        // The task ends after the last notification of a closed outbox.
        drop(tokio::spawn(send(
            Arc::clone(&pool),
            Arc::clone(&outbox),
            channel,
            sender,
        )));
        Ok(Self {
            pool,
            outbox,
            watchers,
            late,
            limits,
            _tasks: tasks,
        })
    }

    /// Reports a write at its end. A conflict changed nothing. A write that fails or is dropped may be
    /// visible now or later.
    async fn reported<T>(
        &self,
        key: &Key,
        write: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let report = Report(Some((self, key)));
        let ended = write.await;
        match &ended {
            Ok(_) => report.ended(),
            Err(error) if error.is_conflict() => report.cancel(),
            Err(_) => drop(report),
        }
        ended
    }
}

/// Reports a write to the watchers of all processes. Dropped before the end of the write, it reports the
/// write twice: now, and after the server has ended it.
struct Report<'a>(Option<(&'a PostgresStore, &'a Key)>);

impl Report<'_> {
    fn ended(mut self) {
        if let Some((store, key)) = self.0.take() {
            store.watchers.notify(key);
            store.outbox.push(key);
        }
    }

    fn cancel(mut self) {
        self.0 = None;
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if let Some((store, key)) = self.0.take() {
            store.watchers.notify(key);
            store.outbox.push(key);
            store.late.push();
        }
    }
}

impl Store for PostgresStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(records::get(&self.pool, now, key))
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
            let put = records::put(&self.pool, now, key, &value, condition, expiry);
            self.reported(key, put).await
        })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.reported(key, records::remove(&self.pool, now, key, condition)))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(async move { records::list(&self.pool, now, prefix, &page, &self.limits).await })
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
            let retention = retention.within(&self.limits);
            let append = Append {
                log,
                events,
                tail,
                retention,
                expiry,
            };
            self.reported(log, logs::append(&self.pool, now, append))
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
        Box::pin(logs::read(&self.pool, now, log, after, most, &self.limits))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(self.reported(log, logs::forget(&self.pool, now, log)))
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
        Box::pin(async move {
            let (now, expires) = (millis(now), expiry_column(expiry));
            let rows = self
                .pool
                .call(Operation::Add, &[&now, &key.as_str(), &amount, &expires], 0)
                .await?;
            column(only(&rows)?, 0)
        })
    }

    /// Returns the clock of the server, which all processes of the store share.
    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(async move {
            let rows = self.pool.call(Operation::Time, &[], 0).await?;
            let millis: i64 = column(only(&rows)?, 0)?;
            Ok(Some(StoreTime::from_millis(millis.unsigned_abs())))
        })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(async move {
            let fresh = fresh.get().to_be_bytes();
            let rows = self.pool.call(Operation::Epoch, &[&&fresh[..]], 0).await?;
            let bits = <[u8; 16]>::try_from(column::<&[u8]>(only(&rows)?, 0)?);
            let bits = bits
                .map_err(|_| OperationError::Unexpected("an epoch without 16 bytes".to_owned()));
            Ok(Epoch::new(u128::from_be_bytes(
                bits.map_err(StoreError::from)?,
            )))
        })
    }

    fn capacity(&self) -> Capacity {
        Capacity::Engine
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.watchers.close();
        self.outbox.close();
    }
}
