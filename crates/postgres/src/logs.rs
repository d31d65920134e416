//! Operations on logs.

use bytes::Bytes;
use pintle_store::{
    Event, ExpectedTail, Expiry, Key, LimitError, LimitKind, PageRoom, Position, Retention,
    StoreError, StoreLimits, StoreTime, Tail,
};
use tokio_postgres::Row;

use crate::pool::Pool;
use crate::statements::Operation;
use crate::values::{column, count, expiry_column, millis, number, only, position};

/// A batch must fit in a block of positions.
const MAX_BATCH: usize = 65_535;

/// The arguments of an append.
pub(crate) struct Append<'a> {
    pub(crate) log: &'a Key,
    pub(crate) events: &'a [Bytes],
    pub(crate) tail: ExpectedTail,
    pub(crate) retention: Retention,
    pub(crate) expiry: Expiry,
}

pub(crate) async fn append(
    pool: &Pool,
    now: StoreTime,
    append: Append<'_>,
) -> Result<Position, StoreError> {
    if append.events.len() > MAX_BATCH {
        return Err(LimitError::new(LimitKind::BatchEvents, MAX_BATCH).into());
    }
    let events: Vec<&[u8]> = append.events.iter().map(|event| &event[..]).collect();
    let tail = match append.tail {
        ExpectedTail::Any => None,
        ExpectedTail::At(position) => Some(number(position.get())),
    };
    let retention = append.retention;
    let (most, bytes) = (count(retention.max_events), count(retention.max_bytes));
    let expires = expiry_column(append.expiry);
    let rows = pool
        .call(
            Operation::Append,
            &[
                &millis(now),
                &append.log.as_str(),
                &events,
                &tail,
                &most,
                &bytes,
                &expires,
            ],
            append.events.iter().map(Bytes::len).sum(),
        )
        .await?;
    let row = only(&rows)?;
    let tail = position(column(row, 1)?);
    if column(row, 0)? {
        return Ok(tail);
    }
    Err(StoreError::Moved { tail })
}

pub(crate) async fn read(
    pool: &Pool,
    now: StoreTime,
    log: &Key,
    after: Position,
    most: usize,
    limits: &StoreLimits,
) -> Result<Tail, StoreError> {
    let room = PageRoom::new(most, limits);
    let (entries, bytes) = (count(room.entries()), count(limits.max_page_bytes));
    let at = number(after.get());
    let rows = pool
        .call(
            Operation::Read,
            &[&millis(now), &log.as_str(), &at, &entries, &bytes],
            0,
        )
        .await?;
    match rows.first() {
        Some(row) => found(row, &rows, at),
        None if after == Position::START => Ok(Tail::Events {
            events: Vec::new(),
            more: false,
        }),
        None => Ok(Tail::Lost),
    }
}

/// Reads the rows of a log that exists. Each begins with the birth, the horizon, and whether the log has
/// an event at the position `after`.
fn found(first: &Row, rows: &[Row], after: i64) -> Result<Tail, StoreError> {
    let (birth, horizon): (i64, i64) = (column(first, 0)?, column(first, 1)?);
    let begins_after = if horizon == birth { 0 } else { horizon };
    if after == begins_after || column(first, 2)? {
        return events(rows);
    }
    Ok(if after < horizon {
        Tail::Lost
    } else {
        Tail::Unknown
    })
}

/// A row without a value stands for more events, and a row without a position for none.
fn events(rows: &[Row]) -> Result<Tail, StoreError> {
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(at) = column::<Option<i64>>(row, 3)? else {
            break;
        };
        let Some(value) = column::<Option<Vec<u8>>>(row, 4)? else {
            return Ok(Tail::Events { events, more: true });
        };
        events.push(Event::new(position(at), Bytes::from(value)));
    }
    Ok(Tail::Events {
        events,
        more: false,
    })
}

pub(crate) async fn forget(pool: &Pool, now: StoreTime, log: &Key) -> Result<bool, StoreError> {
    let rows = pool
        .call(Operation::Forget, &[&millis(now), &log.as_str()], 0)
        .await?;
    column(only(&rows)?, 0)
}
