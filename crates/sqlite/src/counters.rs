//! Operations on counters, and the epoch.

use pintle_store::{Epoch, Expiry, Key, LimitError, LimitKind, StoreTime};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::values::{Failed, expiry_column, millis};

pub(crate) fn add(
    write: &Transaction<'_>,
    now: StoreTime,
    key: &Key,
    amount: i64,
    expiry: Expiry,
) -> Result<i64, Failed> {
    let over = "DELETE FROM counters WHERE key = ?1 AND expiry <= ?2";
    write
        .prepare_cached(over)?
        .execute(params![key.as_str(), millis(now)])?;
    let sql = "SELECT sum FROM counters WHERE key = ?1";
    let mut found = write.prepare_cached(sql)?;
    let found: Option<i64> = found
        .query_row([key.as_str()], |row| row.get(0))
        .optional()?;
    let sum = found.unwrap_or(0).checked_add(amount);
    let sum = sum.ok_or_else(|| LimitError::new(LimitKind::Counter, 64))?;
    // The first addition sets the expiry.
    let sql = "INSERT INTO counters (key, sum, expiry) VALUES (?1, ?2, ?3)
        ON CONFLICT (key) DO UPDATE SET sum = excluded.sum";
    let row = params![key.as_str(), sum, expiry_column(expiry)];
    write.prepare_cached(sql)?.execute(row)?;
    Ok(sum)
}

pub(crate) fn epoch(write: &Transaction<'_>, fresh: Epoch) -> Result<Epoch, Failed> {
    let found = write.query_row("SELECT bits FROM epoch", [], |row| {
        row.get::<_, [u8; 16]>(0)
    });
    if let Some(bits) = found.optional()? {
        return Ok(Epoch::new(u128::from_be_bytes(bits)));
    }
    write.execute("INSERT INTO epoch VALUES (?1)", [fresh.get().to_be_bytes()])?;
    Ok(fresh)
}
