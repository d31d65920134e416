//! Runs the handler of a task, and stores what must not be lost.
//!
//! The record names the replica that runs the handler. The presence of that replica is the lease:
//!
//! ```text
//!                 ┌──────────── saved drafts ───────────┐
//!                 ▼                                     │
//!  created ──► held by this replica ────────────────────┘
//!                 │       │       │
//!    the handler  │       │       │  the presence ends: a kill, a pause, SIGTERM
//!    ends, fails  │       │       ▼
//!    or is due    │       │     orphan ──── taken over ──► held by another replica
//!                 ▼       │                                          │
//!               ended ◄───┘ a client cancels the task                ▼
//!                                                this runner drops its handler: `CheckedState::Ended`
//! ```
//!
//! - The runner writes only while the record has no end and names its own replica. It checks both
//!   within the update, because another replica can take the task over between two updates.
//! - If the presence had a gap, the runner reads the record before it polls the handler again.
//! - Answers and cancellations of a client change the record, and leave its holder.
//! - The handler continues on an answer, and the draft counts as saved, only after the write.
//! - A store that fails is tried again. If the presence ends meanwhile, two handlers may run until
//!   this runner reads that another replica has the task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Waking, Poll};
use std::time::Duration;

use pintle_model::{Error, ErrorCode, Feature, Outcome};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{Context, TaskCheckpoint};
use pintle_store::{Changes, StoreTime, TypedStoreError};
use tokio::time::{Instant, sleep, sleep_until};

use super::drive::{Running, caught};
use super::holding::StoredTask;
use super::id::name_of;
use super::ledger::ActivePermit;
use super::lifetime::Deadline;
use super::record::{Answered, End, TaskRecord};
use super::task_engine_handle::TaskEngineHandle;
use super::task_store::{Tasks, is_refused};
use super::wire::wrapped;
use crate::tool::ToolReply;

/// Interval of the checks of a task without change notices, and the delay after a failure of the
/// store.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest delay between two tries to write the end of a task.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Runs the handler of one task.
pub(crate) struct Runner {
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) owner: Option<String>,
    pub(crate) id: String,
    /// The deadline when it is started; it moves with what the handler asks.
    pub(crate) deadline: Deadline,
    /// Expiry of the record when the task is started.
    pub(crate) stored_until: StoreTime,
    /// Presence of this replica in which the record was certainly its own.
    pub(crate) term: Option<u64>,
    /// The record as this runner read or wrote it last. It saves the read before a write.
    pub(crate) known: Mutex<Option<StoredTask>>,
    /// Answers whose write may have happened, so that the handler has not received them.
    pub(crate) undelivered: Mutex<Vec<Answered>>,
    // Its question state has the draft of the handler: questions and results not yet in the record.
    pub(crate) cx: Context,
    pub(crate) engine_handle: Arc<TaskEngineHandle>,
    /// Whether the plain call's result would have been wrapped.
    pub(crate) wraps: bool,
    // Dropped only after the end is written, because an ending task still needs memory.
    pub(crate) place: ActivePermit,
}

/// The event that woke a runner.
enum Woken {
    Ended(Box<ToolReply>),
    Draft,
    Changed,
    Unwatched,
    /// The presence of this replica has expired, or had a gap.
    Stale,
    /// The last check failed.
    Retry,
    Due,
}

/// The state of a task at a check.
enum CheckedState {
    /// It runs until this deadline; `None` if the store cannot be read.
    Running(Option<Deadline>),
    /// It has ended or expired, or another replica runs it.
    Ended,
    /// The task cannot continue.
    Broken(Error),
}

impl Runner {
    /// Runs a handler as a task of the runtime.
    pub(crate) fn start(self, handler: Running) {
        tokio::spawn(self.run(handler));
    }

    async fn run(self, handler: Running) {
        let end = tokio::select! {
            biased;
            // The record and its index stay for the replica that takes the task over.
            () = self.tasks.released() => None,
            end = self.until_over(handler) => Some(end),
        };
        self.cx.questions().end_task();
        if let Some(end) = end {
            if let Some(end) = end {
                self.write_end(end).await;
            }
            self.tasks.unhold(&self.id).await;
        }
        if let Some(conversation) = self.engine_handle.conversation() {
            conversation.with(|engine| engine.end_task(self.cx.key()));
        }
        self.tasks.forget(&self.id);
        drop(self.place);
    }

    /// Polls the handler until it ends, or until it need not any more; it is dropped then.
    async fn until_over(&self, handler: Running) -> Option<End> {
        let mut handler = Box::pin(caught(handler));
        let mut changes = self.changes().await;
        let mut term = self.term;
        let mut deadline = self.deadline;
        // Changes before the first notice are read at once.
        let mut retry = Some(Instant::now());
        loop {
            let due = self.tasks.instant_of(deadline.at);
            let questions = self.cx.questions();
            let woken = tokio::select! {
                biased;
                woken = poll_fn(|task| self.poll_handler(handler.as_mut(), term, task)) => woken,
                _ = poll_fn(|task| questions.poll_draft(task)) => Woken::Draft,
                change = next_change(&mut changes) => change,
                () = sleep_until_some(retry) => Woken::Retry,
                () = sleep_until(due) => Woken::Due,
            };
            let is_due = matches!(woken, Woken::Due);
            let is_stale = matches!(woken, Woken::Stale);
            let is_draft = matches!(woken, Woken::Draft);
            match woken {
                Woken::Ended(reply) => return Some(self.end_of(*reply)),
                Woken::Unwatched => changes = None,
                Woken::Draft | Woken::Changed | Woken::Stale | Woken::Retry | Woken::Due => {}
            }
            let current = if is_stale {
                Some(self.next_term().await)
            } else {
                term
            };
            if !is_draft {
                *self.known.lock() = None;
            }
            retry = None;
            match self.check().await {
                CheckedState::Running(Some(moved)) if moved != deadline => {
                    (term, deadline) = (current, moved);
                }
                CheckedState::Running(_) if is_due => {
                    return Some(End::broken(deadline.to_string()));
                }
                CheckedState::Running(Some(_)) => term = current,
                CheckedState::Running(None) if is_stale => sleep(PAUSE).await,
                CheckedState::Running(None) => retry = Some(later(PAUSE)),
                CheckedState::Ended => return None,
                CheckedState::Broken(error) => return Some(End::Error(error)),
            }
        }
    }

    /// Polls the handler, if this replica has been present without a gap since `term`.
    fn poll_handler(
        &self,
        handler: Pin<&mut (impl Future<Output = ToolReply> + ?Sized)>,
        term: Option<u64>,
        task: &mut Waking<'_>,
    ) -> Poll<Woken> {
        let current = self.tasks.replicas().term();
        if current.is_none() || current != term {
            return Poll::Ready(Woken::Stale);
        }
        handler
            .poll(task)
            .map(|reply| Woken::Ended(Box::new(reply)))
    }

    /// Waits until this replica is present, and returns the number of the presence.
    async fn next_term(&self) -> u64 {
        loop {
            if let Some(term) = self.tasks.replicas().term() {
                return term;
            }
            sleep(PAUSE).await;
        }
    }

    async fn changes(&self) -> Option<Changes> {
        let name = name_of(self.owner.as_deref(), &self.id);
        let changes = self.tasks.records.changed(&name).await;
        if let Err(error) = &changes {
            tracing::warn!(%error, "no change notices for a task; it is checked at intervals");
        }
        changes.ok()
    }

    /// Brings the record and the handler to the same state.
    async fn check(&self) -> CheckedState {
        let questions = self.cx.questions();
        let draft = questions.current_draft();
        if let Some(broken) = draft.broken {
            return CheckedState::Broken(broken);
        }
        let mut answered = Vec::new();
        let mut seen = CheckedState::Ended;
        let changed = self.change(|record, _| {
            answered.clear();
            seen = CheckedState::Ended;
            if record.end.is_some() || !self.is_ours(record) {
                return None;
            }
            seen = CheckedState::Running(Some(record.deadline(&self.tasks.options)));
            self.merged(record, &draft, &mut answered)
        });
        let changed = changed.await;
        let Ok(changed) = changed else {
            self.undeliver(answered);
            return CheckedState::Running(None);
        };
        if let Some(record) = &changed {
            if let Some(broken) = self.excess(record) {
                return CheckedState::Broken(broken);
            }
            seen = CheckedState::Running(Some(record.deadline(&self.tasks.options)));
        }
        if matches!(seen, CheckedState::Running(_)) {
            self.undelivered.lock().clear();
            questions.saved(draft.version);
            for Answered {
                name,
                request,
                given,
            } in answered
            {
                questions.give(&name, &request, given);
            }
        }
        seen
    }

    fn is_ours(&self, record: &TaskRecord) -> bool {
        record.holder == self.tasks.replicas().name()
    }

    /// The record with the new steps and questions of the handler, or `None` without any. Its answers
    /// are for the handler.
    fn merged(
        &self,
        record: &TaskRecord,
        draft: &TaskCheckpoint,
        answered: &mut Vec<Answered>,
    ) -> Option<TaskRecord> {
        let mut next = record.clone();
        *answered = next.take_given();
        let is_given = !answered.is_empty();
        answered.extend(self.stored_answers(record));
        let is_new = next.take_draft(draft, answered) || is_given;
        is_new.then_some(next)
    }

    /// The answers of an uncertain write that happened: the record waits for them no more.
    fn stored_answers(&self, record: &TaskRecord) -> Vec<Answered> {
        let undelivered = self.undelivered.lock();
        let has_happened = |answered: &&Answered| {
            let waits = |given: &Answered| given.name == answered.name;
            !record.given.iter().any(waits)
        };
        undelivered.iter().filter(has_happened).cloned().collect()
    }

    /// Notes answers whose write may have happened.
    fn undeliver(&self, answered: Vec<Answered>) {
        if !answered.is_empty() {
            *self.undelivered.lock() = answered;
        }
    }

    /// Why the task cannot go on, if it asks or remembers too much.
    fn excess(&self, record: &TaskRecord) -> Option<Error> {
        let options = &self.tasks.options;
        let message = if record.questions.len() > options.max_questions {
            format!(
                "the task has more than {} open questions",
                options.max_questions
            )
        } else if record.memory() > options.max_journal_bytes {
            let most = options.max_journal_bytes;
            format!("what the task must remember is larger than {most} bytes")
        } else {
            return None;
        };
        Some(Error::new(ErrorCode::INTERNAL_ERROR, message))
    }

    async fn change(
        &self,
        mut change: impl FnMut(&TaskRecord, StoreTime) -> Option<TaskRecord> + Send,
    ) -> Result<Option<TaskRecord>, TypedStoreError> {
        let mut known = self.known.lock().take();
        let key = (self.owner.as_deref(), &*self.id);
        let changed = self.tasks.change_known(key, &mut known, &mut change).await;
        if let Err(error) = &changed {
            tracing::error!(%error, "a task cannot be stored");
        }
        *self.known.lock() = known;
        Ok(changed?.map(|stored| stored.record))
    }

    /// What a handler that ended so comes to: exactly what a plain call would have.
    fn end_of(&self, reply: ToolReply) -> End {
        let replayed = self.cx.questions().take().unwrap_or_default();
        let has_failed = match &reply {
            Ok(Outcome::Complete(result)) => result.has_failed(),
            Ok(_) => false,
            Err(_) => true,
        };
        let terms = self.cx.terms();
        let reply = match (replayed.broken, replayed.missing_capability) {
            (Some(broken), _) => Err(broken),
            (_, Some(missing)) if has_failed && terms.has(Feature::InputRequired) => Err(missing),
            _ => reply,
        };
        let reply = wrapped(reply, terms.revision, self.wraps);
        End::of(reply, self.tasks.options.max_result_bytes)
    }

    /// Writes the end, until the store accepts it or the record has expired.
    async fn write_end(&self, end: End) {
        let (mut end, mut pause) = (end, PAUSE);
        loop {
            let written = self.change(|record, now| {
                let mut next = record.clone();
                (self.is_ours(record) && next.end_with(end.clone(), now)).then_some(next)
            });
            match written.await {
                Ok(_) => return,
                Err(error) if is_refused(&error) => {
                    end = End::broken("the store has no room for the result".to_owned());
                }
                Err(_) if self.tasks.now() >= self.stored_until => return,
                Err(_) => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Waits for a change, or for the next check without notices.
async fn next_change(changes: &mut Option<Changes>) -> Woken {
    match changes {
        Some(changes) => match changes.next().await {
            Some(()) => Woken::Changed,
            None => Woken::Unwatched,
        },
        None => {
            sleep(PAUSE).await;
            Woken::Changed
        }
    }
}

/// Waits for an instant, or without limit.
async fn sleep_until_some(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

fn later(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now)
}
