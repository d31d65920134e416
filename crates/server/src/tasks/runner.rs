//! Runs the handler of a task, and writes down what must not be lost.
//!
//! The lease in the record states which process runs the handler, and until when:
//!
//! ```text
//!                 ┌──── renewed at each write, or after a third ────┐
//!                 ▼                                                 │
//!  created ──► held by this process ────────────────────────────────┘
//!                 │       │       │
//!    the handler  │       │       │  the lease runs out, or its holder has lost the store
//!    ends, fails  │       │       ▼
//!    or is due    │       │     orphan ──── adopted ──► held by the process that adopts it
//!                 ▼       │                                          │
//!               ended ◄───┘ a client cancels the task                ▼
//!                                                this runner drops its handler: `CheckedState::Ended`
//! ```
//!
//! - The runner writes only while the record has no end and the lease is of its own process. It
//!   checks both within the update, because another process can adopt the task between two updates.
//! - Answers and cancellations of a client change the record without the lease.
//! - The handler continues on an answer, and the draft counts as saved, only after the write.
//! - A store that fails does not stop the handler. The lease then runs out, and another process
//!   runs the handler again from the record. Two handlers may run until this runner reads that.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::{Error, ErrorCode, Feature, Outcome};
use pintle_runtime::{Context, TaskCheckpoint};
use pintle_store::{Changes, StoreTime};
use tokio::time::{Instant, sleep, sleep_until};

use super::drive::{Running, caught};
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
/// How often the runner tries to write the end of a task.
const TRIES: u32 = 10;

/// Runs the handler of one task.
pub(crate) struct Runner {
    pub(crate) tasks: Arc<Tasks>,
    // The record itself is read anew at each step, because other processes change it.
    pub(crate) owner: Option<String>,
    pub(crate) id: String,
    /// The deadline when it is started; it moves with what the handler asks.
    pub(crate) deadline: Deadline,
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
    Renewal,
    Due,
}

/// The state of a task at a check.
enum CheckedState {
    /// It runs until this deadline; `None` if the store cannot be read.
    Running(Option<Deadline>),
    /// It has ended or expired, or another runner has its lease.
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
        let end = self.until_over(handler).await;
        self.cx.questions().end_task();
        if let Some(end) = end {
            self.write_end(end).await;
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
        // A third, because one write may fail before the lease runs out.
        let every = self.tasks.options.lease_ttl / 3;
        let mut renewal = later(every);
        let mut deadline = self.deadline;
        let mut due = self.tasks.clock.instant_of(deadline.at);
        loop {
            let questions = self.cx.questions();
            let woken = tokio::select! {
                biased;
                reply = &mut handler => Woken::Ended(Box::new(reply)),
                _ = poll_fn(|task| questions.poll_draft(task)) => Woken::Draft,
                change = next_change(&mut changes) => change,
                () = sleep_until(renewal) => Woken::Renewal,
                () = sleep_until(due) => Woken::Due,
            };
            let is_renewal = matches!(woken, Woken::Renewal);
            let is_due = matches!(woken, Woken::Due);
            match woken {
                Woken::Ended(reply) => return Some(self.end_of(*reply)),
                Woken::Unwatched => changes = None,
                Woken::Renewal => renewal = later(every),
                Woken::Draft | Woken::Changed | Woken::Due => {}
            }
            match self.check(is_renewal).await {
                CheckedState::Running(Some(moved)) if moved != deadline => {
                    deadline = moved;
                    due = self.tasks.clock.instant_of(moved.at);
                }
                CheckedState::Running(_) if is_due => {
                    return Some(End::broken(deadline.to_string()));
                }
                CheckedState::Running(_) => {}
                CheckedState::Ended => return None,
                CheckedState::Broken(error) => return Some(End::Error(error)),
            }
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
    async fn check(&self, renews: bool) -> CheckedState {
        let questions = self.cx.questions();
        let draft = questions.current_draft();
        if let Some(broken) = draft.broken {
            return CheckedState::Broken(broken);
        }
        let mut answered = Vec::new();
        let mut seen = CheckedState::Ended;
        let changed = self.change(|record, now| {
            answered.clear();
            seen = CheckedState::Ended;
            if record.end.is_some() || !self.tasks.is_ours(&record.lease) {
                return None;
            }
            seen = CheckedState::Running(Some(record.deadline(&self.tasks.options)));
            self.merged(record, &draft, &mut answered, renews, now)
        });
        let changed = match changed.await {
            Ok(changed) => changed,
            // The lease runs out if it stays so.
            Err(TaskWriteError) => return CheckedState::Running(None),
        };
        if let Some(record) = &changed {
            if let Some(broken) = self.excess(record) {
                return CheckedState::Broken(broken);
            }
            seen = CheckedState::Running(Some(record.deadline(&self.tasks.options)));
        }
        if matches!(seen, CheckedState::Running(_)) {
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

    /// The record with what the handler did and asks; nothing if that is nothing new.
    fn merged(
        &self,
        record: &TaskRecord,
        draft: &TaskCheckpoint,
        answered: &mut Vec<Answered>,
        renews: bool,
        now: StoreTime,
    ) -> Option<TaskRecord> {
        let mut next = record.clone();
        *answered = next.take_given();
        let is_new = next.take_draft(draft, answered) || !answered.is_empty();
        if !is_new && !renews {
            return None;
        }
        next.lease = self.tasks.lease(now);
        Some(next)
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
        change: impl FnMut(&TaskRecord, StoreTime) -> Option<TaskRecord> + Send,
    ) -> Result<Option<TaskRecord>, TaskWriteError> {
        let owner = self.owner.as_deref();
        let changed = self.tasks.change(owner, &self.id, change).await;
        changed.map_err(|error| {
            tracing::error!(%error, "a task cannot be written down");
            TaskWriteError
        })
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

    /// Writes the end down, as long as it takes and makes sense.
    async fn write_end(&self, end: End) {
        let mut end = end;
        for _ in 0..TRIES {
            let owner = self.owner.as_deref();
            let written = self.tasks.change(owner, &self.id, |record, now| {
                let mut next = record.clone();
                let is_ours = self.tasks.is_ours(&record.lease);
                (is_ours && next.end_with(end.clone(), now)).then_some(next)
            });
            match written.await {
                Ok(_) => return,
                Err(error) if is_refused(&error) => {
                    end = End::broken("there is no room for the result".to_owned());
                }
                Err(error) => {
                    tracing::error!(%error, "the end of a task cannot be written down");
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// The store could not.
struct TaskWriteError;

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

fn later(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now)
}
