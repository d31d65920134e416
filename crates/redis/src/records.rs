//! Operations on records.

use bytes::Bytes;
use pintle_store::{
    Key, Listing, Page, PageRoom, Precondition, Prefix, Record, StoreError, StoreLimits, StoreTime,
    Version,
};
use redis::{FromRedisValue, ParsingError, Value};

use crate::names::{Names, indexed};
use crate::operation_error::OperationError;
use crate::scripts::{Call, LIST, PUT, REMOVE};
use crate::values::{condition, decode, encode, lifetime, millis, version};

/// The result of a conditional write.
pub(crate) enum Outcome {
    /// The write happened, or there was nothing to write.
    Done(bool),
    /// The record does not match the condition.
    Conflict(Option<Version>),
}

impl FromRedisValue for Outcome {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        match value {
            Value::Int(number) => Ok(Self::Done(number == 1)),
            other => Bytes::from_redis_value(other).map(|it| Self::Conflict(version(&it))),
        }
    }
}

impl Outcome {
    /// Returns whether the record was there.
    pub(crate) fn into_result(self) -> Result<bool, StoreError> {
        match self {
            Self::Done(it) => Ok(it),
            Self::Conflict(found) => Err(StoreError::Conflict { found }),
        }
    }
}

pub(crate) fn get(names: &Names, key: &Key) -> Call {
    Call::get(&names.record(key))
}

/// Reads the answer of [`get`].
pub(crate) fn found(now: StoreTime, value: Option<Bytes>) -> Result<Option<Record>, StoreError> {
    let Some(value) = value else { return Ok(None) };
    let record = decode(&value).ok_or(OperationError::Foreign)?;
    Ok(Some(record).filter(|record| !record.expiry.is_over(now)))
}

pub(crate) fn put(
    names: &Names,
    now: StoreTime,
    key: &Key,
    record: &Record,
    condition_: Precondition,
) -> Call {
    let keys = [names.record(key), names.index(key.namespace(), key.group())];
    let value = encode(record.version, record.expiry, &record.value);
    Call::of(&PUT, &keys)
        .arg(millis(now))
        .arg(condition(condition_))
        .value(&value)
        .arg(lifetime(now, record.expiry))
        .arg(indexed(key))
        .arg(names.channel(key))
        .arg(key.as_str())
}

pub(crate) fn remove(names: &Names, now: StoreTime, key: &Key, condition_: Precondition) -> Call {
    let keys = [names.record(key), names.index(key.namespace(), key.group())];
    Call::of(&REMOVE, &keys)
        .arg(millis(now))
        .arg(condition(condition_))
        .arg(indexed(key))
        .arg(names.channel(key))
        .arg(key.as_str())
}

pub(crate) fn list(
    names: &Names,
    now: StoreTime,
    prefix: &Prefix,
    page: &Page,
    limits: &StoreLimits,
) -> Result<Call, StoreError> {
    let group = prefix.one_group()?;
    let namespace = prefix.namespace();
    let room = PageRoom::new(page.limit, limits);
    let call = Call::of(&LIST, &[names.index(namespace, group)])
        .arg(millis(now))
        .arg(names.records(namespace, group))
        .arg(from(prefix, page))
        // Names are UTF-8, so this byte is after all of them.
        .arg([b"(", prefix.start().as_bytes(), b"\xff"].concat())
        .arg(room.entries())
        .arg(limits.max_page_bytes);
    Ok(call)
}

/// Returns the lower end of a range of names.
fn from(prefix: &Prefix, page: &Page) -> String {
    match &page.after {
        Some(after) if after.as_str() >= prefix.as_str() => {
            // A key of another namespace may be after the whole range.
            let is_same = after.namespace() == prefix.namespace();
            let name = if is_same { after.name() } else { "\u{10ffff}" };
            format!("({name}")
        }
        _ => format!("[{}", prefix.start()),
    }
}

/// Reads the answer of [`list`]: whether there are more records, then names and records.
pub(crate) fn listed(prefix: &Prefix, answer: Vec<Value>) -> Result<Listing, StoreError> {
    let mut answer = answer.into_iter();
    let has_more = answer.next() == Some(Value::Int(1));
    let mut records = Vec::new();
    while let (Some(name), Some(record)) = (answer.next(), answer.next()) {
        records.push(row(prefix, name, record)?);
    }
    let last = records.last().map(|(key, _): &(Key, _)| key.clone());
    Ok(Listing::new(records, last.filter(|_| has_more)))
}

fn row(prefix: &Prefix, name: Value, record: Value) -> Result<(Key, Record), OperationError> {
    let (name, record) = match (name, record) {
        (Value::BulkString(name), Value::BulkString(record)) => (name, record),
        _ => return Err(OperationError::Foreign),
    };
    let name = String::from_utf8(name).map_err(|_| OperationError::Foreign)?;
    let key = Key::parse(&format!("{}/{name}", prefix.namespace()));
    let key = key.map_err(|_| OperationError::Foreign)?;
    let record = decode(&record.into()).ok_or(OperationError::Foreign)?;
    Ok((key, record))
}
