//! Values of the store as values of Redis.

use std::time::Duration;

use bytes::Bytes;
use pintle_store::{Expiry, Precondition, Record, StoreTime, Version};

/// The last time. Numbers in scripts have 53 bits, so all later times are this one.
const LAST_MILLIS: u64 = (1 << 53) - 1;

/// The expiry in a head for an entry that never expires. It is after every time.
const NEVER: u64 = u64::MAX;

/// Redis deletes an entry this long after its expiry, because the clocks of processes differ. The mark
/// of a log that was removed lives as long.
const DELETION_DELAY: Duration = Duration::from_secs(60);

/// Length of the version and the expiry before a value.
const HEAD_BYTES: usize = 16;

pub(crate) fn millis(time: StoreTime) -> u64 {
    time.as_millis().min(LAST_MILLIS)
}

/// Returns an expiry as a number for a script.
pub(crate) fn expiry_number(expiry: Expiry) -> u64 {
    // 2^53 is after the last time, and a number of a script can have it.
    expiry.moment().map_or(LAST_MILLIS + 1, millis)
}

/// Returns the time after which Redis deletes an entry, in milliseconds: empty if it never does.
///
/// Only the time in the entry decides whether it has expired.
pub(crate) fn lifetime(now: StoreTime, expiry: Expiry) -> String {
    let Some(moment) = expiry.moment() else {
        return String::new();
    };
    let left = millis(moment).saturating_sub(millis(now));
    let lifetime = left + deletion_delay();
    // Redis adds its own clock, and 63 bits must hold the sum.
    if lifetime > LAST_MILLIS / 2 {
        return String::new();
    }
    lifetime.to_string()
}

/// Returns the lifetime of the mark of a log that was removed, in milliseconds.
pub(crate) fn deletion_delay() -> u64 {
    DELETION_DELAY.as_secs() * 1_000
}

/// Returns a version that a record never had: 64 random bits.
pub(crate) fn fresh_version() -> Result<Version, getrandom::Error> {
    getrandom::u64().map(Version::new)
}

/// Returns a value with its head: version, expiry.
pub(crate) fn encode(version: Version, expiry: Expiry, value: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(HEAD_BYTES + value.len());
    record.extend_from_slice(&version.get().to_be_bytes());
    let expiry = expiry.moment().map_or(NEVER, millis);
    record.extend_from_slice(&expiry.to_be_bytes());
    record.extend_from_slice(value);
    record
}

/// Reads a value with its head. `None` if another program wrote it.
pub(crate) fn decode(record: &Bytes) -> Option<Record> {
    let version = version(record.get(..8)?)?;
    let expiry = record.get(8..HEAD_BYTES)?.try_into().ok()?;
    let expiry = match u64::from_be_bytes(expiry) {
        NEVER => Expiry::Never,
        at => Expiry::At(StoreTime::from_millis(at)),
    };
    let value = record.slice(HEAD_BYTES..);
    Some(Record::new(value, version, expiry))
}

/// Reads a version of 8 bytes.
pub(crate) fn version(bytes: &[u8]) -> Option<Version> {
    let bytes = bytes.try_into().ok()?;
    Some(Version::new(u64::from_be_bytes(bytes)))
}

/// Returns a condition for a script: `*` for any record, `-` for none, or a version of 8 bytes.
pub(crate) fn condition(condition: Precondition) -> Vec<u8> {
    match condition {
        Precondition::Any => b"*".to_vec(),
        Precondition::Absent => b"-".to_vec(),
        Precondition::Version(version) => version.get().to_be_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for expiry in [Expiry::Never, Expiry::At(StoreTime::from_millis(7))] {
            let record = encode(Version::new(u64::MAX), expiry, b"\0value");
            let expected = Record::new("\0value".into(), Version::new(u64::MAX), expiry);
            assert_eq!(decode(&record.into()), Some(expected));
        }
        assert_eq!(decode(&Bytes::from_static(b"of another one")), None);
    }

    #[test]
    fn an_entry_is_deleted_a_minute_after_its_expiry() {
        let at = |millis| Expiry::At(StoreTime::from_millis(millis));
        let now = StoreTime::from_millis(1_000);
        assert_eq!(lifetime(now, at(3_000)), "62000");
        assert_eq!(lifetime(now, at(0)), "60000");
        assert_eq!(lifetime(now, at(u64::MAX)), "");
        assert_eq!(lifetime(now, Expiry::Never), "");
    }

    #[test]
    fn an_entry_without_expiry_outlives_the_last_time() {
        let last = StoreTime::from_millis(u64::MAX);
        assert!(expiry_number(Expiry::Never) > millis(last));
        assert_eq!(expiry_number(Expiry::At(last)), millis(last));
    }
}
