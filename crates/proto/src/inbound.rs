//! Requests we owe an answer.
//!
//! One row per admitted request. A row leaves the table exactly once: by its answer, by a
//! cancellation, or by the end of the conversation. What finds no row is late and is dropped.

use std::collections::VecDeque;
use std::sync::Arc;

use pintle_model::{Feature, ProgressHead, ProgressToken, RequestId, Task};

use crate::inline_queue::InlineQueue;
use crate::io::{IncomingRequest, Lane, RequestKey};
use crate::limits::Limits;
use crate::terms::Terms;

/// How many times the limit may wait in line, when reading cannot stop at the limit itself.
const OVERRUN: usize = 4;

/// The requests of the peer that are not settled, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    rows: InlineQueue<UnsettledRequest>,
    waiting: VecDeque<Box<IncomingRequest>>,
    /// Requests that were answered with a task of the core and still send notices; oldest first.
    tasks: VecDeque<UnsettledRequest>,
    running: usize,
    /// Size of the peer's data in all rows, in bytes.
    bytes: usize,
    next: u64,
}

/// A request that is owed an answer.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    pub(crate) id: RequestId,
    pub(crate) progress_token: Option<ProgressToken>,
    /// Length of the parameters, in bytes.
    pub(crate) params: usize,
}

/// A request of the peer that is not settled.
#[derive(Debug)]
pub(crate) struct UnsettledRequest {
    pub(crate) key: RequestKey,
    pub(crate) id: RequestId,
    pub(crate) terms: Arc<Terms>,
    /// Its progress, if the peer requested it. Boxed as the next, because a row moves often.
    pub(crate) progress: Option<Box<RequestProgress>>,
    /// The task of the core that the request has become.
    pub(crate) task: Option<Box<RequestTask>>,
    /// Whether that task is over, also before the request was answered.
    pub(crate) is_task_over: bool,
    /// Length of its parameters and its id, in bytes.
    bytes: usize,
    state: State,
}

/// The progress of a request.
#[derive(Debug)]
pub(crate) struct RequestProgress {
    pub(crate) token: ProgressToken,
    /// The beginning of its notices; `None` before the first one.
    pub(crate) head: Option<ProgressHead>,
    /// The last progress that was sent; only more than this is sent again.
    pub(crate) last: f64,
}

/// The task of the core that a request has become.
#[derive(Debug)]
pub(crate) struct RequestTask {
    pub(crate) id: Box<str>,
    /// Its status, if it changed before the request was answered.
    pub(crate) unsent_status: Option<Task>,
}

impl RequestProgress {
    fn new(token: ProgressToken) -> Self {
        Self {
            token,
            head: None,
            last: f64::NEG_INFINITY,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    /// Answered by the engine itself, sometimes late: a listen.
    Held,
}

impl UnsettledRequest {
    /// Whether progress and logs belong on its lane: not on a listener's.
    pub(crate) fn has_handler(&self) -> bool {
        self.state != State::Held
    }

    /// The id of the task of the core that the request has become.
    pub(crate) fn task_id(&self) -> Option<&str> {
        self.task.as_ref().map(|task| &*task.id)
    }
}

impl Inbound {
    /// Names the next request, admitted or not.
    pub(crate) fn next_key(&mut self) -> RequestKey {
        self.next += 1;
        RequestKey(self.next)
    }

    /// Whether the peer has a request of this id in flight.
    pub(crate) fn has_id(&self, id: &RequestId) -> bool {
        self.rows.iter().any(|row| row.id == *id)
    }

    /// Whether a request with this id is in flight that states its own terms.
    pub(crate) fn has_enveloped(&self, id: &RequestId) -> bool {
        let mut rows = self.rows.iter().filter(|row| row.id == *id);
        rows.any(|row| row.terms.has(Feature::Envelope))
    }

    /// The requests that are served on the terms of a handshake, oldest first.
    pub(crate) fn of_session(&self) -> Vec<RequestKey> {
        let rows = self.rows.iter();
        let of_session = rows.filter(|row| row.terms.has(Feature::Handshake));
        of_session.map(|row| row.key).collect()
    }

    /// Forgets the tasks that requests have become.
    pub(crate) fn end_tasks(&mut self) {
        self.tasks.clear();
    }

    /// Registers a request. Returns the request if it may run now; else it waits in line.
    pub(crate) fn admit(
        &mut self,
        id: RequestId,
        incoming: Box<IncomingRequest>,
        limits: &Limits,
    ) -> Option<Box<IncomingRequest>> {
        let runs = self.running < limits.max_running_requests;
        let state = if runs { State::Running } else { State::Waiting };
        self.insert(id, &incoming, state);
        if runs {
            self.running += 1;
            return Some(incoming);
        }
        self.waiting.push_back(incoming);
        None
    }

    /// Registers a request that the engine answers itself, later.
    pub(crate) fn hold(&mut self, id: RequestId, incoming: &IncomingRequest) {
        self.insert(id, incoming, State::Held);
    }

    /// A table of one request, which runs and has the first key.
    pub(crate) fn running(open: OpenRequest, terms: &Arc<Terms>) -> Self {
        let mut table = Self {
            running: 1,
            ..Self::default()
        };
        let key = table.next_key();
        table.push(key, open, terms, State::Running);
        table
    }

    /// Whether an empty table lets its first request run.
    pub(crate) fn admits_one(limits: &Limits) -> bool {
        limits.max_running_requests > 0
            && limits.max_waiting_requests > 0
            && limits.max_pending_request_bytes > 0
    }

    fn insert(&mut self, id: RequestId, incoming: &IncomingRequest, state: State) {
        let open = OpenRequest {
            id,
            progress_token: incoming.progress_token.clone(),
            params: incoming.params.text().len(),
        };
        self.push(incoming.key, open, &incoming.terms, state);
    }

    fn push(&mut self, key: RequestKey, open: OpenRequest, terms: &Arc<Terms>, state: State) {
        let bytes = open.params + length(&open.id);
        self.bytes += bytes;
        self.rows.push_back(UnsettledRequest {
            key,
            id: open.id,
            terms: Arc::clone(terms),
            progress: open.progress_token.map(RequestProgress::new).map(Box::new),
            task: None,
            is_task_over: false,
            bytes,
            state,
        });
    }

    /// Returns a request that is not settled.
    pub(crate) fn row_mut(&mut self, key: RequestKey) -> Option<&mut UnsettledRequest> {
        let at = self.position(key)?;
        self.rows.get_mut(at)
    }

    /// The task that a request is about to be answered with.
    pub(crate) fn task_mut(&mut self, task_id: &str) -> Option<&mut RequestTask> {
        let is_named = |row: &UnsettledRequest| row.task_id() == Some(task_id);
        let at = self.rows.iter().position(is_named)?;
        self.rows.get_mut(at)?.task.as_deref_mut()
    }

    /// Returns the row for notices of a handler, and their lane: those of its request, or those of its task.
    pub(crate) fn reporting_mut(
        &mut self,
        key: RequestKey,
    ) -> Option<(Lane, &mut UnsettledRequest)> {
        match self.position(key) {
            Some(at) => {
                let row = self.rows.get_mut(at).filter(|row| row.has_handler())?;
                Some((Lane::Reply(key), row))
            }
            None => {
                let row = self.tasks.iter_mut().find(|row| row.key == key)?;
                Some((Lane::Session, row))
            }
        }
    }

    /// Stores the row of an answered request while its task runs; at the limit the oldest row is
    /// dropped.
    pub(crate) fn keep_task(&mut self, row: UnsettledRequest, limits: &Limits) {
        if self.tasks.len() >= limits.max_reported_tasks {
            self.tasks.pop_front();
        }
        self.tasks.push_back(row);
    }

    /// Forgets the task that a request has become.
    pub(crate) fn end_task(&mut self, key: RequestKey) {
        self.tasks.retain(|row| row.key != key);
        if let Some(row) = self.row_mut(key) {
            row.is_task_over = true;
        }
    }

    /// The terms of a request that is not settled.
    pub(crate) fn terms(&self, key: RequestKey) -> Option<&Arc<Terms>> {
        self.rows.get(self.position(key)?).map(|row| &row.terms)
    }

    /// Whether a request is not settled.
    pub(crate) fn contains(&self, key: RequestKey) -> bool {
        self.position(key).is_some()
    }

    pub(crate) fn id(&self, key: RequestKey) -> Option<&RequestId> {
        Some(&self.rows.get(self.position(key)?)?.id)
    }

    /// Settles a request.
    pub(crate) fn remove(&mut self, key: RequestKey) -> Option<UnsettledRequest> {
        let row = self.rows.remove(self.position(key)?)?;
        self.bytes -= row.bytes;
        match row.state {
            State::Running => self.running -= 1,
            State::Waiting => self.waiting.retain(|incoming| incoming.key != key),
            State::Held => {}
        }
        Some(row)
    }

    /// The next request in line, if one may run now.
    pub(crate) fn next_to_run(&mut self, limits: &Limits) -> Option<Box<IncomingRequest>> {
        if self.running >= limits.max_running_requests {
            return None;
        }
        let incoming = self.waiting.pop_front()?;
        self.running += 1;
        if let Some(row) = self.row_mut(incoming.key) {
            row.state = State::Running;
        }
        Some(incoming)
    }

    /// Whether another request may be read.
    pub(crate) fn has_room(&self, limits: &Limits) -> bool {
        self.waiting.len() < limits.max_waiting_requests
            && self.bytes < limits.max_pending_request_bytes
    }

    /// Whether as many requests are not settled as may run, or hold as much as they may.
    pub(crate) fn is_crowded(&self, limits: &Limits) -> bool {
        self.rows.len() >= limits.max_running_requests
            || self.bytes >= limits.max_pending_request_bytes
    }

    /// Whether the line is so long that a request is refused rather than put at its end: only a
    /// peer that is read although there is no room gets there.
    pub(crate) fn is_overrun(&self, limits: &Limits) -> bool {
        self.waiting.len() >= limits.max_waiting_requests.saturating_mul(OVERRUN)
            || self.bytes >= limits.max_pending_request_bytes.saturating_mul(OVERRUN)
    }

    /// The request with this id of the peer.
    pub(crate) fn key_of(&self, id: &RequestId) -> Option<RequestKey> {
        self.rows
            .iter()
            .find(|row| row.id == *id)
            .map(|row| row.key)
    }

    /// How many requests are not settled.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The requests that are not settled, oldest first.
    pub(crate) fn keys(&self) -> Vec<RequestKey> {
        self.rows.iter().map(|row| row.key).collect()
    }

    // Keys grow and rows are appended, so the table is sorted.
    fn position(&self, key: RequestKey) -> Option<usize> {
        self.rows.position_of(&key, |row| row.key)
    }
}

fn length(id: &RequestId) -> usize {
    match id {
        RequestId::Integer(_) => size_of::<i64>(),
        RequestId::String(text) => text.len(),
    }
}
