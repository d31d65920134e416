//! Calls of tools for a server in front of the proxy, whose tools are not tasks: the proxy follows a task to its end.

use std::sync::Arc;

use pintle::model::method::{CallTool, Method};
use pintle::model::{
    DetailedTask, Error, Feature, JsonObject, TaskHandle, TaskIdParams, TaskStatus, TaskSupport,
};
use pintle::proto::{Rendered, Reply};
use pintle::runtime::Context;
use serde_json::value::to_raw_value;
use tokio::time::sleep;

use super::core::{Begun, name_of};
use crate::error::internal;
use crate::proxy::Shared;
use crate::reply::reply_of;
use crate::sink::Sink;
use crate::task_form as form;
use crate::tasks::{
    AskClient, CancelOnDrop, CoreTask, OfContext, Round, follow, pause_before_poll, stated, within,
};

impl Shared {
    /// Calls a tool, and waits for the end of the task that it may become. Dropping the future cancels the task.
    pub(crate) async fn call_to_end(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        let params = self.upstream.filter.tools.call(params)?;
        if self.is_task_of_core(cx, &params).await? {
            return Box::pin(self.end_of_core(cx, &params)).await;
        }
        match self.call_without_task(cx, &params).await? {
            Reply::Task(task) => Box::pin(self.end_of_extension(cx, &params, &task)).await,
            reply => Ok(reply),
        }
    }

    /// Whether a server of 2025-11-25 runs the tool as a task only.
    async fn is_task_of_core(self: &Arc<Self>, cx: &Context, params: &str) -> Result<bool, Error> {
        let has_core = self.upstream.described(|server| {
            server.revision.has(Feature::CoreTasks) && form::has_core(&server.capabilities)
        });
        if !has_core {
            return Ok(false);
        }
        let name = name_of(params)?;
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let support = self.task_support(&name, &lease.link).await;
        Ok(support == TaskSupport::Required)
    }

    async fn end_of_extension(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
        task: &Rendered,
    ) -> Result<Reply, Error> {
        let handle: TaskHandle = serde_json::from_slice(&task.json())
            .map_err(|error| internal(&format!("invalid task of the server: {error}")))?;
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let round = Round {
            upstream: &self.upstream,
            link: &lease.link,
            cx,
            sink: &Sink::of(cx.request()),
            params,
            capabilities: Some(stated(&cx.terms().capabilities)),
        };
        let raw = within(&self.upstream, follow(&round, &OfContext(cx), handle)).await?;
        self.upstream
            .reply(lease.link.revision(), CallTool::NAME, raw, cx)
    }

    async fn end_of_core(self: &Arc<Self>, cx: &Context, params: &str) -> Result<Reply, Error> {
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let _open = lease.link.open.add(cx);
        let handle = match self.begin_of_core(cx, params, &lease.link).await? {
            Begun::Running(handle) => *handle,
            Begun::Ended(reply) => return Ok(reply),
        };
        let id = serde_json::to_string(&TaskIdParams::new(&*handle.task_id));
        let id = id.map_err(|_| Error::internal())?;
        let mut cancel = CancelOnDrop::new(&lease.link, id, None);
        let task = self.task_of_core(cx, &handle.task_id)?;
        let ended = within(&self.upstream, self.follow_core(cx, &task, handle)).await?;
        cancel.is_over = true;
        self.tasks.forget(&task);
        match ended.handle.status {
            TaskStatus::Completed => {
                let raw = to_raw_value(&ended.result.unwrap_or_default());
                let raw = raw.map_err(|_| Error::internal())?;
                let to = cx.terms().revision;
                reply_of(CallTool::NAME, &raw, (to, to), "")
            }
            TaskStatus::Failed => Err(ended.error.unwrap_or_else(Error::internal)),
            _ => Err(form::cancelled()),
        }
    }

    /// Polls a task of a server of 2025-11-25 until it ends, and asks the client its questions.
    async fn follow_core(
        &self,
        cx: &Context,
        task: &Arc<CoreTask>,
        mut handle: TaskHandle,
    ) -> Result<DetailedTask, Error> {
        loop {
            sleep(pause_before_poll(&handle)).await;
            let record = task.poll(&self.upstream).await?;
            let polled = task.detailed(record, &self.upstream, cx).await?;
            if polled.handle.status.is_terminal() {
                return Ok(polled);
            }
            let mut answers = JsonObject::new();
            for (name, question) in polled.input_requests.into_iter().flatten() {
                let answer = OfContext(cx).ask(question).await?;
                let answer = serde_json::to_value(answer).map_err(|_| Error::internal())?;
                answers.insert(name, answer);
            }
            if !answers.is_empty() {
                task.answer(&answers);
            }
            handle = polled.handle;
        }
    }
}
