//! Calls that wait for their answers.
//!
//! One row per request sent to the peer. A row leaves the table exactly once: by an answer, a
//! cancellation, its deadline, or the end of the conversation. An answer that finds no row is
//! late and is dropped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use pintle_model::method::MethodName;
use pintle_model::{ProgressParams, RequestId, Revision};
use serde_json::value::RawValue;

use crate::deadlines::Deadlines;
use crate::error::{PeerCallError, SendError};
use crate::id_map::IdMap;
use crate::io::{CallId, Lane, RequestKey};
use crate::limits::Limits;

/// Timeouts of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The longest wait without an answer or progress.
    pub idle: Duration,
    /// The longest wait in all, independent of progress.
    pub total: Duration,
}

impl Timeouts {
    /// Waits for `idle` without progress, and for `total` in all.
    pub fn new(idle: Duration, total: Duration) -> Self {
        Self { idle, total }
    }
}

/// The calls in flight, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Outbound {
    rows: IdMap<OpenCall>,
    deadlines: Deadlines,
    /// Outcomes that the caller has not polled yet.
    kept: IdMap<Kept>,
    /// The beginning of the ids of calls; without it an id is a plain number.
    prefix: Option<Box<str>>,
    next: u64,
    late: u64,
}

/// How a call ended.
pub(crate) type CallOutcome = Result<Box<RawValue>, PeerCallError>;

/// A call that has not ended, with its idle deadline and its total deadline.
#[derive(Debug)]
pub(crate) struct OpenCall {
    pub(crate) timeouts: Timeouts,
    pub(crate) about: CallSpec,
    pub(crate) keep: Option<PolledCall>,
    /// The last progress that was passed on; only more than this is.
    progress: f64,
    deadline: Instant,
    total_deadline: Instant,
}

/// Properties of a call, except its timeouts.
#[derive(Debug)]
pub(crate) struct CallSpec {
    pub(crate) method: MethodName,
    pub(crate) stage: Stage,
    /// The revision that the call was written in; `None` for a handshake.
    pub(crate) revision: Option<Revision>,
    pub(crate) routing: Option<Arc<Routing>>,
    pub(crate) wants_progress: bool,
    /// The lane on which the call, and its cancellation, leave.
    pub(crate) lane: Lane,
}

/// Where in a conversation a call belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The call opens the conversation with a discovery. Its id differs from those of all other
    /// calls.
    Probe,
    /// The call opens the conversation with a handshake.
    Handshake,
    /// The call is an ordinary one.
    Ordinary,
}

/// Values of a call that a binding repeats outside of the message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routing {
    /// The tool, prompt, resource or task that the call is about.
    pub name: Option<Box<str>>,
    /// Arguments that the tool requires to be repeated: header names after `Mcp-Param-`, and
    /// values.
    pub params: Vec<(Box<str>, Box<str>)>,
}

impl Routing {
    /// A call about `name`.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self {
            name: Some(name.into()),
            params: Vec::new(),
        }
    }
}

/// State of a call whose outcome is polled.
#[derive(Debug)]
pub(crate) struct PolledCall {
    /// The request that it was made for, and ends with.
    pub(crate) parent: Option<RequestKey>,
    progress: VecDeque<ProgressParams>,
    waker: Option<Waker>,
}

/// Unread progress and outcome of a call that has ended.
#[derive(Debug)]
struct Kept {
    progress: VecDeque<ProgressParams>,
    outcome: CallOutcome,
}

/// How much progress of one call waits to be taken; beyond it the latest replaces the one before.
const WAITING_PROGRESS: usize = 64;

impl Outbound {
    /// Begins the id of each call with a prefix and a dot.
    pub(crate) fn set_prefix(&mut self, prefix: &str) {
        self.prefix = Some(prefix.into());
    }

    /// Opens a row for a new call and names it for the wire.
    ///
    /// # Errors
    ///
    /// [`SendError::TooManyCalls`] once `limits.calls` are open.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        timeouts: Timeouts,
        about: CallSpec,
        limits: &Limits,
    ) -> Result<CallId, SendError> {
        if self.rows.len() + self.kept.len() >= limits.max_calls {
            return Err(SendError::TooManyCalls {
                limit: limits.max_calls,
            });
        }
        self.next += 1;
        let row = OpenCall {
            timeouts,
            about,
            keep: None,
            progress: f64::NEG_INFINITY,
            deadline: later(now, timeouts.idle.min(timeouts.total)),
            total_deadline: later(now, timeouts.total),
        };
        self.deadlines.note(self.next, row.deadline);
        self.rows.insert(self.next, row);
        Ok(CallId(self.next))
    }

    /// Makes a call pollable: its outcome is stored until the caller takes it. It was made for
    /// `parent`.
    pub(crate) fn keep(&mut self, call: CallId, parent: Option<RequestKey>) {
        if let Some(row) = self.rows.get_mut(call.0) {
            row.keep = Some(PolledCall {
                parent,
                progress: VecDeque::new(),
                waker: None,
            });
        }
    }

    /// Stores the outcome of a pollable call and wakes its caller.
    pub(crate) fn put_kept(&mut self, call: CallId, keep: PolledCall, outcome: CallOutcome) {
        let PolledCall {
            progress, waker, ..
        } = keep;
        self.kept.insert(call.0, Kept { progress, outcome });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes a stored outcome.
    pub(crate) fn take_kept(&mut self, call: CallId) -> Option<CallOutcome> {
        self.kept.remove(call.0).map(|kept| kept.outcome)
    }

    /// Whether an outcome waits until its caller takes it.
    pub(crate) fn has_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Takes the oldest unread progress of a call, which may have ended.
    pub(crate) fn take_progress(&mut self, call: CallId) -> Option<ProgressParams> {
        let open = self.rows.get_mut(call.0);
        let waiting = open.and_then(|row| row.keep.as_mut());
        let waiting = waiting.map(|keep| &mut keep.progress);
        let ended = self.kept.get_mut(call.0).map(|kept| &mut kept.progress);
        waiting.or(ended)?.pop_front()
    }

    /// Records progress. Returns true if it grew and its call is not polled: then it is an event.
    pub(crate) fn note_progress(&mut self, call: CallId, progress: &ProgressParams) -> bool {
        let Some(row) = self.rows.get_mut(call.0) else {
            return false;
        };
        let is_more = progress.progress.is_finite() && progress.progress > row.progress;
        if !row.about.wants_progress || !is_more {
            return false;
        }
        row.progress = progress.progress;
        match &mut row.keep {
            None => true,
            Some(keep) => {
                keep.put_progress(progress.clone());
                false
            }
        }
    }

    /// Returns the properties of an open call.
    pub(crate) fn about(&self, call: CallId) -> Option<&CallSpec> {
        self.rows.get(call.0).map(|row| &row.about)
    }

    /// Remembers whom to wake when a call is settled; false if it is not open.
    pub(crate) fn wait(&mut self, call: CallId, waker: &Waker) -> bool {
        let keep = self.rows.get_mut(call.0).and_then(|row| row.keep.as_mut());
        if let Some(keep) = keep {
            keep.waker = Some(waker.clone());
            return true;
        }
        false
    }

    /// The open calls that were made for a request.
    pub(crate) fn made_for(&self, parent: RequestKey) -> Vec<CallId> {
        let is_its =
            |row: &OpenCall| matches!(&row.keep, Some(keep) if keep.parent == Some(parent));
        let its = self.rows.iter().filter(|(_, row)| is_its(row));
        its.map(|(id, _)| CallId(id)).collect()
    }

    /// Closes the row of `call`; none if it is closed already.
    pub(crate) fn close(&mut self, call: CallId) -> Option<OpenCall> {
        let row = self.rows.remove(call.0);
        self.sweep_deadlines();
        row
    }

    /// The open call that a response answers; one that finds none is late.
    pub(crate) fn answered(&mut self, id: Option<&RequestId>) -> Option<CallId> {
        let call = id.and_then(|id| self.named(id));
        self.late += u64::from(call.is_none());
        call
    }

    /// The open call of this name.
    pub(crate) fn named(&self, id: &RequestId) -> Option<CallId> {
        let number = match id {
            RequestId::Integer(number) => u64::try_from(*number).ok()?,
            RequestId::String(name) => self.number_in(name)?,
        };
        let row = self.rows.get(number)?;
        // The call "discover-1" does not have the name "discover-01".
        let call = CallId(number);
        (self.wire_id(row.about.stage, call) == *id).then_some(call)
    }

    fn number_in(&self, name: &str) -> Option<u64> {
        let of_prefix = || self.without_prefix(name);
        name.strip_prefix(PROBE).or_else(of_prefix)?.parse().ok()
    }

    fn without_prefix<'a>(&self, name: &'a str) -> Option<&'a str> {
        let prefix = self.prefix.as_deref()?;
        name.strip_prefix(prefix)?.strip_prefix('.')
    }

    /// Returns true if a name has the prefix of these calls.
    pub(crate) fn has_prefix_of(&self, id: &RequestId) -> bool {
        match id {
            RequestId::Integer(_) => false,
            RequestId::String(name) => self.without_prefix(name).is_some(),
        }
    }

    /// The name of a call on the wire, which is also its progress token.
    pub(crate) fn wire_id(&self, stage: Stage, call: CallId) -> RequestId {
        match (stage, &self.prefix) {
            (Stage::Probe, _) => RequestId::from(format!("{PROBE}{}", call.0)),
            (_, Some(prefix)) => RequestId::from(format!("{prefix}.{}", call.0)),
            (_, None) => call.to_request_id(),
        }
    }

    /// Starts the wait of a call again, up to its ceiling.
    pub(crate) fn extend(&mut self, now: Instant, call: CallId) -> bool {
        let Some(row) = self.rows.get_mut(call.0) else {
            return false;
        };
        let deadline = later(now, row.timeouts.idle).min(row.total_deadline);
        if deadline != row.deadline {
            row.deadline = deadline;
            self.deadlines.note(call.0, deadline);
            self.sweep_deadlines();
        }
        true
    }

    /// The instant at which the next call runs out of timeouts.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| at)
    }

    /// The call that has run out of timeouts first, if one has. It is open until it is closed.
    pub(crate) fn expired(&self, now: Instant) -> Option<CallId> {
        let first = self.deadlines.first().filter(|(at, _)| *at <= now);
        first.map(|(_, id)| CallId(id))
    }

    fn sweep_deadlines(&mut self) {
        let rows = &self.rows;
        let holds = |at, id| rows.get(id).is_some_and(|row| row.deadline == at);
        let all = || rows.iter().map(|(id, row)| (row.deadline, id));
        self.deadlines.sweep(rows.len(), holds, all);
    }

    /// All open calls.
    pub(crate) fn ids(&self) -> Vec<CallId> {
        self.rows.iter().map(|(id, _)| CallId(id)).collect()
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

/// How the name of a probe begins: no number is a name like it.
const PROBE: &str = "discover-";

impl PolledCall {
    fn put_progress(&mut self, progress: ProgressParams) {
        if self.progress.len() >= WAITING_PROGRESS {
            self.progress.pop_back();
        }
        self.progress.push_back(progress);
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// As far away as anything needs to be.
const FOR_EVER: Duration = Duration::from_secs(86_400 * 365 * 30);

fn later(from: Instant, wait: Duration) -> Instant {
    from.checked_add(wait).unwrap_or(from + FOR_EVER)
}

impl CallId {
    /// The call's name on the wire, which is also its progress token. That of a probe differs, and so
    /// does that of an engine [with a prefix](crate::Connection::with_call_prefix).
    pub fn to_request_id(self) -> RequestId {
        RequestId::Integer(i64::try_from(self.0).expect("calls are counted, not chosen"))
    }
}

#[cfg(test)]
mod tests;
