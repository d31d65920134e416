//! A store in a directory: durable, for one process on one host.
//!
//! What is stored is also in memory, so reading never touches the disk. A write goes to the disk
//! first: a record is a file that is replaced as a whole, a log is a file that grows at its end.
//! Both are written through (`fsync`) before the operation is acknowledged.

mod format;
mod journal;
mod lock;
mod recovery;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use crate::engine::{Engine, store_by_engine};
use crate::error::{Retry, StoreError};
use crate::limits::StoreLimits;
use crate::table::Table;
use journal::FileJournal;
use lock::Lock;

pub use recovery::{Damage, Recovery};

/// Keeps records and logs in a directory, and in memory.
///
/// The directory belongs to one process: another one that opens it is refused while this one
/// lives, however it ends. On Unix its files can be read by their owner only.
///
/// Operations do not wait: a future is ready at its first poll. But a write blocks its thread, and
/// whoever reads meanwhile, until the disk has it, which takes milliseconds; where that hurts, poll
/// it on a thread for blocking work.
#[derive(Debug)]
pub struct FileStore {
    engine: Engine<FileJournal>,
    recovery: Recovery,
    _lock: Lock,
}

impl FileStore {
    /// Opens the store in a directory, which is made if it is not there.
    ///
    /// What a crash or a disk left half-written is put right, and told by
    /// [`FileStore::recovery`]. What the limits no longer allow is kept; nothing is added to it.
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
        let lock = Lock::take(&directory.join("lock"))?;
        let mut table = Table::new(limits.clone());
        let mut recovery = Recovery::default();
        let mut journal = FileJournal::new(directory);
        recovery::load(directory, &mut table, &mut journal, &mut recovery)?;
        Ok(Self {
            engine: Engine::new(table, journal, limits),
            recovery,
            _lock: lock,
        })
    }

    /// What was found when the store was opened.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }
}

store_by_engine!(FileStore);

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

/// Puts what [`write_aside`] wrote in the place of `target`, as a whole.
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
