//! Operations on records.

use bytes::Bytes;
use pintle_store::{
    Expiry, Key, Listing, Page, PageRoom, Precondition, Prefix, Record, StoreLimits, StoreTime,
    Version,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::values::{Failed, expiry, expiry_column, millis, next};

pub(crate) fn get(
    connection: &Connection,
    now: StoreTime,
    key: &Key,
) -> Result<Option<Record>, Failed> {
    let sql = "SELECT value, version, expiry FROM records
        WHERE key = ?1 AND (expiry IS NULL OR expiry > ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![key.as_str(), millis(now)], |row| record(row, 0));
    Ok(found.optional()?)
}

/// Reads value, version and expiry, which begin at column `first`.
fn record(row: &Row<'_>, first: usize) -> rusqlite::Result<Record> {
    let value: Vec<u8> = row.get(first)?;
    let version: i64 = row.get(first + 1)?;
    Ok(Record::new(
        Bytes::from(value),
        Version::new(version.unsigned_abs()),
        expiry(row.get(first + 2)?),
    ))
}

fn version(
    write: &Transaction<'_>,
    now: StoreTime,
    key: &Key,
) -> rusqlite::Result<Option<Version>> {
    let sql = "SELECT version FROM records
        WHERE key = ?1 AND (expiry IS NULL OR expiry > ?2)";
    let mut statement = write.prepare_cached(sql)?;
    let found = statement.query_row(params![key.as_str(), millis(now)], |row| row.get(0));
    Ok(found
        .optional()?
        .map(|version: i64| Version::new(version.unsigned_abs())))
}

pub(crate) fn put(
    write: &Transaction<'_>,
    now: StoreTime,
    key: &Key,
    value: &Bytes,
    condition: Precondition,
    expiry: Expiry,
) -> Result<Version, Failed> {
    condition.check(version(write, now, key)?)?;
    let version = next(write)?;
    let sql =
        "INSERT OR REPLACE INTO records (key, value, version, expiry) VALUES (?1, ?2, ?3, ?4)";
    let row = params![key.as_str(), &value[..], version, expiry_column(expiry)];
    write.prepare_cached(sql)?.execute(row)?;
    Ok(Version::new(version.unsigned_abs()))
}

pub(crate) fn remove(
    write: &Transaction<'_>,
    now: StoreTime,
    key: &Key,
    condition: Precondition,
) -> Result<bool, Failed> {
    let found = version(write, now, key)?;
    condition.check(found)?;
    let sql = "DELETE FROM records WHERE key = ?1";
    write.prepare_cached(sql)?.execute([key.as_str()])?;
    Ok(found.is_some())
}

pub(crate) fn list(
    connection: &Connection,
    now: StoreTime,
    prefix: &Prefix,
    page: &Page,
    limits: &StoreLimits,
) -> Result<Listing, Failed> {
    let after = page.after.as_ref().map_or("", Key::as_str);
    // One statement sees one state of the database.
    let sql = "SELECT key, value, version, expiry FROM records
        WHERE key >= ?1 AND key > ?2 AND (expiry IS NULL OR expiry > ?3) ORDER BY key";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![prefix.as_str(), after, millis(now)])?;
    let mut room = PageRoom::new(page.limit, limits);
    let mut records: Vec<(Key, Record)> = Vec::new();
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        if !text.starts_with(prefix.as_str()) {
            break;
        }
        let record = record(row, 1)?;
        if !room.take(record.value.len()) {
            let last = records.last().map(|(key, _)| key.clone());
            return Ok(Listing::new(records, last));
        }
        // A key that this version cannot read was not written by a store.
        if let Ok(key) = Key::parse(&text) {
            records.push((key, record));
        }
    }
    Ok(Listing::new(records, None))
}
