//! Following a task to its end: polling it, answering its questions, and reading its result.

mod ask;
mod followed;
mod poll_schedule;
mod read;
mod retry;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::method::{
    CallTool, GetDetailedTask, GetTask, GetTaskPayload, Method, UpdateTask,
};
use pintle_model::{
    DetailedTask, Feature, InputRequests, InputResponses, OutcomeError, Task as Record,
    TaskIdParams, TaskStatus, UpdateTaskParams,
};
use tokio::time::{Instant, sleep_until};

use crate::conversation::Conversation;
use crate::error::{CallError, Misbehavior};
use crate::pending_task::CancelOnDrop;
use crate::request::{CallTimeouts, OnProgress, Request};
use crate::result::unreadable;
use crate::rounds::answer;
use crate::state::ClientState;
use crate::task_events::TaskListener;
use crate::tool_lookup::ToolLookup;

pub(crate) use ask::{Made, ask, request};
use followed::Claim;
pub(crate) use followed::Followed;
use poll_schedule::PollSchedule;
use read::{detailed, failure_of, misbehaved, result_of};

/// The closures that receive the events of a followed task.
#[derive(Default)]
pub(crate) struct TaskObserver {
    pub(crate) progress: Option<OnProgress>,
    pub(crate) change: Option<OnChange>,
}

/// Receives a change of the task.
pub(crate) type OnChange = Box<dyn FnMut(&Record) + Send>;

/// Waits for the task that a call became, as if the call took that long. If the caller drops the
/// future, or the wait fails, the task is cancelled, because no other code knows its id.
///
/// # Errors
///
/// As [`Task::wait`], as errors of the call.
pub(crate) async fn see_through(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
    record: Record,
) -> Result<Made, CallError> {
    let mut cancel_on_drop = CancelOnDrop::new(state, record.task_id.clone());
    let task = Arc::new(Followed::from_record(request, record.clone()));
    let observer = TaskObserver {
        progress: request.on_progress.take(),
        change: None,
    };
    let mut waiting = request.timeouts;
    let default = state.options.limits.call_total_timeout;
    waiting
        .total
        .get_or_insert(default.max(waiting.idle.unwrap_or_default()));
    let mut follow = Follow::new(state, lookup, task, waiting, observer);
    let ended = follow.until_end(Some(record)).await;
    cancel_on_drop.is_over = follow.is_over;
    ended
}

/// The state of following a task.
pub(crate) struct Follow<'a> {
    state: &'a ClientState,
    lookup: &'a dyn ToolLookup,
    task: Arc<Followed>,
    waiting: CallTimeouts,
    total: Duration,
    deadline: Instant,
    observer: TaskObserver,
    listener: Arc<TaskListener>,
    pace: PollSchedule,
    shown: Option<Record>,
    /// Whether the task is known to have ended.
    is_over: bool,
}

/// The result of one poll.
struct Looked {
    record: Record,
    /// The data of the status; none in 2025-11-25.
    detail: Option<Box<DetailedTask>>,
    session: Arc<Conversation>,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(
        state: &'a ClientState,
        lookup: &'a dyn ToolLookup,
        task: Arc<Followed>,
        waiting: CallTimeouts,
        observer: TaskObserver,
    ) -> Self {
        let options = &state.options;
        let total = waiting.total.unwrap_or(options.task_timeout);
        Self {
            waiting,
            total,
            deadline: deadline(total),
            observer,
            listener: state.task_events.listen(task.id()),
            pace: PollSchedule::new(options),
            shown: None,
            is_over: false,
            state,
            lookup,
            task,
        }
    }

    /// Polls the task once.
    pub(crate) async fn look_once(&mut self) -> Result<Record, CallError> {
        let params = TaskIdParams::new(self.task.id());
        let request = self.request::<GetTask>(&params, self.waiting);
        let made = ask(self.state, self.lookup, request).await?;
        Ok(self.looked(made)?.record)
    }

    /// Follows the task to its end; `first` is its present status, if known.
    pub(crate) async fn until_end(&mut self, first: Option<Record>) -> Result<Made, CallError> {
        if let Some(record) = first {
            self.show(&record);
            if !record.status.is_terminal() && record.status != TaskStatus::InputRequired {
                self.pause(&record).await?;
            }
        }
        loop {
            let looked = self.look().await?;
            let record = looked.record.clone();
            if let Some(made) = self.step(looked).await? {
                return Ok(made);
            }
            self.pause(&record).await?;
        }
    }

    async fn step(&mut self, looked: Looked) -> Result<Option<Made>, CallError> {
        let status = looked.record.status.clone();
        self.is_over = status.is_terminal();
        if status == TaskStatus::Cancelled {
            return Err(self.cancelled());
        }
        let Some(detail) = looked.detail else {
            let is_due = status.is_terminal() || status == TaskStatus::InputRequired;
            return match is_due {
                true => self.payload().await.map(Some),
                false => Ok(None),
            };
        };
        match status {
            TaskStatus::Completed => result_of(*detail, looked.session).map(Some),
            TaskStatus::Failed => Err(failure_of(*detail)),
            TaskStatus::InputRequired => {
                let asked = detail.input_requests.unwrap_or_default();
                self.answer_open(asked, &looked.session).await?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    async fn look(&mut self) -> Result<Looked, CallError> {
        let params = TaskIdParams::new(self.task.id());
        let made = self.insist::<GetTask>(&params).await?;
        let looked = self.looked(made)?;
        self.show(&looked.record);
        Ok(looked)
    }

    fn looked(&self, (raw, session): Made) -> Result<Looked, CallError> {
        let is_core = session.info.revision.has(Feature::CoreTasks);
        let looked = match is_core {
            true => serde_json::from_str::<Record>(raw.get())
                .map(|record| (record, None))
                .map_err(|error| unreadable(OutcomeError::Malformed(error))),
            false => detailed(&raw).map(|detail| {
                let record = Record::from(detail.handle.clone());
                (record, Some(Box::new(detail)))
            }),
        };
        let looked = looked.and_then(|(record, detail)| match record.task_id == self.task.id() {
            true => Ok(Looked {
                record,
                detail,
                session,
            }),
            false => Err(Misbehavior::AnotherTask),
        });
        let looked = looked.map_err(|source| misbehaved(GetDetailedTask::NAME, source))?;
        self.task.note(looked.record.clone());
        Ok(looked)
    }

    /// Returns the result of a task of 2025-11-25. The request waits until the task ends, and the
    /// server asks its questions meanwhile.
    async fn payload(&mut self) -> Result<Made, CallError> {
        let params = TaskIdParams::new(self.task.id());
        let had_ended = self.is_over;
        match self.insist::<GetTaskPayload>(&params).await {
            Err(CallError::Answered { error, .. }) => {
                // Only the status shows whether the task was cancelled, not the error.
                let is_cancelled = !had_ended
                    && matches!(self.look_once().await, Ok(now) if now.status == TaskStatus::Cancelled);
                self.is_over = true;
                Err(match is_cancelled {
                    true => self.cancelled(),
                    false => CallError::Answered {
                        method: CallTool::NAME.into(),
                        error,
                    },
                })
            }
            Ok(made) => {
                self.is_over = true;
                Ok(made)
            }
            Err(error) => Err(error),
        }
    }

    /// Answers the open questions that were not answered before, in one update.
    async fn answer_open(
        &mut self,
        asked: InputRequests,
        session: &Conversation,
    ) -> Result<(), CallError> {
        let began = Instant::now();
        let mut responses = InputResponses::new();
        let mut claims = Vec::new();
        for (name, question) in asked {
            let Some(claim) = Claim::of(&self.task, &name) else {
                continue;
            };
            claims.push(claim);
            self.check_questions()?;
            let state = self.state;
            let given = self.hearing(answer(state, session, question)).await;
            let given = given.map_err(|source| CallError::QuestionFailed {
                method: CallTool::NAME.into(),
                source,
            })?;
            responses.insert(name, given);
        }
        // The time of the user's answers does not count.
        self.deadline += began.elapsed();
        if responses.is_empty() {
            return Ok(());
        }
        let params = UpdateTaskParams::new(self.task.id(), responses);
        self.insist::<UpdateTask>(&params).await?;
        claims.iter_mut().for_each(|claim| claim.is_kept = true);
        Ok(())
    }

    fn check_questions(&self) -> Result<(), CallError> {
        let limit = self.state.options.max_questions_per_task;
        if self.task.claimed() <= limit {
            return Ok(());
        }
        let source = Misbehavior::TooManyQuestions { limit };
        Err(misbehaved(CallTool::NAME, source))
    }

    /// Waits until the next poll: when it is due, or when the server reports a change.
    async fn pause(&mut self, record: &Record) -> Result<(), CallError> {
        let pause = self.pace.after(record);
        let min = pause.min(self.pace.least());
        self.sleep(min).await?;
        let until = (Instant::now() + (pause - min)).min(self.deadline);
        let listener = Arc::clone(&self.listener);
        while !listener.take_change() && Instant::now() < until {
            tokio::select! {
                biased;
                () = listener.notified() => self.report_progress(),
                () = sleep_until(until) => {}
            }
        }
        self.check_time()
    }

    async fn sleep(&mut self, pause: Duration) -> Result<(), CallError> {
        let until = (Instant::now() + pause).min(self.deadline);
        self.hearing(sleep_until(until)).await;
        self.check_time()
    }

    fn check_time(&self) -> Result<(), CallError> {
        match Instant::now() >= self.deadline {
            true => Err(self.timed_out()),
            false => Ok(()),
        }
    }

    /// Awaits the work, and passes on the progress that arrives meanwhile.
    async fn hearing<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let listener = Arc::clone(&self.listener);
        loop {
            let done = tokio::select! {
                biased;
                done = &mut work => Some(done),
                () = listener.notified() => None,
            };
            self.report_progress();
            if let Some(done) = done {
                return done;
            }
        }
    }

    fn report_progress(&mut self) {
        while let Some(progress) = self.listener.take_progress() {
            if let Some(observer) = &mut self.observer.progress {
                observer(progress);
            }
        }
    }

    fn show(&mut self, record: &Record) {
        // The ttl of a running task may grow with time, which is not a change of the task.
        let is_as_before = self.shown.as_ref().is_some_and(|shown| {
            let mut shown = shown.clone();
            shown.ttl.clone_from(&record.ttl);
            shown == *record
        });
        if is_as_before {
            return;
        }
        tracing::debug!(task = %record.task_id, status = ?record.status, "a task is here");
        if let Some(observer) = &mut self.observer.change {
            observer(record);
        }
        self.shown = Some(record.clone());
    }

    fn timed_out(&self) -> CallError {
        CallError::TimedOut {
            method: CallTool::NAME.into(),
            timeout: self.total,
        }
    }

    fn cancelled(&self) -> CallError {
        CallError::TaskCancelled {
            method: CallTool::NAME.into(),
            task: self.task.id().to_owned(),
        }
    }
}

/// Returns the instant at which a wait that starts now ends.
fn deadline(total: Duration) -> Instant {
    let now = Instant::now();
    let far = Duration::from_secs(86_400 * 365 * 30);
    now + total.min(far)
}
