//! Operations on records.

use bytes::Bytes;
use pintle_store::{
    Expiry, Key, Listing, Page, PageRoom, Precondition, Prefix, Record, StoreError, StoreLimits,
    StoreTime, Version,
};
use tokio_postgres::Row;

use crate::pool::Pool;
use crate::statements::Operation;
use crate::values::{
    column, count, end_of, expected, expiry_column, millis, only, record, version,
};

pub(crate) async fn get(
    pool: &Pool,
    now: StoreTime,
    key: &Key,
) -> Result<Option<Record>, StoreError> {
    let rows = pool
        .call(Operation::Get, &[&millis(now), &key.as_str()], 0)
        .await?;
    rows.first().map(|row| record(row, 0)).transpose()
}

pub(crate) async fn put(
    pool: &Pool,
    now: StoreTime,
    key: &Key,
    value: &Bytes,
    condition: Precondition,
    expiry: Expiry,
) -> Result<Version, StoreError> {
    let (condition, expires) = (expected(condition), expiry_column(expiry));
    let rows = pool
        .call(
            Operation::Put,
            &[
                &millis(now),
                &key.as_str(),
                &&value[..],
                &condition,
                &expires,
            ],
            value.len(),
        )
        .await?;
    let (is_done, found) = checked(&rows)?;
    match found {
        Some(version) if is_done => Ok(version),
        found => Err(StoreError::Conflict { found }),
    }
}

pub(crate) async fn remove(
    pool: &Pool,
    now: StoreTime,
    key: &Key,
    condition: Precondition,
) -> Result<bool, StoreError> {
    let condition = expected(condition);
    let parameters: [crate::session::Parameter<'_>; 3] = [&millis(now), &key.as_str(), &condition];
    let rows = pool.call(Operation::Remove, &parameters, 0).await?;
    match checked(&rows)? {
        (true, found) => Ok(found.is_some()),
        (false, found) => Err(StoreError::Conflict { found }),
    }
}

/// Reads whether a write happened, and a version.
fn checked(rows: &[Row]) -> Result<(bool, Option<Version>), StoreError> {
    let row = only(rows)?;
    let found: Option<i64> = column(row, 1)?;
    Ok((column(row, 0)?, found.map(version)))
}

pub(crate) async fn list(
    pool: &Pool,
    now: StoreTime,
    prefix: &Prefix,
    page: &Page,
    limits: &StoreLimits,
) -> Result<Listing, StoreError> {
    let after = page.after.as_ref().map_or("", Key::as_str);
    let room = PageRoom::new(page.limit, limits);
    let (entries, bytes) = (count(room.entries()), count(limits.max_page_bytes));
    let rows = pool
        .call(
            Operation::List,
            &[
                &millis(now),
                &prefix.as_str(),
                &end_of(prefix),
                &after,
                &entries,
                &bytes,
            ],
            0,
        )
        .await?;
    listing(&rows)
}

/// A row without a value stands for more records.
fn listing(rows: &[Row]) -> Result<Listing, StoreError> {
    let mut records: Vec<(Key, Record)> = Vec::with_capacity(rows.len());
    for row in rows {
        if column::<Option<&[u8]>>(row, 1)?.is_none() {
            let last = records.last().map(|(key, _)| key.clone());
            return Ok(Listing::new(records, last));
        }
        // A key that this version cannot read was not written by a store.
        if let Ok(key) = Key::parse(column(row, 0)?) {
            records.push((key, record(row, 1)?));
        }
    }
    Ok(Listing::new(records, None))
}
