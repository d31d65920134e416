//! Operations on logs.

use bytes::Bytes;
use pintle_store::{
    Event, ExpectedTail, Expiry, Key, PageRoom, Position, Retention, StoreTime, Tail,
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::values::{Failed, expiry_column, millis, next, number, position};

/// The row of a log. `birth` names its life, `horizon` is the last dropped event or the birth, and
/// `tail` is the last event.
#[derive(Debug, Clone, Copy)]
struct Log {
    birth: i64,
    horizon: i64,
    tail: i64,
    events: i64,
    bytes: i64,
}

fn find(connection: &Connection, now: StoreTime, log: &Key) -> rusqlite::Result<Option<Log>> {
    let sql = "SELECT birth, horizon, tail, events, bytes FROM logs
        WHERE key = ?1 AND (expiry IS NULL OR expiry > ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![log.as_str(), millis(now)], |row| {
        Ok(Log {
            birth: row.get(0)?,
            horizon: row.get(1)?,
            tail: row.get(2)?,
            events: row.get(3)?,
            bytes: row.get(4)?,
        })
    });
    found.optional()
}

/// The arguments of an append.
pub(crate) struct Append {
    pub(crate) log: Key,
    pub(crate) events: Vec<Bytes>,
    pub(crate) tail: ExpectedTail,
    pub(crate) retention: Retention,
    pub(crate) expiry: Expiry,
}

pub(crate) fn append(
    write: &Transaction<'_>,
    now: StoreTime,
    append: &Append,
) -> Result<Position, Failed> {
    let found = find(write, now, &append.log)?;
    let tail = found.map_or(Position::START, |log| position(log.tail));
    append.tail.check(tail)?;
    if found.is_none() && append.events.is_empty() {
        return Ok(tail);
    }
    let mut log = match found {
        Some(log) => log,
        None => begin(write, &append.log)?,
    };
    for event in &append.events {
        push(write, &mut log, event)?;
    }
    drop_oldest(write, &mut log, append.retention)?;
    save(write, &append.log, log, append.expiry)?;
    Ok(position(log.tail))
}

/// Begins a log. An expired log of the same key ends here.
fn begin(write: &Transaction<'_>, key: &Key) -> rusqlite::Result<Log> {
    delete(write, key)?;
    let birth = next(write)?;
    Ok(Log {
        birth,
        horizon: birth,
        tail: birth,
        events: 0,
        bytes: 0,
    })
}

fn push(write: &Transaction<'_>, log: &mut Log, event: &Bytes) -> rusqlite::Result<()> {
    log.tail = next(write)?;
    log.events += 1;
    log.bytes += number(event.len() as u64);
    let sql = "INSERT INTO events (birth, position, value) VALUES (?1, ?2, ?3)";
    let row = params![log.birth, log.tail, &event[..]];
    write.prepare_cached(sql)?.execute(row).map(drop)
}

/// Drops the oldest events beyond the retention, but never the newest.
fn drop_oldest(write: &Transaction<'_>, log: &mut Log, keep: Retention) -> rusqlite::Result<()> {
    let (max_events, max_bytes) = (
        number(keep.max_events as u64),
        number(keep.max_bytes as u64),
    );
    while log.events > 1 && (log.events > max_events || log.bytes > max_bytes) {
        let sql = "DELETE FROM events WHERE birth = ?1 AND position =
            (SELECT min(position) FROM events WHERE birth = ?1) RETURNING position, length(value)";
        let mut statement = write.prepare_cached(sql)?;
        let oldest = statement.query_row([log.birth], |row| Ok((row.get(0)?, row.get(1)?)));
        let (dropped, bytes): (i64, i64) = oldest?;
        log.horizon = dropped;
        log.events -= 1;
        log.bytes -= bytes;
    }
    Ok(())
}

fn save(write: &Transaction<'_>, key: &Key, log: Log, expiry: Expiry) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO logs (key, birth, horizon, tail, events, bytes, expiry)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let expiry = expiry_column(expiry);
    let row = params![
        key.as_str(),
        log.birth,
        log.horizon,
        log.tail,
        log.events,
        log.bytes,
        expiry
    ];
    write.prepare_cached(sql)?.execute(row).map(drop)
}

pub(crate) fn read(
    read: &Transaction<'_>,
    now: StoreTime,
    log: &Key,
    after: Position,
    room: PageRoom,
) -> Result<Tail, Failed> {
    let Some(log) = find(read, now, log)? else {
        return Ok(match after {
            Position::START => Tail::Events {
                events: Vec::new(),
                more: false,
            },
            _ => Tail::Lost,
        });
    };
    let after = number(after.get());
    if begins_after(log, after) || is_event(read, log, after)? {
        return Ok(events(read, log, after, room)?);
    }
    Ok(if after < log.horizon {
        Tail::Lost
    } else {
        Tail::Unknown
    })
}

/// Returns true if no event lies between `after` and the first event.
fn begins_after(log: Log, after: i64) -> bool {
    if log.horizon == log.birth {
        after == 0
    } else {
        after == log.horizon
    }
}

fn is_event(read: &Transaction<'_>, log: Log, at: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM events WHERE birth = ?1 AND position = ?2";
    read.prepare_cached(sql)?.exists([log.birth, at])
}

fn events(
    read: &Transaction<'_>,
    log: Log,
    after: i64,
    mut room: PageRoom,
) -> rusqlite::Result<Tail> {
    let sql = "SELECT position, value FROM events WHERE birth = ?1 AND position > ?2
        ORDER BY position";
    let mut statement = read.prepare_cached(sql)?;
    let mut rows = statement.query([log.birth, after])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let value: Vec<u8> = row.get(1)?;
        if !room.take(value.len()) {
            return Ok(Tail::Events { events, more: true });
        }
        events.push(Event::new(position(row.get(0)?), Bytes::from(value)));
    }
    Ok(Tail::Events {
        events,
        more: false,
    })
}

pub(crate) fn forget(write: &Transaction<'_>, now: StoreTime, log: &Key) -> Result<bool, Failed> {
    let was_present = find(write, now, log)?.is_some();
    delete(write, log)?;
    Ok(was_present)
}

/// Deletes a log, expired or not, with its events.
fn delete(write: &Transaction<'_>, key: &Key) -> rusqlite::Result<()> {
    let events = "DELETE FROM events WHERE birth = (SELECT birth FROM logs WHERE key = ?1)";
    write.prepare_cached(events)?.execute([key.as_str()])?;
    let log = "DELETE FROM logs WHERE key = ?1";
    write.prepare_cached(log)?.execute([key.as_str()]).map(drop)
}

/// Deletes at most `most` expired logs, with their events.
pub(crate) fn purge(write: &Transaction<'_>, now: StoreTime, most: usize) -> rusqlite::Result<()> {
    let sql = "DELETE FROM logs WHERE key IN
        (SELECT key FROM logs WHERE expiry <= ?1 LIMIT ?2) RETURNING birth";
    let mut statement = write.prepare_cached(sql)?;
    let rows = statement.query_map([millis(now), number(most as u64)], |row| row.get(0))?;
    for birth in rows.collect::<rusqlite::Result<Vec<i64>>>()? {
        let events = "DELETE FROM events WHERE birth = ?1";
        write.prepare_cached(events)?.execute([birth])?;
    }
    Ok(())
}
