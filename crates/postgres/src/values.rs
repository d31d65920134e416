//! Values of the store as values of PostgreSQL.

use bytes::Bytes;
use pintle_store::{
    Expiry, Position, Precondition, Prefix, Record, StoreError, StoreTime, Version,
};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::operation_error::OperationError;

/// Converts a time to milliseconds. The times beyond 63 bits are one time.
pub(crate) fn millis(time: StoreTime) -> i64 {
    number(time.as_millis())
}

pub(crate) fn expiry_column(expiry: Expiry) -> Option<i64> {
    expiry.moment().map(millis)
}

fn expiry(column: Option<i64>) -> Expiry {
    column.map_or(Expiry::Never, |at| {
        Expiry::At(StoreTime::from_millis(at.unsigned_abs()))
    })
}

/// Converts a version or position. The sequences stay below 63 bits.
pub(crate) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a size or a count. The sum of two of them has room in 63 bits.
pub(crate) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX).min(i64::MAX / 4)
}

pub(crate) fn position(column: i64) -> Position {
    Position::new(column.unsigned_abs())
}

pub(crate) fn version(column: i64) -> Version {
    Version::new(column.unsigned_abs())
}

/// Returns the version that a record must have: none for any, and 0 for no record.
pub(crate) fn expected(condition: Precondition) -> Option<i64> {
    match condition {
        Precondition::Any => None,
        Precondition::Absent => Some(0),
        // No record has this version.
        Precondition::Version(version) if version.get() == 0 => Some(i64::MAX),
        Precondition::Version(version) => Some(number(version.get())),
    }
}

/// Returns the first text behind all keys with this prefix, in the order of bytes.
pub(crate) fn end_of(prefix: &Prefix) -> String {
    let mut text = prefix.as_str().to_owned();
    while let Some(last) = text.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            break;
        }
    }
    text
}

/// Reads value, version and expiry, which begin at column `first`.
pub(crate) fn record(row: &Row, first: usize) -> Result<Record, StoreError> {
    let value: Vec<u8> = column(row, first)?;
    Ok(Record::new(
        Bytes::from(value),
        version(column(row, first + 1)?),
        expiry(column(row, first + 2)?),
    ))
}

/// Reads one column.
pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, number: usize) -> Result<T, StoreError> {
    let found = row.try_get(number);
    found.map_err(|error| OperationError::Unexpected(error.to_string()).into())
}

/// Returns the only row of an answer.
pub(crate) fn only(rows: &[Row]) -> Result<&Row, StoreError> {
    match rows {
        [row] => Ok(row),
        _ => {
            let text = format!("{} rows instead of one", rows.len());
            Err(OperationError::Unexpected(text).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use pintle_store::{Key, Namespace};

    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_behind_its_keys() {
        let space = Namespace::fixed("a");
        for start in ["", "b", "\u{d7ff}", "\u{10ffff}", "b\u{10ffff}"] {
            let prefix = Prefix::new(&space, start).expect("a prefix");
            let end = end_of(&prefix);
            assert!(end.as_str() > prefix.as_str(), "{start:?}");
            for more in ["", "z", "\u{10ffff}\u{10ffff}"] {
                let name = format!("{start}{more}");
                if let Ok(key) = Key::new(&space, &name) {
                    assert!(key.as_str() < end.as_str(), "{name:?}");
                }
            }
            assert!(end.len() <= prefix.as_str().len() + 1);
        }
        assert_eq!(end_of(&Prefix::all(&space)), "a0");
    }
}
