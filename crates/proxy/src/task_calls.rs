//! Calls of tools that may become tasks, and requests about tasks, between sides with different forms of tasks.

mod core;
mod mounted;
mod own;

use std::sync::Arc;

use pintle::model::Error;
use pintle::model::method::{CancelTask, GetTask, GetTaskPayload, ListTasks, Method, UpdateTask};
use pintle::proto::Reply;
use pintle::runtime::Context;

use crate::proxy::Shared;
use crate::task_form::TaskForm;

impl Shared {
    /// Calls a tool, which may become a task in the form of the client.
    pub(crate) async fn call_tool(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        match self.upstream.task_form(cx) {
            TaskForm::Same => self.pass(cx, params).await,
            TaskForm::OfCore => Box::pin(self.call_of_core(cx, params)).await,
            TaskForm::OfExtension => Box::pin(self.call_of_extension(cx, params)).await,
        }
    }

    /// Answers a method of tasks.
    pub(crate) async fn task_method(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        let method = cx.request().method.as_str();
        match (self.upstream.task_form(cx), method) {
            (TaskForm::Same, _) => self.pass(cx, params).await,
            (TaskForm::OfCore, GetTask::NAME) => Box::pin(self.get_of_core(cx)).await,
            (TaskForm::OfCore, UpdateTask::NAME) => Box::pin(self.update_of_core(cx)).await,
            (TaskForm::OfCore, CancelTask::NAME) => Box::pin(self.cancel_of_core(cx)).await,
            (TaskForm::OfExtension, GetTask::NAME) => self.get_own(cx),
            (TaskForm::OfExtension, CancelTask::NAME) => self.cancel_own(cx),
            (TaskForm::OfExtension, ListTasks::NAME) => self.list_own(cx),
            (TaskForm::OfExtension, GetTaskPayload::NAME) => Box::pin(self.result_own(cx)).await,
            _ => Err(Error::method_not_found(method)),
        }
    }
}
