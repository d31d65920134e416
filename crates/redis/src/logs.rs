//! Operations on logs, and on counters.

use bytes::Bytes;
use pintle_store::{
    Event, ExpectedTail, Expiry, Key, LimitError, LimitKind, PageRoom, Position, Retention,
    StoreError, StoreLimits, StoreTime, Tail,
};
use redis::Value;

use crate::names::Names;
use crate::operation_error::OperationError;
use crate::scripts::{ADD, APPEND, Call, FORGET, READ};
use crate::values::{deletion_delay, expiry_number, lifetime, millis};

/// The arguments of an append.
pub(crate) struct Append<'a> {
    pub(crate) events: &'a [Bytes],
    pub(crate) tail: ExpectedTail,
    pub(crate) retention: Retention,
    pub(crate) expiry: Expiry,
}

pub(crate) fn append(names: &Names, now: StoreTime, log: &Key, append: &Append<'_>) -> Call {
    let tail = match append.tail {
        ExpectedTail::Any => String::new(),
        ExpectedTail::At(position) => position.get().to_string(),
    };
    let call = Call::of(&APPEND, &names.log(log))
        .arg(millis(now))
        .arg(tail)
        .arg(append.retention.max_events)
        .arg(append.retention.max_bytes)
        .arg(expiry_number(append.expiry))
        .arg(lifetime(now, append.expiry))
        .arg(names.channel(log))
        .arg(log.as_str());
    let events = append.events.iter();
    events.fold(call, |call, event| call.value(event))
}

/// Reads the answer of [`append`]: whether the events were appended, and the tail.
pub(crate) fn appended((is_done, tail): (bool, u64)) -> Result<Position, StoreError> {
    let tail = Position::new(tail);
    if is_done {
        Ok(tail)
    } else {
        Err(StoreError::Moved { tail })
    }
}

pub(crate) fn read(
    names: &Names,
    now: StoreTime,
    log: &Key,
    after: Position,
    most: usize,
    limits: &StoreLimits,
) -> Call {
    Call::of(&READ, &names.log(log))
        .arg(millis(now))
        .arg(after.get())
        .arg(PageRoom::new(most, limits).entries())
        .arg(limits.max_page_bytes)
}

/// Reads the answer of [`read`]: whether there are more events, the position before the first one, and
/// the events.
pub(crate) fn tail(answer: Value) -> Result<Tail, StoreError> {
    let mut page = match answer {
        Value::Int(0) => return Ok(Tail::Lost),
        Value::Int(1) => return Ok(Tail::Unknown),
        Value::Array(page) => page.into_iter(),
        _ => return Err(OperationError::Foreign.into()),
    };
    let (Some(Value::Int(more)), Some(Value::Int(before))) = (page.next(), page.next()) else {
        return Err(OperationError::Foreign.into());
    };
    let event = |(value, at): (Value, u64)| match value {
        Value::BulkString(value) => Ok(Event::new(Position::new(at), value.into())),
        _ => Err(OperationError::Foreign),
    };
    let events: Result<Vec<Event>, _> = page.zip(before.unsigned_abs() + 1..).map(event).collect();
    let (events, more) = (events?, more == 1);
    Ok(Tail::Events { events, more })
}

pub(crate) fn forget(names: &Names, now: StoreTime, log: &Key) -> Call {
    Call::of(&FORGET, &names.log(log))
        .arg(millis(now))
        .arg(deletion_delay())
        .arg(names.channel(log))
        .arg(log.as_str())
}

pub(crate) fn add(names: &Names, now: StoreTime, key: &Key, amount: i64, expiry: Expiry) -> Call {
    Call::of(&ADD, &[names.counter(key)])
        .arg(millis(now))
        .arg(amount)
        .arg(expiry_number(expiry))
        .arg(lifetime(now, expiry))
}

/// Reads the answer of [`add`]: the sum, or an empty text if it does not fit.
pub(crate) fn sum(answer: &str) -> Result<i64, StoreError> {
    if answer.is_empty() {
        return Err(LimitError::new(LimitKind::Counter, 64).into());
    }
    answer.parse().map_err(|_| OperationError::Foreign.into())
}
