//! One small storage trait over keys and bytes.
//!
//! Data that outlives a request, or that other replicas read, goes through [`Store`]. A store has
//! records with a version and an expiry. It also has logs that are appended to and read from a
//! position, and counters. The crate does not depend on the protocol. It opens no socket, reads no clock and
//! draws no randomness, because *now* is an argument of every operation.
//!
//! - [`MemoryStore`]: bounded, forgets with the process.
//! - `FileStore` (feature `file`): a directory, for one process on one host; survives it.
//! - `SqliteStore` (crate `pintle-sqlite`): a database, for several processes on one host.
//! - `RedisStore` (crate `pintle-redis`): Redis or Valkey, for the processes of several hosts.
//! - `PostgresStore` (crate `pintle-postgres`): a server, for the processes of several hosts.
//! - `FileLock` (feature `file-lock`): one holder of a file, in all processes of one host.
//! - [`TypedStore`]: a typed view of one namespace.
//! - `conformance` (feature `conformance`): the suite that every implementation runs.
//!
//! ```
//! use pintle_store::{Expiry, Key, MemoryStore, StoreTime, Namespace, Precondition, Store};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! const SESSIONS: Namespace = Namespace::fixed("sessions");
//!
//! let store = MemoryStore::default();
//! let now = StoreTime::from_millis(1_000);
//! let key = Key::new(&SESSIONS, "f00d")?;
//! let expiry = Expiry::At(now + std::time::Duration::from_secs(60));
//! let version = store.put(now, &key, "hello".into(), Precondition::Absent, expiry).await?;
//! store.put(now, &key, "there".into(), Precondition::Version(version), expiry).await?;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "conformance")]
pub mod conformance;

mod changes;
mod checksum;
mod epoch;
mod error;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "file-lock")]
mod file_lock;
mod key;
mod limits;
#[cfg(feature = "memory")]
mod local;
mod log;
#[cfg(feature = "memory")]
mod memory;
mod page;
mod position;
mod record;
mod store_time;
#[cfg(feature = "memory")]
mod sync;
#[cfg(feature = "memory")]
mod table;
mod typed_store;
mod version;
#[cfg(feature = "memory")]
mod watch;

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

pub use changes::Changes;
pub use epoch::{Capacity, Epoch};
pub use error::{BackendError, LimitError, LimitKind, Retry, StoreError};
#[cfg(feature = "file")]
pub use file::{Damage, FileStore, Recovery};
#[cfg(feature = "file-lock")]
pub use file_lock::FileLock;
pub use key::{Key, KeyError, Namespace, Prefix};
pub use limits::StoreLimits;
pub use log::{Event, ExpectedTail, Retention, Tail};
#[cfg(feature = "memory")]
pub use memory::MemoryStore;
pub use page::{Listing, Page, PageRoom};
pub use position::Position;
pub use record::{Expiry, Precondition, Record};
pub use store_time::StoreTime;
pub use typed_store::{
    DecodeError, Item, ItemPage, RecordError, RecordErrorKind, StoredType, TypedStore,
    TypedStoreError,
};
pub use version::Version;
#[cfg(feature = "memory")]
pub use watch::Watchers;

/// Future that an operation of a store returns: boxed, so that `Arc<dyn Store>` works.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keys and bytes, kept.
///
/// A key may name one record, one log and one counter. The three are independent of each other.
///
/// # The contract
///
/// - **Atomic.** An operation happens as a whole or not at all, and all see them in one order. Of
///   writers that race with the same [`Precondition`], one wins, and the others get
///   [`StoreError::Conflict`]. Of writers that append at the same [`ExpectedTail::At`], one wins, and
///   the others get [`StoreError::Moved`].
/// - **Versions.** Every successful put gives the record a [`Version`] that its key never had, also
///   when the record was removed in between.
/// - **Expiry.** A record, log or counter whose moment has come (`now >= at`) is absent for every operation.
///   The store decides when it frees the memory, and an expiry wakes no watcher. If `now` goes
///   backward, an expired entry may or may not be present again.
/// - **Groups.** The text of a name before its first dot is the [group](Key::group) of its key. A
///   listing and a watch within one group work in every store. A store whose engine has no order of
///   keys may refuse others: see [`Store::list`] and [`Store::changed`].
/// - **Bounds.** A write beyond a [`StoreLimits`] is refused with [`LimitError`]; whatever has
///   expired is given up first. Only logs drop: their oldest events, and reading from before them
///   is answered with [`Tail::Lost`], never with a silent gap.
/// - **Durability.** What a durable store acknowledged is there after a restart. An operation that
///   ended with [`StoreError::Backend`] may have happened or not.
///
/// The suite in `conformance` checks all of it.
///
/// # Cancellation
///
/// A future that was never polled did nothing. One that was polled and is dropped may have
/// happened or not; it has not happened by half.
pub trait Store: Send + Sync + 'static {
    /// Reads one record.
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>>;

    /// Writes one record, with the value and the expiry it shall have from now on.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Conflict`] if the record does not match `condition`.
    /// - [`LimitError`] if the value is too large, or the store is full.
    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version>;

    /// Removes one record; `false` if the record was absent and `condition` allows that.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the record does not match `condition`.
    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool>;

    /// Reads the records under a prefix, in the order of their keys, page by page.
    ///
    /// Each page is read at one moment; a record that is there from the first page to the last is
    /// listed exactly once.
    ///
    /// A prefix whose name has a dot lies within one [group](Prefix::group), and every store lists it. A
    /// store without an order of keys may refuse others with [`Prefix::one_group`].
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] with [`Retry::Never`] if the store does not list several groups.
    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing>;

    /// Appends a batch to a log, all events or none, and returns the position of the last event. A log
    /// begins with its first event. The whole log expires with the expiry of its latest append.
    ///
    /// An empty batch checks `tail` and sets the expiry. Without a log it returns
    /// [`Position::START`], and creates none.
    ///
    /// Beyond `retention`, [`StoreLimits::max_log_events`] or [`StoreLimits::max_log_bytes`] the log
    /// drops its oldest events, but never the newest one.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Moved`] if the log does not end at `tail`.
    /// - [`LimitError`] if the batch is too large, or the store is full.
    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position>;

    /// Adds to a counter, which begins at 0, and returns the sum. The first addition sets the expiry,
    /// and the counter ends with it. A counter wakes no watcher.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if the sum does not fit in 64 bits, or the store is full.
    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64>;

    /// Reads the events of a log that come after a position, oldest first, `most` at a time.
    ///
    /// Reads at least one event if there is one. Reads fewer than `most` at the bounds
    /// [`StoreLimits::max_page_entries`] and [`StoreLimits::max_page_bytes`].
    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail>;

    /// Removes a log with all its events; `false` if the log was absent.
    ///
    /// Its positions are not used again, so a reader with such a position gets [`Tail::Lost`].
    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool>;

    /// Reports changes to records and logs under a prefix, from the moment the future is ready.
    ///
    /// Watch first, then read, then wait for the next item; so no change is missed. One item may
    /// report many changes, and an item may report none.
    ///
    /// A store without an order of keys reports changes of the one group that
    /// [`Prefix::watched_group`] returns, and may refuse a whole namespace.
    ///
    /// # Errors
    ///
    /// - [`LimitError`] if [`StoreLimits::max_watchers`] are waiting.
    /// - [`StoreError::Backend`] with [`Retry::Never`] if the store does not watch a whole namespace.
    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes>;

    /// Returns the time of the clock of the engine. Processes that share a store pass this time as *now*,
    /// because their own clocks may differ.
    ///
    /// Returns `None` if one process owns the store.
    fn time(&self) -> StoreFuture<'_, Option<StoreTime>>;

    /// Returns the epoch of the store. Stores `fresh` first if the store has none yet.
    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch>;

    /// Returns how the store bounds its content.
    fn capacity(&self) -> Capacity;

    /// Returns a number that no other opening of this store has, if the store belongs to one process
    /// at a time. A process that reads another number in a record knows that its writer has ended.
    ///
    /// None, the default, means that other processes may have the store open as well.
    fn opening(&self) -> Option<u64> {
        None
    }
}
