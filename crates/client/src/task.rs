//! What a caller holds of a task.

use std::collections::BTreeSet;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pintle_model::method::{CallTool, CancelTask, Method};
use pintle_model::{CallToolResult, ProgressParams, Task as Record, TaskIdParams, TaskMetadata};
use tokio::time::Instant;

use crate::api::tool_result;
use crate::call::{Call, Given, Request, Waiting};
use crate::client::Client;
use crate::error::CallError;
use crate::execute::{Answer, begin, read_as};
use crate::follow::{Follow, Hear, ask, request};
use crate::task_events::Ear;

/// A call of a tool that is begun, and not waited for: see [`Call::as_task`].
#[must_use = "a call is made when it is awaited"]
pub struct TaskCall {
    call: Call<CallToolResult>,
    wish: TaskMetadata,
}

/// What became of a call that was to be a task. Closed: it became one, or it has ended.
#[derive(Debug)]
pub enum Begun {
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
/// How long the server keeps it, and its result, [`Task::look`] says.
#[derive(Clone)]
pub struct Task(Arc<Shared>);

struct Shared {
    client: Client,
    id: String,
    /// The tool that was called, as far as it is known.
    tool: Option<Box<str>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was said of it last.
    last: Option<Record>,
    /// The questions that were answered, or are being, by their names.
    answered: BTreeSet<String>,
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
    /// (2025-11-25). The server decides, and says so in [`Task::look`].
    pub fn keep_for(mut self, ttl: Duration) -> Self {
        self.wish = TaskMetadata::keep_for(ttl);
        self
    }
}

impl IntoFuture for TaskCall {
    type Output = Result<Begun, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Call {
            client,
            mut request,
            read,
        } = self.call;
        request.wish = Some(self.wish);
        Box::pin(async move {
            let (answer, session) = begin(&client, &mut request).await?;
            match answer {
                Answer::Task(record) => Ok(Begun::Task(Task::begun(&client, &request, *record))),
                Answer::Result(raw) => {
                    let result = read_as(&client, &request, read, &raw, &session)?;
                    Ok(Begun::Done(Box::new(result)))
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

impl Begun {
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
        Task::new(self, id.into(), None, State::default())
    }
}

impl Task {
    pub(crate) fn begun(client: &Client, request: &Request, record: Record) -> Self {
        let (id, tool) = (record.task_id.clone(), request.tool.clone());
        tracing::debug!(task = %id, tool, "a call has become a task");
        let state = State {
            last: Some(record),
            ..State::default()
        };
        Self::new(client, id, tool, state)
    }

    fn new(client: &Client, id: String, tool: Option<Box<str>>, state: State) -> Self {
        Self(Arc::new(Shared {
            client: client.clone(),
            id,
            tool,
            state: Mutex::new(state),
        }))
    }

    /// The task's name at the server: with it the task is found again. Who knows it may do with the
    /// task whatever may be done.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// What the server said of the task last; nothing before it was asked.
    pub fn last(&self) -> Option<Record> {
        self.lock().last.clone()
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
    pub async fn look(&self) -> Result<Record, CallError> {
        let mut follow = self.follow(Waiting::default(), Hear::default());
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
    pub fn wait(&self) -> Wait {
        Wait {
            task: self.clone(),
            waiting: Waiting::default(),
            hear: Hear::default(),
        }
    }

    /// Asks the server to stop the task. It may end otherwise meanwhile: look at it, or wait for it,
    /// to know.
    ///
    /// # Errors
    ///
    /// [`CallError`]; in 2025-11-25 [`CallError::Answered`] with -32602 also when the task has
    /// ended, and [`CallError::Refused`] if the server cannot stop tasks.
    ///
    /// # Cancellation
    ///
    /// The task may be cancelled, or not.
    pub async fn cancel(&self) -> Result<(), CallError> {
        let params = TaskIdParams::new(self.id());
        let client = &self.0.client;
        let request = request::<CancelTask>(client, self.id(), &params, Waiting::default());
        ask(client, request).await.map(drop)
    }

    pub(crate) fn follow(&self, waiting: Waiting, hear: Hear) -> Follow {
        Follow::new(self.clone(), waiting, hear)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.0.client
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref()
    }

    /// Hears what is told of the task.
    pub(crate) fn ear(&self) -> Arc<Ear> {
        let told = &self.0.client.0.told;
        told.listen(self.id())
    }

    pub(crate) fn note(&self, record: Record) {
        self.lock().last = Some(record);
    }

    /// How many questions were taken over.
    pub(crate) fn claimed(&self) -> usize {
        self.lock().answered.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
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
pub struct Wait {
    task: Task,
    waiting: Waiting,
    hear: Hear,
}

impl Wait {
    /// Waits so long at all; [`ClientOptions::task_wait`](crate::ClientOptions::task_wait)
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

impl IntoFuture for Wait {
    type Output = Result<CallToolResult, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let mut waiting = self.waiting;
        let usual = self.task.client().0.options.task_wait;
        waiting.total.get_or_insert(usual);
        Box::pin(async move {
            let mut follow = self.task.follow(waiting, self.hear);
            // Whoever waits anew looks first: it may be long since.
            let (raw, session) = follow.until_end(None).await?;
            let given = Given {
                raw: &raw,
                session: &session,
                client: self.task.client(),
                tool: self.task.tool(),
            };
            tool_result(&given).map_err(|source| CallError::Misbehaved {
                method: CallTool::NAME.into(),
                source,
            })
        })
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

/// A question that was taken over; given back unless its answer arrived.
pub(crate) struct Claim {
    task: Task,
    name: String,
    pub(crate) is_kept: bool,
}

impl Claim {
    /// Takes a question over; none if somebody did before.
    pub(crate) fn of(task: &Task, name: &str) -> Option<Self> {
        let is_first = task.lock().answered.insert(name.to_owned());
        is_first.then(|| Self {
            task: task.clone(),
            name: name.to_owned(),
            is_kept: false,
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_kept {
            self.task.lock().answered.remove(&self.name);
        }
    }
}

/// When something that begins now and takes this long is over.
pub(crate) fn deadline(total: Duration) -> Instant {
    let now = Instant::now();
    let far = Duration::from_secs(86_400 * 365 * 30);
    now + total.min(far)
}
