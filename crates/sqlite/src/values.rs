//! Values of the store as values of SQLite.

use pintle_store::{Expiry, LimitError, Position, Retry, StoreError, StoreTime};
use rusqlite::{Connection, ErrorCode};

/// Converts a time to milliseconds. The times beyond 63 bits are one time.
pub(crate) fn millis(time: StoreTime) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn expiry_column(expiry: Expiry) -> Option<i64> {
    expiry.moment().map(millis)
}

pub(crate) fn expiry(column: Option<i64>) -> Expiry {
    column.map_or(Expiry::Never, |at| {
        Expiry::At(StoreTime::from_millis(at.unsigned_abs()))
    })
}

/// Converts a version or position. The sequence of a database stays below 63 bits.
pub(crate) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn position(column: i64) -> Position {
    Position::new(column.unsigned_abs())
}

/// Returns the next version or position.
pub(crate) fn next(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("UPDATE sequence SET last = last + 1 RETURNING last")?
        .query_row([], |row| row.get(0))
}

pub(crate) fn backend(error: rusqlite::Error) -> StoreError {
    let retry = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
            Retry::Later
        }
        _ => Retry::Never,
    };
    StoreError::backend(retry, error)
}

/// The error of an operation: of SQLite, or of the contract.
pub(crate) struct Failed(pub(crate) StoreError);

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self(backend(error))
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl From<LimitError> for Failed {
    fn from(error: LimitError) -> Self {
        Self(error.into())
    }
}
