//! Tasks of a server of 2025-11-25, for clients of the extension.
//!
//! The server asks the questions of a task while a request for its result waits. So a poll of a task that requires input
//! opens such a request. The proxy holds it, and the questions are in the answers to polls.

use std::sync::Arc;
use std::time::Duration;

use pintle::client::{Call, CallError};
use pintle::model::method::{CallTool, GetTask, GetTaskPayload, Method};
use pintle::model::{
    CallToolResult, DetailedTask, Error, Fit, InputRequests, InputResponse, JsonObject, Task,
    TaskHandle, TaskIdParams, TaskStatus,
};
use pintle::proto::Reply;
use pintle::runtime::Context;
use pintle::runtime::sync::Mutex;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Tasks;
use crate::error::{error_of, fit_error, internal};
use crate::link::Link;
use crate::owner::Owner;
use crate::questions::{Question, Questions};
use crate::task_form as form;
use crate::upstream::Upstream;

/// How long a call waits for the end of its task, before its client receives the task.
const TASK_DELAY: Duration = Duration::from_millis(200);
/// How long a poll waits for the questions of a task that requires input.
const FIRST_QUESTION: Duration = Duration::from_secs(2);
/// How long a poll waits for more questions.
const MORE_QUESTIONS: Duration = Duration::from_millis(50);

/// The end of a request for the result of a task.
type Ended = oneshot::Receiver<Result<Box<RawValue>, CallError>>;

/// A task of the server that a client follows.
pub(crate) struct CoreTask {
    id: String,
    owner: Owner,
    link: Arc<Link>,
    questions: Arc<Questions>,
    /// The questions that the client was asked.
    open: Mutex<Vec<Question>>,
    /// The request for the result, while the task requires input.
    wait: Mutex<Option<AbortHandle>>,
    polled: Mutex<Instant>,
}

impl Drop for CoreTask {
    fn drop(&mut self) {
        if let Some(wait) = self.wait.get_mut().take() {
            wait.abort();
        }
    }
}

impl Tasks {
    /// Stores a task, in place of the one that was polled least recently if there are too many.
    pub(crate) fn follow(&self, task: &Arc<CoreTask>, most: usize) {
        let mut all = self.core.lock();
        let mut removed = None;
        if all.len() >= most.max(1) && !all.contains_key(&task.id) {
            let oldest = all.values().min_by_key(|task| *task.polled.lock());
            let oldest = oldest.map(|task| task.id.clone());
            removed = oldest.and_then(|id| all.remove(&id));
        }
        all.insert(task.id.clone(), Arc::clone(task));
        drop(all);
        // Outside of the lock, because the last clone of a client closes its connection.
        drop(removed);
    }
}

impl Tasks {
    /// Removes a task that no client follows any more.
    pub(crate) fn forget(&self, task: &CoreTask) {
        let removed = self.core.lock().remove(&task.id);
        // Outside of the lock, because the last clone of a client closes its connection.
        drop(removed);
    }

    /// Returns a task that a client follows.
    ///
    /// # Errors
    ///
    /// -32602 for the task of another client.
    pub(crate) fn of_core(&self, cx: &Context, id: &str) -> Result<Option<Arc<CoreTask>>, Error> {
        match self.core.lock().get(id) {
            Some(task) if task.owner == Owner::of(cx) && !task.link.is_orphan() => {
                Ok(Some(Arc::clone(task)))
            }
            Some(_) => Err(form::unknown_task()),
            None => Ok(None),
        }
    }
}

impl CoreTask {
    pub(crate) fn new(id: String, cx: &Context, link: &Arc<Link>) -> Self {
        let questions = Arc::default();
        link.route(&id, &questions);
        Self {
            id,
            owner: Owner::of(cx),
            link: Arc::clone(link),
            questions,
            open: Mutex::default(),
            wait: Mutex::default(),
            polled: Mutex::new(Instant::now()),
        }
    }

    /// Whether the task was polled within `idle`, and its session exists.
    pub(super) fn is_fresh(&self, idle: Duration) -> bool {
        self.polled.lock().elapsed() < idle && !self.link.is_orphan()
    }

    pub(crate) fn request(
        &self,
        method: &str,
        upstream: &Upstream,
    ) -> Result<Call<Box<RawValue>>, Error> {
        self.link.touch();
        let params = serde_json::to_string(&TaskIdParams::new(&*self.id));
        let params = params.map_err(|_| Error::internal())?;
        let timeout = upstream.options.call_timeout;
        Ok(self.link.client().forward(method, &params).timeout(timeout))
    }

    /// Returns the reply to the call if the task ends at once with a result. A client of the extension need not poll then.
    pub(crate) async fn ended_soon(
        &self,
        upstream: &Upstream,
        cx: &Context,
    ) -> Option<Result<Reply, Error>> {
        let done = self.begin_wait(upstream).ok()??;
        match tokio::time::timeout(TASK_DELAY, done).await {
            Ok(Ok(Ok(raw))) => Some(
                form::related_result(&raw, None)
                    .and_then(|raw| upstream.reply(self.link.revision(), CallTool::NAME, raw, cx)),
            ),
            _ => {
                // An open question stays with the request that carries it.
                if !self.questions.has_open() {
                    self.end_wait();
                }
                None
            }
        }
    }

    /// Polls the server.
    pub(crate) async fn poll(&self, upstream: &Upstream) -> Result<Task, Error> {
        *self.polled.lock() = Instant::now();
        let raw = self.request(GetTask::NAME, upstream)?.await;
        let raw = raw.map_err(error_of)?;
        serde_json::from_str(raw.get())
            .map_err(|error| internal(&format!("invalid task of the server: {error}")))
    }

    /// Returns the task with the data of its status.
    pub(crate) async fn detailed(
        &self,
        record: Task,
        upstream: &Upstream,
        cx: &Context,
    ) -> Result<DetailedTask, Error> {
        let (status, mut handle) = (record.status.clone(), TaskHandle::from(record));
        form::relate(&mut handle.meta, None);
        match status {
            TaskStatus::InputRequired => {
                let asked = self.asked(upstream, cx).await?;
                if asked.is_empty() {
                    handle.status = TaskStatus::Working;
                    return Ok(DetailedTask::new(handle));
                }
                Ok(DetailedTask::asking(handle, asked))
            }
            TaskStatus::Completed | TaskStatus::Failed => {
                match self.request(GetTaskPayload::NAME, upstream)?.await {
                    Ok(raw) => Ok(DetailedTask::completed(
                        handle,
                        result_of(raw, upstream, cx)?,
                    )),
                    Err(CallError::Answered { error, .. }) => {
                        Ok(DetailedTask::failed(handle, fit_error(*error, cx)))
                    }
                    Err(failure) => Err(error_of(failure)),
                }
            }
            _ => Ok(DetailedTask::new(handle)),
        }
    }

    /// Returns the open questions, and begins to wait for them.
    async fn asked(&self, upstream: &Upstream, cx: &Context) -> Result<InputRequests, Error> {
        self.begin_wait(upstream)?;
        let is_first = {
            let mut open = self.open.lock();
            open.retain(Question::is_open);
            open.is_empty()
        };
        let patience = match is_first {
            true => FIRST_QUESTION,
            false => MORE_QUESTIONS,
        };
        if let Ok(more) = tokio::time::timeout(patience, self.questions.take()).await {
            self.open.lock().extend(more);
        }
        let mut asked = InputRequests::new();
        for question in &*self.open.lock() {
            let mut request = form::related(question.request.clone(), None);
            let fitted = request.fit(cx.terms().revision);
            fitted.map_err(|error| internal(&error.to_string()))?;
            asked.insert(&*question.name, request);
        }
        Ok(asked)
    }

    /// Opens the request for the result. Returns its end, or `None` if it is open already.
    fn begin_wait(&self, upstream: &Upstream) -> Result<Option<Ended>, Error> {
        let mut wait = self.wait.lock();
        if wait.as_ref().is_some_and(|wait| !wait.is_finished()) {
            return Ok(None);
        }
        let call = self.request(GetTaskPayload::NAME, upstream)?;
        let (sender, done) = oneshot::channel();
        let waiting = tokio::spawn(async move {
            let _ = sender.send(call.await);
        });
        *wait = Some(waiting.abort_handle());
        Ok(Some(done))
    }

    fn end_wait(&self) {
        if let Some(wait) = self.wait.lock().take() {
            wait.abort();
        }
    }

    /// Passes answers to the server. Returns true if a question was open.
    pub(crate) fn answer(&self, responses: &JsonObject) -> bool {
        *self.polled.lock() = Instant::now();
        let mut open = self.open.lock();
        open.retain(Question::is_open);
        let was_open = !open.is_empty();
        for question in std::mem::take(&mut *open) {
            let answer = question.request.kind().and_then(|kind| {
                let given = responses.get(&question.name)?.as_object()?;
                InputResponse::decode(kind, given).ok()
            });
            match answer {
                Some(answer) => question.answer(Ok(answer)),
                None => open.push(question),
            }
        }
        was_open
    }
}

/// Returns the result of a task as a client of the extension receives it.
fn result_of(raw: Box<RawValue>, upstream: &Upstream, cx: &Context) -> Result<JsonObject, Error> {
    let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
    let raw = upstream.remainders.cut(CallTool::NAME, raw, cx)?;
    let mut result: CallToolResult = serde_json::from_str(raw.get()).map_err(unreadable)?;
    form::relate(&mut result.meta, None);
    let fitted = result.fit(cx.terms().revision);
    fitted.map_err(|error| internal(&error.to_string()))?;
    match serde_json::to_value(&result).map_err(unreadable)? {
        serde_json::Value::Object(members) => Ok(members),
        _ => Err(Error::internal()),
    }
}
