//! Writes changes to the directory, in an order that a crash at any point leaves readable.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{backend, format, private, replace, sync_directory, write_aside};
use crate::epoch::Epoch;
use crate::key::Key;
use crate::local::{CommitError, Journal};
use crate::record::Record;
use crate::table::{Append, Change, Counter, Table};

/// Which file holds what.
#[derive(Debug)]
pub(super) struct FileJournal {
    directory: PathBuf,
    files_by_record: BTreeMap<Key, FileId>,
    files_by_log: BTreeMap<Key, LogFile>,
    /// Where the numbers of this opening begin, until that is written down.
    unwritten_count: Option<u64>,
}

/// The file that remembers which numbers were given out.
pub(super) const COUNT: &str = "count";

/// The file that contains the epoch of the store.
pub(super) const EPOCH: &str = "epoch";

/// The first version of the record in a file, or the birth of the log: names do not come from
/// keys, which may be too long, or differ in case only.
pub(super) type FileId = u64;

/// The file of one log.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogFile {
    pub(super) id: FileId,
    /// How long it is; `None` when that is unknown, because a write failed.
    pub(super) bytes: Option<u64>,
}

impl FileJournal {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            files_by_record: BTreeMap::new(),
            files_by_log: BTreeMap::new(),
            unwritten_count: None,
        }
    }

    /// Writes down with the first change that the numbers begin here.
    pub(super) fn begin_count(&mut self, begin: u64) {
        self.unwritten_count = Some(begin);
    }

    /// Takes over the file of a record. Gives the file of an older record of the same key, which
    /// a crash has brought back.
    pub(super) fn adopt_record(&mut self, key: Key, id: FileId) -> Option<PathBuf> {
        let older = self.files_by_record.insert(key, id);
        older.map(|id| self.record_path(id))
    }

    /// Takes over the file of a log. Gives the file of an older log under the same key.
    pub(super) fn adopt_log(&mut self, log: Key, file: LogFile) -> Option<PathBuf> {
        let older = self.files_by_log.insert(log, file);
        older.map(|file| self.log_path(file.id))
    }

    fn record_path(&self, id: FileId) -> PathBuf {
        self.directory.join(format!("{}.record", file_stem(id)))
    }

    pub(super) fn counter_path(&self, birth: u64) -> PathBuf {
        self.directory.join(format!("{}.counter", file_stem(birth)))
    }

    fn log_path(&self, id: FileId) -> PathBuf {
        self.directory.join(format!("{}.log", file_stem(id)))
    }

    fn put(&mut self, key: &Key, record: &Record) -> Result<(), CommitError> {
        let known = self.files_by_record.get(key);
        let id = known.copied().unwrap_or(record.version.get());
        self.write_whole(&self.record_path(id), &format::record(key, record))?;
        self.files_by_record.insert(key.clone(), id);
        self.sync()
    }

    fn remove(&mut self, key: &Key) -> Result<(), CommitError> {
        let id = self.files_by_record.get(key);
        let id = *id.expect("every record has a file");
        delete(&self.record_path(id)).map_err(unseen)?;
        self.files_by_record.remove(key);
        self.sync()
    }

    fn append(&mut self, table: &Table, append: &Append) -> Result<(), CommitError> {
        let mut frame = Vec::new();
        format::put_frame(&mut frame, &append.events, append.horizon, append.expiry);
        let file = self.files_by_log.get(&append.log).copied();
        match file.and_then(|file| Some((file.id, file.bytes?))) {
            Some((id, bytes)) if !is_wasteful(bytes, table, &append.log) => {
                self.grow(&append.log, id, bytes, &frame).map_err(unseen)
            }
            _ => self.rewrite(table, append, &frame),
        }
    }

    /// Adds a frame to a file of `bytes` bytes.
    fn grow(&mut self, log: &Key, id: FileId, bytes: u64, frame: &[u8]) -> io::Result<()> {
        // The length of the file is unknown until the frame is complete. If the append fails, the
        // next one rewrites the file.
        self.files_by_log
            .insert(log.clone(), LogFile { id, bytes: None });
        let mut file = private().append(true).open(self.log_path(id))?;
        file.write_all(frame)?;
        file.sync_data()?;
        let bytes = Some(bytes + frame.len() as u64);
        self.files_by_log.insert(log.clone(), LogFile { id, bytes });
        Ok(())
    }

    /// Rewrites the file of a log with the remaining events and one more frame.
    fn rewrite(&mut self, table: &Table, append: &Append, frame: &[u8]) -> Result<(), CommitError> {
        let (log, birth) = (&append.log, append.birth);
        let mut out = format::log_head(log, birth);
        if let Some(found) = table.log(log) {
            let left = found.events().filter(|it| it.position > append.horizon);
            left.for_each(|event| {
                let event = std::slice::from_ref(event);
                format::put_frame(&mut out, event, append.horizon, append.expiry);
            });
        }
        out.extend_from_slice(frame);
        let id = birth.get();
        self.write_whole(&self.log_path(id), &out)?;
        let bytes = Some(out.len() as u64);
        self.files_by_log.insert(log.clone(), LogFile { id, bytes });
        self.sync()
    }

    fn forget(&mut self, log: &Key) -> Result<(), CommitError> {
        let file = self.files_by_log.get(log);
        let id = file.expect("every log has a file").id;
        delete(&self.log_path(id)).map_err(unseen)?;
        self.files_by_log.remove(log);
        self.sync()
    }

    fn count(&self, key: &Key, counter: Counter) -> Result<(), CommitError> {
        let path = self.counter_path(counter.birth);
        self.write_whole(&path, &format::counter(key, counter))?;
        self.sync()
    }

    fn remove_counter(&self, table: &Table, key: &Key) -> Result<(), CommitError> {
        let counter = table
            .counter(key)
            .expect("a removed counter is in the table");
        delete(&self.counter_path(counter.birth)).map_err(unseen)?;
        self.sync()
    }

    fn write_epoch(&self, epoch: Epoch) -> Result<(), CommitError> {
        self.write_whole(&self.directory.join(EPOCH), &format::epoch(epoch))?;
        self.sync()
    }

    fn write_count(&mut self) -> Result<(), CommitError> {
        if let Some(begin) = self.unwritten_count {
            self.write_whole(&self.directory.join(COUNT), &format::count(begin))?;
            self.unwritten_count = None;
        }
        Ok(())
    }

    fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<(), CommitError> {
        write_aside(path, bytes).map_err(unseen)?;
        replace(path).map_err(unseen)
    }

    fn sync(&self) -> Result<(), CommitError> {
        sync_directory(&self.directory).map_err(|error| CommitError {
            is_visible: true,
            error: backend(error),
        })
    }
}

impl Journal for FileJournal {
    fn commit(&mut self, table: &Table, change: &Change) -> Result<(), CommitError> {
        // What removes gives out no number, and must be possible on a full disk.
        if let Change::Put { .. } | Change::Append(_) | Change::Count { .. } = change {
            self.write_count()?;
        }
        match change {
            Change::Put { key, record } => self.put(key, record),
            Change::Remove { key } => self.remove(key),
            Change::Append(append) => self.append(table, append),
            Change::Forget { log } => self.forget(log),
            Change::Count { key, counter } => self.count(key, *counter),
            Change::RemoveCounter { key } => self.remove_counter(table, key),
            Change::Epoch(epoch) => self.write_epoch(*epoch),
        }
    }
}

/// Whether most of a log file is events that were dropped.
fn is_wasteful(bytes: u64, table: &Table, log: &Key) -> bool {
    let Some(log) = table.log(log) else {
        return true;
    };
    let live = log.bytes() + log.len() * FRAME_BYTES;
    bytes > (2 * live + SLACK_BYTES) as u64
}

/// Bytes of a frame with one event, besides its value.
const FRAME_BYTES: usize = 36;

/// Not worth a new file.
const SLACK_BYTES: usize = 64 << 10;

/// The name of a file without its ending.
pub(super) fn file_stem(id: FileId) -> String {
    format!("{id:016x}")
}

fn delete(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        // The file was deleted by hand, so the goal is reached.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn unseen(error: io::Error) -> CommitError {
    CommitError {
        is_visible: false,
        error: backend(error),
    }
}
