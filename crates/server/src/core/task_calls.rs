//! The seam between the core and its tasks.

use std::sync::Arc;

use pintle_model::{CallToolResult, Error, Outcome, RawJson, ServerCapabilities};
use pintle_proto::{Reply, ServerProfile};
use pintle_runtime::{BoxFuture, Context};
use pintle_store::Store;

use super::Core;
use crate::changes::Changes;
use crate::entry::Entry;
use crate::input::{RequestIdentity, RetryParams};
use crate::replica::Replica;
use crate::task_code::TaskCode;
use crate::tool::Tool;

/// The description of tasks. A trait, because a server without tasks must not refer to their code.
pub(crate) trait TaskSetting: Send {
    /// Adds the capabilities of tasks.
    fn offer_in(&self, capabilities: ServerCapabilities) -> ServerCapabilities;

    /// Opens the tasks of a server.
    fn open(self: Box<Self>, parts: TaskParts) -> Box<dyn TaskCalls>;
}

/// Returns the default setting of tasks. [`TaskCode`] refers to it.
pub(crate) type DefaultTasks = fn() -> Box<dyn TaskSetting>;

impl TaskCode {
    /// Returns the default setting of tasks.
    pub(crate) fn setting(self) -> Option<Box<dyn TaskSetting>> {
        let setting = self.0.downcast_ref::<DefaultTasks>()?;
        Some(setting())
    }
}

/// The parts of a server that its tasks need.
pub(crate) struct TaskParts {
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) replica: Option<Arc<dyn Replica>>,
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) changes: Changes,
}

/// The tasks of a server. A trait, because a server without tasks must not refer to their code.
pub(crate) trait TaskCalls: Send + Sync {
    /// Begins to take over the tasks that others left in the store; once, and only where others can have left any.
    fn wake(&self, core: &Arc<Core>);

    /// Stops the handlers of all tasks, so that another replica runs them again.
    fn release(&self) -> BoxFuture<'_, ()>;

    /// Answers a method of tasks, in the words of the revision of the request.
    fn answer<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<Reply, Error>>;

    /// Returns the call as a task, or `None` for a call without a task.
    ///
    /// # Errors
    ///
    /// If the tool rejects the request of the call, or a required task does not have room.
    fn begin<'a>(
        &'a self,
        core: &'a Core,
        call: PossibleTask<'a>,
    ) -> Result<Option<BegunCall<'a>>, Error>;
}

/// A call that has begun, perhaps as a task.
pub(crate) type BegunCall<'a> = BoxFuture<'a, Result<TaskOrOutcome, Error>>;

/// The call of a tool that may become a task.
pub(crate) struct PossibleTask<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) entry: &'a Arc<Entry<Tool>>,
    pub(crate) arguments: Option<RawJson<'a>>,
    /// The task that a call of 2025-11-25 requests.
    pub(crate) requested: Option<RawJson<'a>>,
    pub(crate) retry: RetryParams<'a>,
    pub(crate) identity: RequestIdentity<'a>,
}

/// The result of a call. Closed: a task, or an outcome.
pub(crate) enum TaskOrOutcome {
    Task(Reply),
    Plain(Outcome<CallToolResult>),
}
