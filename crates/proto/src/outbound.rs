//! Calls we are waiting on.
//!
//! One row per request sent to the peer. A row leaves the table exactly once: by an answer, a
//! cancellation, its deadline, or the end of the conversation. An answer that finds no row is
//! late and is dropped.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pintle_model::RequestId;

use crate::error::Refusal;
use crate::io::CallId;
use crate::limits::Limits;

/// How long a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// Without an answer or progress.
    pub quiet: Duration,
    /// Whatever the peer says.
    pub ceiling: Duration,
}

impl Patience {
    /// Waits for `quiet`, and no longer than `ceiling` however much progress is made.
    pub fn new(quiet: Duration, ceiling: Duration) -> Self {
        Self { quiet, ceiling }
    }
}

/// The calls in flight, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Outbound {
    rows: BTreeMap<u64, Row>,
    next: u64,
    late: u64,
}

/// One call: when we stop waiting, and when we stop whatever the peer says.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) patience: Patience,
    pub(crate) is_handshake: bool,
    deadline: Instant,
    ceiling: Instant,
}

impl Outbound {
    /// Opens a row for a new call and names it for the wire.
    ///
    /// # Errors
    ///
    /// [`Refusal::TooManyCalls`] once `limits.calls` are open.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        patience: Patience,
        limits: &Limits,
    ) -> Result<CallId, Refusal> {
        if self.rows.len() >= limits.calls {
            return Err(Refusal::TooManyCalls {
                limit: limits.calls,
            });
        }
        self.next += 1;
        let row = Row {
            patience,
            is_handshake: false,
            deadline: later(now, patience.quiet.min(patience.ceiling)),
            ceiling: later(now, patience.ceiling),
        };
        self.rows.insert(self.next, row);
        Ok(CallId(self.next))
    }

    /// Marks a call as the handshake's own, which is never cancelled on the wire.
    pub(crate) fn mark_handshake(&mut self, call: CallId) {
        if let Some(row) = self.rows.get_mut(&call.0) {
            row.is_handshake = true;
        }
    }

    /// Closes the row of `call`; none if it is closed already.
    pub(crate) fn close(&mut self, call: CallId) -> Option<Row> {
        self.rows.remove(&call.0)
    }

    /// The open call that a response answers; one that finds none is late.
    pub(crate) fn answered(&mut self, id: Option<&RequestId>) -> Option<CallId> {
        let call = id.and_then(|id| self.named(id));
        self.late += u64::from(call.is_none());
        call
    }

    /// The open call of this name.
    pub(crate) fn named(&self, id: &RequestId) -> Option<CallId> {
        let RequestId::Integer(id) = id else {
            return None;
        };
        let id = u64::try_from(*id).ok()?;
        self.rows.contains_key(&id).then_some(CallId(id))
    }

    /// Starts the wait of a call again, up to its ceiling.
    pub(crate) fn extend(&mut self, now: Instant, call: CallId) -> bool {
        let Some(row) = self.rows.get_mut(&call.0) else {
            return false;
        };
        row.deadline = later(now, row.patience.quiet).min(row.ceiling);
        true
    }

    /// The instant at which the next call runs out of patience.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.rows.values().map(|row| row.deadline).min()
    }

    /// The calls that have run out of patience.
    pub(crate) fn expired(&self, now: Instant) -> Vec<CallId> {
        let expired = self.rows.iter().filter(|(_, row)| row.deadline <= now);
        expired.map(|(id, _)| CallId(*id)).collect()
    }

    /// All open calls.
    pub(crate) fn ids(&self) -> Vec<CallId> {
        self.rows.keys().copied().map(CallId).collect()
    }

    /// Whether no call is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many answers found no call.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }
}

/// As far away as anything needs to be.
const FOR_EVER: Duration = Duration::from_secs(86_400 * 365 * 30);

fn later(from: Instant, wait: Duration) -> Instant {
    from.checked_add(wait).unwrap_or(from + FOR_EVER)
}

impl CallId {
    /// The call's name on the wire, which is also its progress token.
    pub fn to_request_id(self) -> RequestId {
        RequestId::Integer(i64::try_from(self.0).expect("calls are counted, not chosen"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_ever_is_a_patience() {
        let (mut calls, now) = (Outbound::default(), Instant::now());
        let patience = Patience::new(Duration::MAX, Duration::MAX);
        let call = calls.open(now, patience, &Limits::default()).expect("room");
        assert!(calls.extend(now, call));
        assert!(
            calls
                .expired(now + Duration::from_secs(86_400 * 365))
                .is_empty()
        );
    }
}
