//! Calls we are waiting on.
//!
//! One row per request sent to the peer. A row leaves the table exactly once: by an answer, a
//! cancellation, its deadline, or the end of the conversation. An answer that finds no row is
//! late and is dropped.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::{Duration, Instant};

use pintle_model::RequestId;
use serde_json::value::RawValue;

use crate::error::{CallFailure, Refusal};
use crate::io::{CallId, RequestKey};
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
    /// Outcomes that whoever made the call takes by itself.
    kept: BTreeMap<u64, CallOutcome>,
    next: u64,
    late: u64,
}

/// How a call ended.
pub(crate) type CallOutcome = Result<Box<RawValue>, CallFailure>;

/// One call: when we stop waiting, and when we stop whatever the peer says.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) patience: Patience,
    pub(crate) is_handshake: bool,
    pub(crate) keep: Option<Keep>,
    deadline: Instant,
    ceiling: Instant,
}

/// What is known of a call whose outcome is kept.
#[derive(Debug)]
pub(crate) struct Keep {
    /// The request that it was made for, and ends with.
    pub(crate) parent: Option<RequestKey>,
    waker: Option<Waker>,
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
        if self.rows.len() + self.kept.len() >= limits.calls {
            return Err(Refusal::TooManyCalls {
                limit: limits.calls,
            });
        }
        self.next += 1;
        let row = Row {
            patience,
            is_handshake: false,
            keep: None,
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

    /// Keeps the outcome of a call until it is taken; it was made for `parent`.
    pub(crate) fn keep(&mut self, call: CallId, parent: Option<RequestKey>) {
        if let Some(row) = self.rows.get_mut(&call.0) {
            row.keep = Some(Keep {
                parent,
                waker: None,
            });
        }
    }

    /// Puts an outcome where it is taken from.
    pub(crate) fn put_kept(&mut self, call: CallId, keep: Keep, outcome: CallOutcome) {
        self.kept.insert(call.0, outcome);
        if let Some(waker) = keep.waker {
            waker.wake();
        }
    }

    /// Takes an outcome that was kept.
    pub(crate) fn take_kept(&mut self, call: CallId) -> Option<CallOutcome> {
        self.kept.remove(&call.0)
    }

    /// Remembers whom to wake when a call is settled; false if it is not open.
    pub(crate) fn wait(&mut self, call: CallId, waker: &Waker) -> bool {
        let keep = self.rows.get_mut(&call.0).and_then(|row| row.keep.as_mut());
        if let Some(keep) = keep {
            keep.waker = Some(waker.clone());
            return true;
        }
        false
    }

    /// The open calls that were made for a request.
    pub(crate) fn made_for(&self, parent: RequestKey) -> Vec<CallId> {
        let is_its = |row: &Row| matches!(&row.keep, Some(keep) if keep.parent == Some(parent));
        let its = self.rows.iter().filter(|(_, row)| is_its(row));
        its.map(|(id, _)| CallId(*id)).collect()
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
