//! What a caller holds of a task.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::method::{CallTool, CancelTask, Method};
use pintle_model::{CallToolResult, ProgressParams, Task as Record, TaskIdParams, TaskMetadata};

use crate::call::Call;
use crate::client::Client;
use crate::error::CallError;
use crate::execute::begin;
use crate::follow::{Follow, Followed, TaskObserver, ask, request};
use crate::request::{CallTimeouts, Request};
use crate::result::{RawOutcome, RawResult, read_as, tool_result};

/// A tool call that starts as a task: see [`Call::as_task`].
#[must_use = "a call is made when it is awaited"]
pub struct TaskCall {
    call: Call<CallToolResult>,
    wish: TaskMetadata,
}

/// The start of a call that may become a task. Closed: the call became a task, or it has ended.
#[derive(Debug)]
pub enum TaskStart {
    /// The task runs.
    Task(Task),
    /// The call is done, because the server did not turn it into a task.
    Done(Box<CallToolResult>),
}

/// A task at the server: a call that runs without a waiting caller.
///
/// Dropping this value changes nothing: the task runs on. [`Client::task`] finds it again by its
/// [`Task::id`], in this process or in another one. Clones are the same task.
///
/// [`Task::refresh`] returns how long the server stores the task and its result.
#[derive(Clone)]
pub struct Task {
    client: Client,
    followed: Arc<Followed>,
}

impl Call<CallToolResult> {
    /// Starts the call as a task where possible. Awaiting it returns a [`Task`] as soon as the
    /// server has created one, or the result if the server did not.
    ///
    /// In 2025-11-25 the client requests a task if the server supports tasks for calls and the tool
    /// allows one. It lists the tools first if it does not know the tool. Since 2026-07-28 the
    /// server decides. Otherwise it is an ordinary call with the timeouts of one.
    pub fn as_task(self) -> TaskCall {
        TaskCall {
            call: self,
            wish: TaskMetadata::default(),
        }
    }
}

impl TaskCall {
    /// Requests that the server store the task and its result for this long from its creation
    /// (2025-11-25). The server decides; [`Task::refresh`] returns its decision.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.wish = TaskMetadata::with_ttl(ttl);
        self
    }
}

impl IntoFuture for TaskCall {
    type Output = Result<TaskStart, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Call {
            client,
            mut request,
            read,
        } = self.call;
        request.wish = Some(self.wish);
        Box::pin(async move {
            let (answer, session) = begin(&client.0, &client, &mut request).await?;
            match answer {
                RawOutcome::Task(record) => Ok(TaskStart::Task(Task::from_record(
                    &client, &request, *record,
                ))),
                RawOutcome::Result(raw) => {
                    let result = read_as(&client.0, &request, read, raw, &session)?;
                    Ok(TaskStart::Done(Box::new(result)))
                }
            }
        })
    }
}

impl fmt::Debug for TaskCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskCall")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

impl TaskStart {
    /// Returns the task, if the call became one.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Done(_) => None,
        }
    }

    /// Returns the result: at once if the call is done, otherwise when the task ends.
    ///
    /// # Errors
    ///
    /// As [`Task::wait`].
    ///
    /// # Cancellation
    ///
    /// The task runs on.
    pub async fn result(self) -> Result<CallToolResult, CallError> {
        match self {
            Self::Task(task) => task.wait().await,
            Self::Done(result) => Ok(*result),
        }
    }
}

impl Client {
    /// Returns a handle for an existing task by its id, also for a task of another process. Sends
    /// no request.
    pub fn task(&self, id: impl Into<String>) -> Task {
        Task::new(self, Followed::new(id.into()))
    }
}

impl Task {
    pub(crate) fn from_record(client: &Client, request: &Request, record: Record) -> Self {
        Self::new(client, Followed::from_record(request, record))
    }

    fn new(client: &Client, followed: Followed) -> Self {
        Self {
            client: client.clone(),
            followed: Arc::new(followed),
        }
    }

    /// Returns the task's id at the server, which finds the task again. The id gives access to the
    /// task, so treat it as a secret.
    pub fn id(&self) -> &str {
        self.followed.id()
    }

    /// Returns the last status that the server sent; none before the first.
    pub fn last(&self) -> Option<Record> {
        self.followed.last()
    }

    /// Reads the status of the task from the server.
    ///
    /// # Errors
    ///
    /// [`CallError`]; [`CallError::Answered`] with -32602 if the task does not exist any more.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn refresh(&self) -> Result<Record, CallError> {
        let mut follow = self.follow(CallTimeouts::default(), TaskObserver::default());
        follow.look_once().await
    }

    /// Waits for the end of the task. The client's handlers answer the server's questions during
    /// the task, each of them once.
    ///
    /// # Errors
    ///
    /// - [`CallError::Answered`] with the error of the call.
    /// - [`CallError::TaskCancelled`] if the task was cancelled.
    /// - [`CallError::TimedOut`] if the timeout elapsed; the task runs on.
    ///
    /// # Cancellation
    ///
    /// The task runs on, and another wait may follow at any time.
    pub fn wait(&self) -> TaskWait {
        TaskWait {
            task: self.clone(),
            waiting: CallTimeouts::default(),
            hear: TaskObserver::default(),
        }
    }

    /// Asks the server to cancel the task. The task may still end otherwise: refresh it or wait for
    /// it.
    ///
    /// # Errors
    ///
    /// [`CallError`]; in 2025-11-25 [`CallError::Answered`] with -32602 also if the task has ended,
    /// and [`CallError::NotSent`] if the server cannot cancel tasks.
    ///
    /// # Cancellation
    ///
    /// The task may be cancelled, or not.
    pub async fn cancel(&self) -> Result<(), CallError> {
        let params = TaskIdParams::new(self.id());
        let state = &*self.client.0;
        let request = request::<CancelTask>(state, self.id(), &params, CallTimeouts::default());
        ask(state, &self.client, request).await.map(drop)
    }

    fn follow(&self, waiting: CallTimeouts, hear: TaskObserver) -> Follow<'_> {
        let followed = Arc::clone(&self.followed);
        Follow::new(&self.client.0, &self.client, followed, waiting, hear)
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("last", &self.last())
            .finish_non_exhaustive()
    }
}

/// A wait for the end of a task. It starts when it is awaited.
#[must_use = "nothing waits until this is awaited"]
pub struct TaskWait {
    task: Task,
    waiting: CallTimeouts,
    hear: TaskObserver,
}

impl TaskWait {
    /// Sets the total timeout of the wait; the default is
    /// [`ClientOptions::task_timeout`](crate::ClientOptions::task_timeout) (24 h). Since 2026-07-28
    /// the time in which the user answers questions is not counted.
    pub fn total_timeout(mut self, total: Duration) -> Self {
        self.waiting.total = Some(total);
        self
    }

    /// Calls the closure with each progress, in order, before the result (2025-11-25; later
    /// revisions have none for tasks).
    pub fn on_progress(mut self, receive: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.hear.progress = Some(Box::new(receive));
        self
    }

    /// Calls the closure with the status after each read that shows a change. A ttl that grows
    /// while the task runs is not a change.
    pub fn on_change(mut self, receive: impl FnMut(&Record) + Send + 'static) -> Self {
        self.hear.change = Some(Box::new(receive));
        self
    }
}

impl IntoFuture for TaskWait {
    type Output = Result<CallToolResult, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let mut waiting = self.waiting;
        let usual = self.task.client.0.options.task_timeout;
        waiting.total.get_or_insert(usual);
        Box::pin(async move {
            let mut follow = self.task.follow(waiting, self.hear);
            // A new wait polls at once, because the last status may be old.
            let (raw, session) = follow.until_end(None).await?;
            let given = RawResult {
                raw: &raw,
                session: &session,
                state: &self.task.client.0,
                tool: self.task.followed.tool(),
            };
            tool_result(&given).map_err(|source| CallError::Misbehaved {
                method: CallTool::NAME.into(),
                source,
            })
        })
    }
}

impl fmt::Debug for TaskWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskWait")
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}
