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

/// A call of a tool that is begun, and not waited for: see [`Call::as_task`].
#[must_use = "a call is made when it is awaited"]
pub struct TaskCall {
    call: Call<CallToolResult>,
    wish: TaskMetadata,
}

/// What became of a call that was to be a task. Closed: it became one, or it has ended.
#[derive(Debug)]
pub enum TaskStart {
    /// It goes on.
    Task(Task),
    /// It is done: the server made no task of it.
    Done(Box<CallToolResult>),
}

/// A task at the server: a call that goes on, also when nobody waits for it.
///
/// Dropping it changes nothing: the task goes on, and its [`Task::id`] finds it again, in this
/// process or in another one, with [`Client::task`]. Clones are the same task.
///
/// How long the server keeps it, and its result, [`Task::refresh`] says.
#[derive(Clone)]
pub struct Task {
    client: Client,
    followed: Arc<Followed>,
}

impl Call<CallToolResult> {
    /// Begins the call as a task, where it can be one: awaiting it gives a [`Task`] as soon as the
    /// server has begun, or the result if the server made no task of it.
    ///
    /// In 2025-11-25 the client asks for a task where the server makes tasks of calls and the tool
    /// says that it can be one; the list of tools is asked for that, unless it was. Since
    /// 2026-07-28 the server decides. Everywhere else it is a call as any other, with the time-outs
    /// of one.
    pub fn as_task(self) -> TaskCall {
        TaskCall {
            call: self,
            wish: TaskMetadata::default(),
        }
    }
}

impl TaskCall {
    /// Asks the server to keep the task and its result for this long, from its beginning
    /// (2025-11-25). The server decides, and says so in [`Task::refresh`].
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
                RawOutcome::Task(record) => {
                    Ok(TaskStart::Task(Task::begun(&client, &request, *record)))
                }
                RawOutcome::Result(raw) => {
                    let result = read_as(&client.0, &request, read, &raw, &session)?;
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
    /// The task, if the call became one.
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Done(_) => None,
        }
    }

    /// The result: at once if it is there, else when the task ends.
    ///
    /// # Errors
    ///
    /// As [`Task::wait`].
    ///
    /// # Cancellation
    ///
    /// The task goes on.
    pub async fn result(self) -> Result<CallToolResult, CallError> {
        match self {
            Self::Task(task) => task.wait().await,
            Self::Done(result) => Ok(*result),
        }
    }
}

impl Client {
    /// A task that was begun before, by its name: by this client, or by one of another process.
    /// Nothing is asked yet.
    pub fn task(&self, id: impl Into<String>) -> Task {
        Task::new(self, Followed::new(id.into()))
    }
}

impl Task {
    pub(crate) fn begun(client: &Client, request: &Request, record: Record) -> Self {
        Self::new(client, Followed::begun(request, record))
    }

    fn new(client: &Client, followed: Followed) -> Self {
        Self {
            client: client.clone(),
            followed: Arc::new(followed),
        }
    }

    /// The task's name at the server: with it the task is found again. Who knows it may do with the
    /// task whatever may be done.
    pub fn id(&self) -> &str {
        self.followed.id()
    }

    /// What the server said of the task last; nothing before it was asked.
    pub fn last(&self) -> Option<Record> {
        self.followed.last()
    }

    /// Asks how far the task has come.
    ///
    /// # Errors
    ///
    /// [`CallError`]; [`CallError::Answered`] with -32602 when there is no such task any more.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn refresh(&self) -> Result<Record, CallError> {
        let mut follow = self.follow(CallTimeouts::default(), TaskObserver::default());
        follow.look_once().await
    }

    /// Waits for the end of the task. The server's questions on the way go to the client's
    /// handlers, each of them once.
    ///
    /// # Errors
    ///
    /// - [`CallError::Answered`] with the error that the call ended with.
    /// - [`CallError::TaskCancelled`] if somebody has cancelled it.
    /// - [`CallError::TimedOut`] if the wait ran out; the task goes on.
    ///
    /// # Cancellation
    ///
    /// The task goes on; wait again, whenever and wherever.
    pub fn wait(&self) -> TaskWait {
        TaskWait {
            task: self.clone(),
            waiting: CallTimeouts::default(),
            hear: TaskObserver::default(),
        }
    }

    /// Asks the server to stop the task. It may end otherwise meanwhile: look at it, or wait for it,
    /// to know.
    ///
    /// # Errors
    ///
    /// [`CallError`]; in 2025-11-25 [`CallError::Answered`] with -32602 also when the task has
    /// ended, and [`CallError::NotSent`] if the server cannot stop tasks.
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

/// A wait for the end of a task that has not begun yet: awaiting it begins it.
#[must_use = "nothing waits until this is awaited"]
pub struct TaskWait {
    task: Task,
    waiting: CallTimeouts,
    hear: TaskObserver,
}

impl TaskWait {
    /// Waits so long at all; [`ClientOptions::task_timeout`](crate::ClientOptions::task_timeout)
    /// otherwise (default: 24 h). Since 2026-07-28 the time in which the user answers questions is
    /// not counted.
    pub fn total_timeout(mut self, total: Duration) -> Self {
        self.waiting.total = Some(total);
        self
    }

    /// Hears of progress (2025-11-25; later tasks tell of none): in order, all before the result.
    pub fn on_progress(mut self, hear: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.hear.progress = Some(Box::new(hear));
        self
    }

    /// Receives the task whenever it was read and has changed. A ttl that grows while the task works
    /// is not a change.
    pub fn on_change(mut self, hear: impl FnMut(&Record) + Send + 'static) -> Self {
        self.hear.change = Some(Box::new(hear));
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
            // Whoever waits anew looks first: it may be long since.
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
