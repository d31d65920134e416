//! Requests of clients of the extension about tasks of a server of 2025-11-25.

use std::borrow::Cow;
use std::sync::Arc;

use pintle::model::method::{CallTool, CancelTask, Method};
use pintle::model::{
    CreateTaskResult, EmptyResult, Error, ErrorCode, JsonObject, RawMembers, TaskHandle,
    TaskIdParams, TaskSupport,
};
use pintle::proto::{Rendered, Reply};
use pintle::runtime::Context;
use serde::Deserialize;
use serde_json::value::to_raw_value;

use crate::error::error_of;
use crate::link::Link;
use crate::proxy::Shared;
use crate::sink::Sink;
use crate::task_form as form;
use crate::tasks::CoreTask;

/// The answers of a client. Invalid ones are ignored, one by one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    task_id: String,
    input_responses: JsonObject,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Returns the name of the tool of a call.
pub(super) fn name_of(params: &str) -> Result<String, Error> {
    let named = serde_json::from_str::<Named>(params);
    let named = named.map_err(|error| Error::invalid_params(error.to_string()))?;
    Ok(named.name)
}

/// A call that was sent with a request for a task.
pub(super) enum Begun {
    /// The call has its result.
    Ended(Reply),
    /// The call runs as this task.
    Running(Box<TaskHandle>),
}

/// Returns the parameters without the request for a task, which the extension does not have.
fn without_wish(params: &str) -> Result<Cow<'_, str>, Error> {
    let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
    let mut members = RawMembers::read(params).map_err(invalid)?;
    if members.remove("task").is_none() {
        return Ok(Cow::Borrowed(params));
    }
    let text = String::from_utf8(members.to_vec()).map_err(|_| Error::internal())?;
    Ok(Cow::Owned(text))
}

impl Shared {
    /// Calls a tool: as a task if the tool can be one and the client has the extension.
    pub(super) async fn call_of_core(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        let name = name_of(params)?;
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let support = self.task_support(&name, &lease.link).await;
        let can_be_task = matches!(support, TaskSupport::Required | TaskSupport::Optional);
        if can_be_task && form::declares(cx) {
            return Ok(match self.begin_of_core(cx, params, &lease.link).await? {
                Begun::Ended(reply) => reply,
                Begun::Running(task) => Reply::Task(Rendered::new(*task, cx.terms().revision)?),
            });
        }
        drop(lease);
        match support {
            TaskSupport::Required => Err(form::needs_extension()),
            _ => self.pass(cx, &without_wish(params)?).await,
        }
    }

    /// Sends a call with a request for a task.
    pub(super) async fn begin_of_core(
        &self,
        cx: &Context,
        params: &str,
        link: &Arc<Link>,
    ) -> Result<Begun, Error> {
        let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
        let wish = to_raw_value(&JsonObject::new()).map_err(invalid)?;
        let mut members = RawMembers::read(params).map_err(invalid)?;
        members.insert("task", &*wish);
        let params = String::from_utf8(members.to_vec()).map_err(|_| Error::internal())?;
        let call = Sink::of(cx.request()).call(&self.upstream, link, cx.request(), &params);
        let raw = call.await.map_err(error_of)?;
        let Ok(created) = serde_json::from_str::<CreateTaskResult>(raw.get()) else {
            let reply = self
                .upstream
                .reply(link.revision(), CallTool::NAME, raw, cx);
            return reply.map(Begun::Ended);
        };
        let task = Arc::new(CoreTask::new(created.task.task_id.clone(), cx, link));
        self.tasks.follow(&task, self.upstream.options.max_tasks);
        if let Some(ended) = task.ended_soon(&self.upstream, cx).await {
            return ended.map(Begun::Ended);
        }
        let mut handle = TaskHandle::from(created.task);
        handle.meta = created.meta;
        form::relate(&mut handle.meta, None);
        Ok(Begun::Running(Box::new(handle)))
    }

    /// Answers `tasks/get` with a poll of the server.
    pub(super) async fn get_of_core(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        form::check_declared(cx)?;
        let params: TaskIdParams = cx.request().params.decode()?;
        let task = self.task_of_core(cx, &params.task_id)?;
        let record = task.poll(&self.upstream).await?;
        if !record.status.is_terminal() {
            self.tasks.follow(&task, self.upstream.options.max_tasks);
        }
        let detailed = task.detailed(record, &self.upstream, cx).await?;
        Reply::complete(detailed, cx.terms().revision)
    }

    /// Answers `tasks/update`: passes the answers of the client to the server.
    pub(super) async fn update_of_core(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        form::check_declared(cx)?;
        let update: Update = cx.request().params.decode()?;
        let task = self.task_of_core(cx, &update.task_id)?;
        if !task.answer(&update.input_responses) {
            // The task may be unknown.
            task.poll(&self.upstream).await?;
        }
        Reply::complete(EmptyResult::default(), cx.terms().revision)
    }

    /// Answers `tasks/cancel`, also for a task that has ended.
    pub(super) async fn cancel_of_core(self: &Arc<Self>, cx: &Context) -> Result<Reply, Error> {
        form::check_declared(cx)?;
        let params: TaskIdParams = cx.request().params.decode()?;
        let task = self.task_of_core(cx, &params.task_id)?;
        let cancelled = task.request(CancelTask::NAME, &self.upstream)?.await;
        if let Err(failure) = cancelled {
            let error = error_of(failure);
            let is_refused = error.code == ErrorCode::INVALID_PARAMS;
            let has_ended = is_refused
                && matches!(task.poll(&self.upstream).await, Ok(task) if task.status.is_terminal());
            if !has_ended {
                return Err(error);
            }
        }
        Reply::complete(EmptyResult::default(), cx.terms().revision)
    }

    /// Returns a task that the client follows, or one that it knows by its id.
    ///
    /// # Errors
    ///
    /// -32602 for the task of another client.
    pub(super) fn task_of_core(
        self: &Arc<Self>,
        cx: &Context,
        id: &str,
    ) -> Result<Arc<CoreTask>, Error> {
        if let Some(task) = self.tasks.of_core(cx, id)? {
            return Ok(task);
        }
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        Ok(Arc::new(CoreTask::new(id.to_owned(), cx, &lease.link)))
    }

    /// Returns whether a tool can run as a task. Unknown tools are listed first.
    pub(super) async fn task_support(&self, tool: &str, link: &Link) -> TaskSupport {
        let tools = &self.upstream.tools;
        if !tools.is_listed() {
            tools.list(link.client()).await;
        }
        tools.task_support(tool)
    }
}
