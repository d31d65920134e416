//! The format of the files: big-endian numbers, and a checksum after each part that is read whole.
//!
//! ```text
//! record   "PTR1" version:8 expiry:8 key value checksum:4
//! log      "PTL2" birth:8 key checksum:4, then frames
//! frame    horizon:8 expiry:8 number of events:4, then events, then checksum:4
//! event    position:8 value
//! counter  "PTA1" sum:8 expiry:8 key checksum:4
//! count    "PTC1" number:8 checksum:4
//! epoch    "PTE1" bits:16 checksum:4
//! key, value   length:4 bytes
//! ```

use bytes::{Buf, BufMut, Bytes};

use crate::checksum::crc32;
use crate::epoch::Epoch;
use crate::key::Key;
use crate::log::Event;
use crate::position::Position;
use crate::record::{Expiry, Record};
use crate::store_time::StoreTime;
use crate::table::{Append, Counter};
use crate::version::Version;

const RECORD: &[u8; 4] = b"PTR1";
const LOG: &[u8; 4] = b"PTL2";
const COUNTER: &[u8; 4] = b"PTA1";
const COUNT: &[u8; 4] = b"PTC1";
const EPOCH: &[u8; 4] = b"PTE1";

pub(super) fn record(key: &Key, record: &Record) -> Vec<u8> {
    let mut out = RECORD.to_vec();
    out.put_u64(record.version.get());
    out.put_u64(expiry_number(record.expiry));
    put_bytes(&mut out, key.as_str().as_bytes());
    put_bytes(&mut out, &record.value);
    seal(&mut out, 0);
    out
}

/// `None` unless `file` is exactly one record.
pub(super) fn read_record(file: &Bytes) -> Option<(Key, Record)> {
    let mut reader = Reader::new(file, RECORD)?;
    let version = Version::new(reader.number()?);
    let expiry = expiry(reader.number()?);
    let key = reader.key()?;
    let value = reader.bytes()?;
    reader.seal()?;
    reader.is_at_end().then_some(())?;
    Some((key, Record::new(value, version, expiry)))
}

pub(super) fn log_head(log: &Key, birth: Position) -> Vec<u8> {
    let mut out = LOG.to_vec();
    out.put_u64(birth.get());
    put_bytes(&mut out, log.as_str().as_bytes());
    seal(&mut out, 0);
    out
}

pub(super) fn put_frame(out: &mut Vec<u8>, events: &[Event], horizon: Position, expiry: Expiry) {
    let from = out.len();
    out.put_u64(horizon.get());
    out.put_u64(expiry_number(expiry));
    put_length(out, events.len());
    for event in events {
        out.put_u64(event.position.get());
        put_bytes(out, &event.value);
    }
    seal(out, from);
}

/// Content of a log file, up to the first incomplete part.
pub(super) struct LogFile {
    pub(super) birth: Position,
    pub(super) log: Key,
    pub(super) frames: Vec<Append>,
    /// How much of the file that is, in bytes.
    pub(super) whole: usize,
}

/// `None` if not even the head is whole.
pub(super) fn read_log(file: &Bytes) -> Option<LogFile> {
    let mut reader = Reader::new(file, LOG)?;
    let birth = Position::new(reader.number()?);
    let log = reader.key()?;
    reader.seal()?;
    let mut whole = reader.at;
    let mut frames = Vec::new();
    while let Some(frame) = read_frame(&mut reader, &log, birth) {
        frames.push(frame);
        whole = reader.at;
    }
    Some(LogFile {
        birth,
        log,
        frames,
        whole,
    })
}

fn read_frame(reader: &mut Reader<'_>, log: &Key, birth: Position) -> Option<Append> {
    reader.from = reader.at;
    let horizon = Position::new(reader.number()?);
    let expiry = expiry(reader.number()?);
    let mut events = Vec::new();
    for _ in 0..reader.length()? {
        let position = Position::new(reader.number()?);
        events.push(Event::new(position, reader.bytes()?));
    }
    reader.seal()?;
    Some(Append {
        log: log.clone(),
        birth,
        events,
        expiry,
        horizon,
    })
}

pub(super) fn counter(key: &Key, counter: Counter) -> Vec<u8> {
    let mut out = COUNTER.to_vec();
    out.put_i64(counter.sum);
    out.put_u64(expiry_number(counter.expiry));
    put_bytes(&mut out, key.as_str().as_bytes());
    seal(&mut out, 0);
    out
}

/// Reads the counter that was born as `birth`. Returns `None` unless `file` is exactly one counter.
pub(super) fn read_counter(file: &Bytes, birth: u64) -> Option<(Key, Counter)> {
    let mut reader = Reader::new(file, COUNTER)?;
    let sum = reader.take(8)?.get_i64();
    let expiry = expiry(reader.number()?);
    let key = reader.key()?;
    reader.seal()?;
    reader.is_at_end().then_some(())?;
    Some((key, Counter { birth, sum, expiry }))
}

pub(super) fn epoch(epoch: Epoch) -> Vec<u8> {
    let mut out = EPOCH.to_vec();
    out.put_u128(epoch.get());
    seal(&mut out, 0);
    out
}

pub(super) fn read_epoch(file: &Bytes) -> Option<Epoch> {
    let mut reader = Reader::new(file, EPOCH)?;
    let epoch = Epoch::new(reader.take(16)?.get_u128());
    reader.seal()?;
    reader.is_at_end().then_some(epoch)
}

pub(super) fn count(number: u64) -> Vec<u8> {
    let mut out = COUNT.to_vec();
    out.put_u64(number);
    seal(&mut out, 0);
    out
}

pub(super) fn read_count(file: &Bytes) -> Option<u64> {
    let mut reader = Reader::new(file, COUNT)?;
    let number = reader.number()?;
    reader.seal()?;
    reader.is_at_end().then_some(number)
}

/// No moment is this one: the last millisecond that can be counted stands for *never*.
const NEVER: u64 = u64::MAX;

fn expiry_number(expiry: Expiry) -> u64 {
    expiry.moment().map_or(NEVER, StoreTime::as_millis)
}

fn expiry(number: u64) -> Expiry {
    match number {
        NEVER => Expiry::Never,
        millis => Expiry::At(StoreTime::from_millis(millis)),
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.put_slice(bytes);
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    let length = u32::try_from(length).expect("the limits of a store are less than 4 GiB");
    out.put_u32(length);
}

fn seal(out: &mut Vec<u8>, from: usize) {
    let sum = crc32(&out[from..]);
    out.put_u32(sum);
}

/// Reads a file from its beginning; every step is `None` where the file ends too early.
struct Reader<'a> {
    file: &'a Bytes,
    at: usize,
    /// Where what the next checksum covers begins.
    from: usize,
}

impl<'a> Reader<'a> {
    fn new(file: &'a Bytes, magic: &[u8; 4]) -> Option<Self> {
        file.starts_with(magic).then_some(Self {
            file,
            at: magic.len(),
            from: 0,
        })
    }

    fn number(&mut self) -> Option<u64> {
        Some(self.take(8)?.get_u64())
    }

    fn length(&mut self) -> Option<u32> {
        Some(self.take(4)?.get_u32())
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let length = self.length()?;
        let bytes = self.take(length as usize)?;
        // A slice would keep the whole file in memory.
        Some(Bytes::copy_from_slice(&bytes))
    }

    fn key(&mut self) -> Option<Key> {
        let bytes = self.bytes()?;
        Key::parse(std::str::from_utf8(&bytes).ok()?).ok()
    }

    fn seal(&mut self) -> Option<()> {
        let sum = crc32(&self.file[self.from..self.at]);
        (self.take(4)?.get_u32() == sum).then_some(())
    }

    fn take(&mut self, length: usize) -> Option<Bytes> {
        let end = self.at.checked_add(length)?;
        let taken = (end <= self.file.len()).then(|| self.file.slice(self.at..end))?;
        self.at = end;
        Some(taken)
    }

    fn is_at_end(&self) -> bool {
        self.at == self.file.len()
    }
}
