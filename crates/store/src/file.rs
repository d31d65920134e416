//! A store in a directory: durable, for one process on one host.
//!
//! The whole content is also in memory, so a read never touches the disk. A write goes to the disk
//! first. A record is a file that is replaced as a whole; a log is a file that grows at its end.
//! Both are written through (`fsync`) before the operation is acknowledged.

mod answer;
mod format;
mod journal;
mod recovery;
mod writer;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Retry, StoreError};
use crate::file_lock::FileLock;
use crate::limits::StoreLimits;
use crate::local::LocalStore;
use crate::table::Table;
use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};
use journal::FileJournal;
use writer::Writer;

pub use recovery::{Damage, Recovery};

/// Keeps records and logs in a directory, and in memory.
///
/// The directory belongs to one process: another one that opens it is refused while this one
/// lives, however it ends. On Unix its files can be read by their owner only.
///
/// Reads are ready at their first poll. Writes wait for the disk on a thread of the store, in the
/// order in which they were polled first; see [`StoreLimits::max_queued_writes`]. Dropping the store
/// waits for the write that the disk is at.
#[derive(Debug)]
pub struct FileStore {
    local: Arc<LocalStore<FileJournal>>,
    // Ends before the lock does: a process that opens the store next is alone with it.
    writer: Writer<FileJournal>,
    recovery: Recovery,
    opening: u64,
    _lock: FileLock,
}

impl FileStore {
    /// Opens the store in a directory, which is made if it is not there.
    ///
    /// Half-written files of a crash or a disk are repaired and reported by
    /// [`FileStore::recovery`]. Entries beyond lowered limits are kept; new entries are rejected.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if another process has the store open ([`Retry::Later`]), or if
    /// the directory cannot be read and written.
    pub fn open(directory: impl AsRef<Path>, limits: StoreLimits) -> Result<Self, StoreError> {
        let directory = directory.as_ref();
        Self::try_open(directory, &limits).map_err(backend)
    }

    fn try_open(directory: &Path, limits: &StoreLimits) -> io::Result<Self> {
        make_directory(directory)?;
        let lock = lock(directory)?;
        let mut table = Table::new(limits.clone());
        let mut recovery = Recovery::default();
        let mut journal = FileJournal::new(directory);
        let opening = recovery::load(directory, &mut table, &mut journal, &mut recovery)?;
        let local = Arc::new(LocalStore::new(table, journal, limits));
        let writer = Writer::start(Arc::clone(&local), limits)?;
        Ok(Self {
            local,
            writer,
            recovery,
            opening,
            _lock: lock,
        })
    }

    /// Returns the findings of the recovery at opening.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }
}

impl Store for FileStore {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(async move { Ok(self.local.get(now, key)) })
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        let (key, bytes) = (key.clone(), value.len());
        Box::pin(self.writer.run(bytes, move |local| {
            local.put(now, &key, &value, condition, expiry)
        }))
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        let key = key.clone();
        Box::pin(
            self.writer
                .run(0, move |local| local.remove(now, &key, condition)),
        )
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(async move { Ok(self.local.list(now, prefix, &page)) })
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
        let (log, events) = (log.clone(), events.to_vec());
        let bytes = events.iter().map(Bytes::len).sum();
        Box::pin(self.writer.run(bytes, move |local| {
            local.append(now, &log, &events, tail, retention, expiry)
        }))
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(async move { Ok(self.local.read(now, log, after, most)) })
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        let log = log.clone();
        Box::pin(self.writer.run(0, move |local| local.forget(now, &log)))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        let key = key.clone();
        Box::pin(
            self.writer
                .run(0, move |local| local.add(now, &key, amount, expiry)),
        )
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(async { Ok(None) })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(self.writer.run(0, move |local| local.epoch(fresh)))
    }

    fn capacity(&self) -> Capacity {
        Capacity::Exact
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(async move { Ok(self.local.changes(prefix)?) })
    }

    fn opening(&self) -> Option<u64> {
        Some(self.opening)
    }
}

fn backend(error: io::Error) -> StoreError {
    use io::ErrorKind as Kind;
    let retry = match error.kind() {
        Kind::Interrupted | Kind::ResourceBusy | Kind::TimedOut | Kind::WouldBlock => Retry::Later,
        Kind::StorageFull | Kind::QuotaExceeded => Retry::Later,
        _ => Retry::Never,
    };
    StoreError::backend(retry, error)
}

fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// The right to use the directory.
fn lock(directory: &Path) -> io::Result<FileLock> {
    let reason = "another process has the store open";
    let held = || io::Error::new(io::ErrorKind::ResourceBusy, reason);
    FileLock::try_acquire(&directory.join("lock"))?.ok_or_else(held)
}

/// Options for a file that only its owner may read and write.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a file under another name and waits for the disk; [`replace`] then gives it its name.
fn write_aside(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = private();
    options.write(true).create(true).truncate(true);
    let mut file = options.open(target.with_extension(UNFINISHED))?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}

/// Replaces `target` as a whole with the file that [`write_aside`] wrote.
fn replace(target: &Path) -> io::Result<()> {
    fs::rename(target.with_extension(UNFINISHED), target)
}

/// The ending of files that are not finished.
const UNFINISHED: &str = "tmp";

/// Waits until the disk has the names in a directory.
fn sync_directory(directory: &Path) -> io::Result<()> {
    // Elsewhere a directory cannot be opened, and names are written through by the system.
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
