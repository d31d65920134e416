//! Client tasks: questions of the server that become tasks here (2025-11-25). The client answers
//! with a task at once, and with the handler's answer when the server requests it.
//!
//! A conversation has tasks of its own: no other one sees them, and they end with it.
//!
//! Spec: [2025-11-25, Tasks][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks

mod requests;
mod table;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use pintle_model::method::{Notice, TaskStatusChanged};
use pintle_model::{
    CreateTaskResult, Error, ErrorCode, InputResponse, Meta, Revision, Task, TaskMetadata,
    TaskStatus, Timestamp,
};
use pintle_proto::Reply;
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{Peer, random_bytes};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::options::ClientOptions;
use table::{StoredTask, Table};

/// The poll interval that the client states to the server.
const POLL: Duration = Duration::from_secs(1);
/// Shortest time for which a task is stored, so that the server can read it.
const SHORTEST: Duration = Duration::from_secs(1);
/// The longest message that goes with a status, in characters.
const MAX_MESSAGE: usize = 500;

/// The tasks of one conversation. Dropping them ends them.
pub(crate) struct ClientTasks(Arc<Shared>);

struct Shared {
    peer: Peer,
    bounds: Bounds,
    table: Mutex<Table>,
}

/// The limits of the client tasks.
struct Bounds {
    tasks: usize,
    bytes: usize,
    ttl: Duration,
    max_ttl: Duration,
}

/// The outcome of a question: the answer as an object without `_meta`, and its `_meta`.
pub(crate) type Outcome = Result<(Bytes, Meta), Error>;

/// A handle to the tasks, for the code that answers a request.
#[derive(Clone)]
pub(crate) struct ClientTaskHandle(Arc<Shared>);

impl ClientTasks {
    pub(crate) fn new(peer: Peer, options: &ClientOptions) -> Self {
        let bounds = Bounds {
            tasks: options.max_client_tasks,
            bytes: options.max_client_task_bytes,
            ttl: options.client_task_ttl,
            max_ttl: options.max_client_task_ttl,
        };
        Self(Arc::new(Shared {
            peer,
            bounds,
            table: Mutex::default(),
        }))
    }

    pub(crate) fn handle(&self) -> ClientTaskHandle {
        ClientTaskHandle(Arc::clone(&self.0))
    }
}

impl Drop for ClientTasks {
    fn drop(&mut self) {
        self.0.lock().clear();
    }
}

impl ClientTaskHandle {
    /// Turns a question into a task: `work` answers it, in the background.
    ///
    /// # Errors
    ///
    /// -32603 if there are too many tasks.
    pub(crate) fn begin(
        &self,
        wish: &TaskMetadata,
        revision: Revision,
        work: impl Future<Output = Result<InputResponse, Error>> + Send + 'static,
    ) -> Result<Reply, Error> {
        let bounds = &self.0.bounds;
        let ttl = wish.ttl.unwrap_or(bounds.ttl);
        let ttl = ttl.max(SHORTEST).min(bounds.max_ttl.max(SHORTEST));
        let task = new_task(ttl)?;
        let created = Reply::complete(CreateTaskResult::new(task.clone()), revision)?;
        let mut table = self.0.lock();
        if table.len() >= bounds.tasks {
            return Err(too_many());
        }
        tracing::debug!(task = %task.task_id, ?ttl, "a question has become a task");
        let life = Life {
            shared: Arc::clone(&self.0),
            id: task.task_id.clone(),
            expiry: Instant::now() + ttl,
        };
        let mut row = StoredTask::new(task);
        row.life = Some(tokio::spawn(life.live(row.end(), work)).abort_handle());
        table.insert(row);
        Ok(created)
    }
}

/// The life of a task: its work, and then the time for which it is stored.
struct Life {
    shared: Arc<Shared>,
    id: String,
    expiry: Instant,
}

impl Life {
    async fn live(
        self,
        mut end: watch::Receiver<bool>,
        work: impl Future<Output = Result<InputResponse, Error>> + Send + 'static,
    ) {
        let Self { shared, id, expiry } = self;
        let mut work = Work(tokio::spawn(work));
        tokio::select! {
            // A finished answer counts, even if the task is being cancelled.
            biased;
            answer = &mut work.0 => {
                // A handler that panics has failed.
                let answer = answer.unwrap_or_else(|_| Err(Error::internal()));
                shared.end(&id, answer.and_then(written));
            }
            _ = end.wait_for(|has_ended| *has_ended) => {}
            () = sleep_until(expiry) => {}
        }
        drop(work);
        sleep_until(expiry).await;
        tracing::debug!(task = %id, "a task of our own has expired");
        shared.lock().remove(&id);
    }
}

/// A running handler. Dropping this value aborts it.
struct Work(JoinHandle<Result<InputResponse, Error>>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Shared {
    /// Records the outcome of a task, and notifies the server.
    fn end(&self, id: &str, outcome: Outcome) {
        let mut table = self.lock();
        let outcome = table.fitted(outcome, self.bounds.bytes);
        let (status, message) = match &outcome {
            Ok(_) => (TaskStatus::Completed, None),
            Err(error) => (TaskStatus::Failed, Some(shorten(&error.message))),
        };
        let Some(task) = table.end(id, status, message, Some(outcome)) else {
            return;
        };
        drop(table);
        self.notify(&task);
    }

    fn notify(&self, task: &Task) {
        tracing::debug!(task = %task.task_id, status = %task.status, "a task of our own has ended");
        let Ok(Value::Object(params)) = serde_json::to_value(task) else {
            return;
        };
        let name = TaskStatusChanged::NAME;
        // A server that was not notified can poll.
        let _ = self
            .peer
            .with_engine_mut(|engine| engine.notify(name, Some(&params)));
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
}

fn new_task(ttl: Duration) -> Result<Task, Error> {
    let bytes = random_bytes::<16>().map_err(|_| Error::internal())?;
    let id = format!("{:032x}", u128::from_be_bytes(bytes));
    let mut task = Task::new(id, Timestamp::from(SystemTime::now()));
    task.ttl = Some(ttl);
    task.poll_interval = Some(POLL);
    Ok(task)
}

/// An answer as it is sent: an object without `_meta`, and that.
///
/// # Errors
///
/// -32603 if it cannot be written.
pub(crate) fn written(answer: InputResponse) -> Outcome {
    let answer = serde_json::to_value(answer).map_err(|_| Error::internal())?;
    let Value::Object(mut members) = answer else {
        return Err(Error::internal());
    };
    let meta = match members.shift_remove("_meta") {
        Some(Value::Object(meta)) => meta.into(),
        _ => Meta::new(),
    };
    let json = serde_json::to_vec(&members).map_err(|_| Error::internal())?;
    Ok((json.into(), meta))
}

/// -32603: there is no room for another task.
fn too_many() -> Error {
    let message = "there are too many tasks; ask without one, or again when some have expired";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).collect()
}
