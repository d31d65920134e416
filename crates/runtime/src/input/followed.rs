//! A question that the client turned into a task (2025-11-25): its status is polled, and its result
//! is requested at the end.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use pintle_model::method::{CancelTask, GetTask, GetTaskPayload, Method};
use pintle_model::{CreateTaskResult, JsonObject, ReadJson, Task, TaskStatus};
use pintle_proto::{CallId, Lane, NewCall, PeerCallError, Timeouts};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use super::error::AskError;
use crate::context::Context;

/// An answer that comes when a task ends.
pub(super) type Followed = Pin<Box<dyn Future<Output = Result<Box<RawValue>, AskError>> + Send>>;

/// Default of a task's poll interval.
const USUAL_PAUSE: Duration = Duration::from_secs(1);
/// Lower bound of a task's poll interval.
const LEAST_PAUSE: Duration = Duration::from_millis(100);

/// The task that a client has made, if it has made one: else `result` is the answer itself.
pub(super) fn created_task(result: &RawValue) -> Option<Task> {
    let members: JsonObject = serde_json::from_str(result.get()).ok()?;
    if !members.contains_key("task") || members.contains_key("resultType") {
        return None;
    }
    let created = CreateTaskResult::read_json(result.get()).ok()?;
    Some(created.task)
}

/// Waits for the end of a task, and returns the answer to its question.
pub(super) fn follow(cx: Context, task: Task, requested: Option<Duration>) -> Followed {
    let timeout = timeout_of(&cx, &task, requested);
    tracing::debug!(task = %task.task_id, ?timeout, "a question has become a task");
    Box::pin(async move {
        let deadline = Instant::now() + timeout;
        let watch = Watch::begin(&cx, &task.task_id)?;
        let ended = timeout_at(deadline, watch.answer(task, deadline)).await;
        let answer = ended.unwrap_or(Err(AskError::Failed(PeerCallError::TimedOut(timeout))));
        tracing::debug!(
            is_answered = answer.is_ok(),
            "a question that was a task has ended"
        );
        answer
    })
}

/// Returns the time to live of the task, or the requested one, up to the limit.
fn timeout_of(cx: &Context, task: &Task, requested: Option<Duration>) -> Duration {
    let limits = cx.limits();
    let kept = task.ttl.or(requested).unwrap_or(limits.question_timeout);
    kept.min(limits.client_task_timeout)
}

/// A task of the client while it is followed. Dropping it cancels a task that has not ended.
struct Watch {
    cx: Context,
    id: String,
    is_over: AtomicBool,
}

impl Watch {
    fn begin(cx: &Context, id: &str) -> Result<Self, AskError> {
        let followed = cx.engine().with(|engine| engine.follow_task(id));
        followed.map_err(AskError::Refused)?;
        Ok(Self {
            cx: cx.clone(),
            id: id.to_owned(),
            is_over: AtomicBool::new(false),
        })
    }

    async fn answer(&self, mut task: Task, deadline: Instant) -> Result<Box<RawValue>, AskError> {
        // In the status `input_required`, the client sends its question while its result is
        // requested.
        while !task.status.is_terminal() && task.status != TaskStatus::InputRequired {
            task = self.next(&task).await?;
        }
        if task.status.is_terminal() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        let wait = deadline.saturating_duration_since(Instant::now());
        let answer = self.ask(GetTaskPayload::NAME, wait).await;
        if !matches!(answer, Err(PeerCallError::TimedOut(_))) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        answer.map_err(AskError::Failed)
    }

    /// Returns the next status: from a notice of the client, or polled after a pause.
    async fn next(&self, task: &Task) -> Result<Task, AskError> {
        let pause = task.poll_interval.unwrap_or(USUAL_PAUSE).max(LEAST_PAUSE);
        let notice = TaskNotices(self);
        if let Ok(mut notified) = tokio::time::timeout(pause, notice).await {
            // A notice may leave out the poll interval that an earlier status had.
            notified.poll_interval = notified.poll_interval.or(task.poll_interval);
            return Ok(notified);
        }
        let idle = self.cx.limits().call_idle_timeout;
        let answer = self
            .ask(GetTask::NAME, idle)
            .await
            .map_err(AskError::Failed)?;
        Task::read_json(answer.get()).map_err(|error| AskError::Malformed(error.to_string()))
    }

    async fn ask(&self, method: &str, wait: Duration) -> Result<Box<RawValue>, PeerCallError> {
        let mut call = self.call(method);
        call.lane = Lane::Reply(self.cx.key());
        call.timeouts = Some(Timeouts::new(wait, wait));
        let now = Instant::now().into_std();
        let made = self
            .cx
            .engine()
            .with(|engine| engine.call_polled(now, call));
        // A conversation that refuses calls has ended.
        let call = made.map_err(|_| PeerCallError::Closed)?;
        Open { watch: self, call }.await
    }

    fn call(&self, method: &str) -> NewCall {
        let mut params = JsonObject::new();
        params.insert("taskId".to_owned(), self.id.as_str().into());
        NewCall::new(method, params)
    }

    fn cancel(&self) {
        let tasks = self.cx.terms().capabilities.tasks.as_ref();
        if tasks.is_none_or(|tasks| tasks.cancel.is_none()) {
            return;
        }
        let call = self.call(CancelTask::NAME);
        let now = Instant::now().into_std();
        // The request may have ended, so this leaves on the session's lane. The response is
        // ignored.
        let made = self.cx.engine().with(|engine| engine.call(now, call));
        if let Err(refusal) = made {
            tracing::debug!(task = %self.id, %refusal, "a task could not be cancelled");
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cx
            .engine()
            .with(|engine| engine.unfollow_task(&self.id));
        if !self.is_over.load(Ordering::Relaxed) {
            self.cancel();
        }
    }
}

/// The next status that the client sends unasked.
struct TaskNotices<'w>(&'w Watch);

impl Future for TaskNotices<'_> {
    type Output = Task;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Task> {
        let Watch { cx, id, .. } = self.0;
        cx.engine()
            .with(|engine| engine.poll_followed(id, task.waker()))
    }
}

/// A call on its way.
struct Open<'w> {
    watch: &'w Watch,
    call: CallId,
}

impl Future for Open<'_> {
    type Output = Result<Box<RawValue>, PeerCallError>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let engine = self.watch.cx.engine();
        engine.with(|engine| engine.poll_call(self.call, task))
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.watch
            .cx
            .engine()
            .with(|engine| engine.forget_call(self.call));
    }
}
