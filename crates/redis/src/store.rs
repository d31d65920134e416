//! The store: each operation is one command or one script.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_store::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreError, StoreFuture, StoreLimits, StoreTime, Tail,
    Version, Watchers,
};

use crate::connect_error::ConnectError;
use crate::link::Link;
use crate::logs::{self, Append};
use crate::names::Names;
use crate::operation_error::OperationError;
use crate::records::{self, Outcome};
use crate::scripts::{Call, EPOCH, TIME};
use crate::start::start;
use crate::subscriber::Subscriber;
use crate::target::Target;
use crate::values::fresh_version;

/// Keeps records, logs and counters in Redis or Valkey, for the processes of several hosts.
///
/// At most [`StoreLimits::max_queued_writes`] operations wait at a time, and each waits at most the
/// `operation_timeout` of the URL. The engine bounds the content: see [`Capacity::Engine`]. Redis
/// acknowledges a write before it is on the disk or on a replica, so a crash or a failover may lose the
/// last writes. During a failover operations fail, and may be retried. The parameter `wait` makes writes of records wait for replicas.
pub struct RedisStore {
    link: Link,
    subscriber: Subscriber,
    watchers: Arc<Watchers>,
    names: Names,
    limits: StoreLimits,
    host: String,
    timeout: Duration,
}

impl RedisStore {
    /// Connects to the server of a URL: `redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://` for TLS, or
    /// `redis+unix:///PATH` for a socket. `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE`
    /// names at most 16 sentinels, which name the server. `redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT`
    /// names at most 16 servers of a cluster. `rediss+sentinel://` and `rediss+cluster://` are for TLS.
    ///
    /// The parameters of a URL:
    ///
    /// - `prefix`: begins all names in Redis; 1 to 63 of a-z, 0-9, `_`, `-`; default `pintle`.
    /// - `connections`: connections for operations, 1 to 64; default 2. One more receives messages.
    /// - `wait`: replicas that acknowledge each write of a record, 0 to 16; default 0.
    /// - `operation_timeout`: longest time for an operation, in milliseconds; default 1000.
    /// - `connect_timeout`: longest time for this call, in seconds; default 10.
    /// - `ca`: PEM file with the trusted authorities, instead of those of the system.
    /// - `cert` and `key`: PEM files with the certificate and the key of this client.
    /// - `sentinel_user` and `sentinel_pass`: the credentials for sentinels, which have none by default.
    /// - `db`, `user` and `pass`: of a socket only, because its URL has no other place for them.
    ///
    /// The call carries out each kind of operation once, on a key of its own. It must run in a runtime of
    /// tokio that lives as long as the store.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if the URL is wrong, or the server cannot be used as a store.
    pub async fn connect(url: &str, limits: StoreLimits) -> Result<Self, ConnectError> {
        let target: Target = url.parse()?;
        let watchers = Arc::new(Watchers::new(&limits));
        let (link, subscriber) = start(&target, &limits, &watchers).await?;
        Ok(Self {
            link,
            subscriber,
            watchers,
            names: Names::new(&target.prefix),
            limits,
            timeout: target.operation_timeout,
            host: target.host,
        })
    }

    async fn watch(&self, prefix: &Prefix) -> Result<Changes, StoreError> {
        let group = prefix.watched_group()?;
        let channel = self.names.watched(prefix, group);
        let mut changes = self.watchers.changes(prefix)?;
        let watch = self.subscriber.watch(channel);
        let confirmed = tokio::time::timeout(self.timeout, watch.confirmed()).await;
        confirmed.map_err(|_| OperationError::TimedOut(self.timeout))?;
        Ok(Changes::new(move |cx| {
            // The subscription ends with the stream.
            let _ = &watch;
            changes.poll_next(cx)
        }))
    }
}

impl Store for RedisStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(async move {
            let value = self.link.run(records::get(&self.names, key)).await?;
            records::found(now, value)
        })
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
            let version = fresh_version().map_err(OperationError::Random)?;
            let record = Record::new(value, version, expiry);
            let call = records::put(&self.names, now, key, &record, condition);
            self.link.write::<Outcome>(call).await?.into_result()?;
            Ok(version)
        })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let call = records::remove(&self.names, now, key, condition);
            self.link.write::<Outcome>(call).await?.into_result()
        })
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(async move {
            let call = records::list(&self.names, now, prefix, &page, &self.limits)?;
            records::listed(prefix, self.link.run(call).await?)
        })
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
                events,
                tail,
                retention: retention.within(&self.limits),
                expiry,
            };
            let call = logs::append(&self.names, now, log, &append);
            logs::appended(self.link.run(call).await?)
        })
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(async move {
            let call = logs::read(&self.names, now, log, after, most, &self.limits);
            logs::tail(self.link.run(call).await?)
        })
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(self.link.run(logs::forget(&self.names, now, log)))
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(self.watch(prefix))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        Box::pin(async move {
            let call = logs::add(&self.names, now, key, amount, expiry);
            logs::sum(&self.link.run::<String>(call).await?)
        })
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(async {
            let call = Call::of(&TIME, &[self.names.epoch()]);
            let (seconds, micros): (u64, u64) = self.link.run(call).await?;
            let millis = seconds * 1_000 + micros / 1_000;
            Ok(Some(StoreTime::from_millis(millis)))
        })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(async move {
            let call = Call::of(&EPOCH, &[self.names.epoch()]).arg(format!("{:032x}", fresh.get()));
            let bits: String = self.link.run(call).await?;
            let bits = u128::from_str_radix(&bits, 16).map_err(|_| OperationError::Foreign)?;
            Ok(Epoch::new(bits))
        })
    }

    fn capacity(&self) -> Capacity {
        Capacity::Engine
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("host", &self.host)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.watchers.close();
    }
}
