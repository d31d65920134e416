//! The calls of the core to its tasks.

use std::sync::Arc;

use pintle_model::method::{
    CancelDetailedTask, CancelTask, GetDetailedTask, GetTask, GetTaskPayload, ListTasks, Method,
    UpdateTask,
};
use pintle_model::{Error, Feature, ServerCapabilities, TaskSupport};
use pintle_proto::Reply;
use pintle_runtime::{BoxFuture, Context};

use super::begin::TaskCandidate;
use crate::core::task_calls::{BegunCall, DefaultTasks};
use crate::core::{Core, PossibleTask, TaskCalls, TaskOrOutcome, TaskParts, TaskSetting};
use crate::failure::unknown;
use crate::task_code::TaskCode;
use crate::tasks::{TaskMode, TaskOptions, Tasks, tasks_capability};

static DEFAULT: DefaultTasks = || Box::<TaskOptions>::default();

impl TaskCode {
    /// The code of tasks. A program that refers to this contains it.
    pub(crate) const LINKED: Self = Self(&DEFAULT);
}

impl TaskSetting for TaskOptions {
    fn offer_in(&self, capabilities: ServerCapabilities) -> ServerCapabilities {
        tasks_capability(capabilities)
    }

    fn open(self: Box<Self>, parts: TaskParts) -> Box<dyn TaskCalls> {
        let tasks = Tasks::new(
            parts.store,
            parts.replica,
            *self,
            parts.profile,
            parts.changes,
        );
        Box::new(Arc::new(tasks))
    }
}

impl TaskCalls for Arc<Tasks> {
    fn wake(&self, core: &Arc<Core>) {
        if self.wakes_up() {
            core.begin_adoption(self);
        }
    }

    fn release(&self) -> BoxFuture<'_, ()> {
        Box::pin(Tasks::release(self))
    }

    fn answer<'a>(&'a self, cx: &'a Context) -> BoxFuture<'a, Result<Reply, Error>> {
        Box::pin(answer(self, cx))
    }

    fn begin<'a>(
        &'a self,
        core: &'a Core,
        call: PossibleTask<'a>,
    ) -> Result<Option<BegunCall<'a>>, Error> {
        let tool = &call.entry.item;
        let support = tool.definition().task_support();
        let candidate = TaskCandidate {
            core,
            tasks: self,
            cx: call.cx,
            entry: call.entry,
            arguments: call.arguments,
        };
        match TaskMode::of(&support, call.requested, call.cx.terms())? {
            TaskMode::Plain => Ok(None),
            TaskMode::Unknown => Err(unknown("tool", tool.name())),
            TaskMode::Task(ttl) => Ok(Some(Box::pin(async move {
                candidate.begin(ttl).await.map(TaskOrOutcome::Task)
            }))),
            TaskMode::InTime => match candidate.place() {
                Ok(place) => Ok(Some(Box::pin(candidate.begin_in_time(
                    call.retry,
                    call.identity,
                    place,
                )))),
                Err(full) if support == TaskSupport::Required => Err(full),
                Err(_) => Ok(None),
            },
        }
    }
}

async fn answer(tasks: &Arc<Tasks>, cx: &Context) -> Result<Reply, Error> {
    let request = cx.request();
    let method = request.method.as_str();
    tasks.join().await?;
    let is_core = cx.terms().has(Feature::CoreTasks);
    match method {
        GetTask::NAME if is_core => tasks.get_core(request, cx).await,
        CancelTask::NAME if is_core => tasks.cancel_core(request, cx).await,
        GetTaskPayload::NAME if is_core => tasks.result_core(request, cx).await,
        ListTasks::NAME if is_core => tasks.list_core(request, cx).await,
        GetDetailedTask::NAME => tasks.get_detailed(request, cx).await,
        UpdateTask::NAME => tasks.update(request, cx).await,
        CancelDetailedTask::NAME => tasks.cancel_detailed(request, cx).await,
        _ => Err(Error::method_not_found(method)),
    }
}
