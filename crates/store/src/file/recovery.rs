//! Reading a directory back, whatever state it was left in.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind as Kind};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::journal::{COUNT, EPOCH, FileId, FileJournal, LogFile, file_stem};
use super::{UNFINISHED, format, private, sync_directory};
use crate::table::{Change, Table};

/// Findings of the recovery when a store was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// Records that were read.
    pub records: usize,
    /// Logs that were read.
    pub logs: usize,
    /// Counters that were read.
    pub counters: usize,
    /// Writes that a crash interrupted before they were acknowledged; nothing of them is left.
    pub unfinished: usize,
    /// Damaged files. Their writes may have been acknowledged.
    pub damage: Vec<Damage>,
}

/// Something in the directory that is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// A record, the beginning of a log, or the count of versions cannot be read.
    File {
        /// Path of the moved file, for an operator to inspect.
        aside: PathBuf,
    },
    /// A log is whole up to some event only. It goes on behind that one.
    Tail {
        /// Where the rest was put, for a human to look at. The file of the log itself if the disk was
        /// full; the next append to the log drops the rest then.
        aside: PathBuf,
        /// How much that is, in bytes.
        bytes: u64,
    },
}

/// Fills an empty table from a directory. Returns the first number of this opening.
///
/// Writes nothing that needs room, because a store on a full disk must still be read.
pub(super) fn load(
    directory: &Path,
    table: &mut Table,
    journal: &mut FileJournal,
    recovery: &mut Recovery,
) -> io::Result<u64> {
    let mut loader = Loader {
        table,
        journal,
        recovery,
        last: 0,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    // Older files first, so that of two with the same key the younger one stays.
    paths.sort();
    for path in paths {
        loader.load_file(&path)?;
    }
    let begin = loader.begin_count(&directory.join(COUNT))?;
    sync_directory(directory)?;
    Ok(begin)
}

/// 2^40 numbers for each opening: 34 years at a thousand writes a second, 16 million openings.
const RANGE_BITS: u32 = 40;

struct Loader<'a> {
    table: &'a mut Table,
    journal: &'a mut FileJournal,
    recovery: &'a mut Recovery,
    /// The greatest version or position seen.
    last: u64,
}

impl Loader<'_> {
    fn load_file(&mut self, path: &Path) -> io::Result<()> {
        let extension = path.extension().and_then(|it| it.to_str());
        match (extension, file_id(path)) {
            (Some("record"), Some(id)) => self.load_record(path, id),
            (Some("log"), Some(id)) => self.load_log(path, id),
            (Some("counter"), Some(id)) => self.load_counter(path, id),
            (None, None) if path.ends_with(EPOCH) => self.load_epoch(path),
            (Some(UNFINISHED), _) => {
                self.recovery.unfinished += 1;
                fs::remove_file(path)
            }
            // The store owns `count`, `epoch`, `lock` and the damaged files set aside. It ignores all other
            // files.
            _ => Ok(()),
        }
    }

    fn load_record(&mut self, path: &Path, id: FileId) -> io::Result<()> {
        let bytes = Bytes::from(fs::read(path)?);
        let Some((key, record)) = format::read_record(&bytes) else {
            return self.set_aside(path);
        };
        self.last = self.last.max(record.version.get()).max(id);
        self.recovery.records += 1;
        let older = self.journal.adopt_record(key.clone(), id);
        self.table.apply(Change::Put { key, record });
        older.map_or(Ok(()), |older| {
            self.recovery.records -= 1;
            fs::remove_file(older)
        })
    }

    fn load_log(&mut self, path: &Path, id: FileId) -> io::Result<()> {
        let bytes = Bytes::from(fs::read(path)?);
        let Some(found) = format::read_log(&bytes) else {
            return self.set_aside(path);
        };
        self.last = self.last.max(found.birth.get()).max(id);
        let events = found.frames.iter().flat_map(|frame| &frame.events);
        let Some(latest) = events.map(|event| event.position).max() else {
            return self.set_aside(path);
        };
        self.last = self.last.max(latest.get());
        let is_cut = found.whole == bytes.len()
            || self.cut(path, &bytes.slice(found.whole..), found.whole)?;
        let log = found.log.clone();
        self.table.apply(Change::Forget { log });
        for frame in found.frames {
            self.table.apply(Change::Append(frame));
        }
        self.recovery.logs += 1;
        let bytes = is_cut.then_some(found.whole as u64);
        let older = self.journal.adopt_log(found.log, LogFile { id, bytes });
        older.map_or(Ok(()), |older| {
            self.recovery.logs -= 1;
            fs::remove_file(older)
        })
    }

    fn load_counter(&mut self, path: &Path, id: FileId) -> io::Result<()> {
        let bytes = Bytes::from(fs::read(path)?);
        let Some((key, counter)) = format::read_counter(&bytes, id) else {
            return self.set_aside(path);
        };
        self.last = self.last.max(id);
        self.recovery.counters += 1;
        let older = self.table.counter(&key);
        self.table.apply(Change::Count { key, counter });
        older.map_or(Ok(()), |older| {
            self.recovery.counters -= 1;
            fs::remove_file(self.journal.counter_path(older.birth))
        })
    }

    fn load_epoch(&mut self, path: &Path) -> io::Result<()> {
        let bytes = Bytes::from(fs::read(path)?);
        let Some(epoch) = format::read_epoch(&bytes) else {
            return self.set_aside(path);
        };
        self.table.apply(Change::Epoch(epoch));
        Ok(())
    }

    /// Cuts a log after its last complete frame and stores the rest in a file beside it. Returns
    /// false if the disk has no room for the rest. Then the rest stays in the log until the next
    /// append rewrites the file.
    fn cut(&mut self, path: &Path, rest: &[u8], whole: usize) -> io::Result<bool> {
        let aside = with_suffix(path, "tail");
        let bytes = rest.len() as u64;
        if let Err(error) = write_rest(&aside, rest) {
            if !matches!(error.kind(), Kind::StorageFull | Kind::QuotaExceeded) {
                return Err(error);
            }
            let aside = path.to_owned();
            self.recovery.damage.push(Damage::Tail { aside, bytes });
            return Ok(false);
        }
        let log = OpenOptions::new().write(true).open(path)?;
        log.set_len(whole as u64)?;
        log.sync_all()?;
        self.recovery.damage.push(Damage::Tail { aside, bytes });
        Ok(true)
    }

    /// Begins a range of numbers far above the range of the last opening. So no number is used
    /// twice, even if its entry was removed. The journal stores the range before it uses its first
    /// number.
    fn begin_count(&mut self, path: &Path) -> io::Result<u64> {
        let stored = match fs::read(path) {
            Ok(bytes) => format::read_count(&Bytes::from(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(0),
            Err(error) => return Err(error),
        };
        if stored.is_none() {
            self.set_aside(path)?;
        }
        let last = self.last.max(stored.unwrap_or_default());
        let begin = ((last >> RANGE_BITS) + 1) << RANGE_BITS;
        self.journal.begin_count(begin);
        self.table.count_from(begin);
        Ok(begin)
    }

    fn set_aside(&mut self, path: &Path) -> io::Result<()> {
        let aside = with_suffix(path, "damaged");
        fs::rename(path, &aside)?;
        self.recovery.damage.push(Damage::File { aside });
        Ok(())
    }
}

fn write_rest(aside: &Path, rest: &[u8]) -> io::Result<()> {
    let mut options = private();
    options.write(true).create(true).truncate(true);
    io::Write::write_all(&mut options.open(aside)?, rest)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// The number in the name of a file, if the name is exactly the one that the journal gives it.
fn file_id(path: &Path) -> Option<FileId> {
    let stem = path.file_stem()?.to_str()?;
    let id = FileId::from_str_radix(stem, 16).ok()?;
    (file_stem(id) == stem).then_some(id)
}
