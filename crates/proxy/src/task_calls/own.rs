//! Requests of clients of 2025-11-25 about tasks, at a server of the extension.

use std::sync::Arc;
use std::time::Duration;

use pintle::model::method::{CallTool, Method};
use pintle::model::{
    CreateTaskResult, Error, ListTasksResult, RawMembers, TaskIdParams, TaskMetadata,
};
use pintle::proto::{Rendered, Reply};
use pintle::runtime::Context;
use serde::Deserialize;

use crate::error::fit_error;
use crate::link::error_of_question;
use crate::proxy::Shared;
use crate::random_id::random_id;
use crate::sink::Sink;
use crate::task_form as form;
use crate::tasks::{End, OfContext, OwnCall, OwnTask, Round, stated, to_end};

/// The members of a call that requests a task.
#[derive(Deserialize)]
struct Augmented {
    #[serde(default)]
    task: Option<TaskMetadata>,
}

impl Shared {
    /// Calls a tool: as a task of the proxy if the client requests one.
    pub(super) async fn call_of_extension(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        let invalid = |error: serde_json::Error| Error::invalid_params(error.to_string());
        let augmented: Augmented = serde_json::from_str(params).map_err(invalid)?;
        let Some(wish) = augmented.task else {
            return self.call_without_task(cx, params).await;
        };
        let mut members = RawMembers::read(params).map_err(invalid)?;
        members.remove("task");
        let params = String::from_utf8(members.to_vec()).map_err(|_| Error::internal())?;
        self.begin_own(cx, params, wish.ttl)
    }

    /// Sends a plain call. If the server serves it as a task only, the proxy waits for the end of the task.
    pub(super) async fn call_without_task(
        self: &Arc<Self>,
        cx: &Context,
        params: &str,
    ) -> Result<Reply, Error> {
        match self.pass(cx, params).await {
            Err(error) if form::requires_extension(&error) => {}
            done => return done,
        }
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let sink = Sink::of(cx.request());
        let _progress = sink.attach(cx);
        let round = Round {
            upstream: &self.upstream,
            link: &lease.link,
            cx,
            sink: &sink,
            params,
            capabilities: Some(stated(&cx.terms().capabilities)),
        };
        let raw = to_end(&round, &OfContext(cx)).await?;
        self.upstream
            .reply(lease.link.revision(), CallTool::NAME, raw, cx)
    }

    fn begin_own(
        self: &Arc<Self>,
        cx: &Context,
        params: String,
        ttl: Option<Duration>,
    ) -> Result<Reply, Error> {
        let lease = self.connections.lease(&self.upstream, cx, false)?;
        let options = &self.upstream.options;
        let task = Arc::new(OwnTask::new(random_id()?, cx, ttl, options));
        self.tasks.add(&task, options.max_tasks)?;
        let created = CreateTaskResult::new(task.record());
        let reply = Rendered::new(created, cx.terms().revision)?;
        OwnCall::begin((&self.upstream, &self.tasks), &task, cx, params, lease);
        Ok(Reply::Task(reply))
    }

    /// Answers `tasks/get` with the present status.
    pub(super) fn get_own(&self, cx: &Context) -> Result<Reply, Error> {
        Reply::complete(self.own(cx)?.record(), cx.terms().revision)
    }

    /// Answers `tasks/cancel`: ends the task and stops its call.
    pub(super) fn cancel_own(&self, cx: &Context) -> Result<Reply, Error> {
        let task = self.own(cx)?;
        if !task.end(End::Cancelled) {
            let text = "the task has ended already; it cannot be cancelled";
            return Err(Error::invalid_params(text));
        }
        task.abort();
        Reply::complete(task.record(), cx.terms().revision)
    }

    /// Answers `tasks/list` with the tasks of the client, oldest first, on one page.
    pub(super) fn list_own(&self, cx: &Context) -> Result<Reply, Error> {
        let tasks = ListTasksResult::new(self.tasks.all_own(cx));
        Reply::complete(tasks, cx.terms().revision)
    }

    /// Answers `tasks/result` once the task has ended, and asks the client the questions of the task meanwhile.
    pub(super) async fn result_own(&self, cx: &Context) -> Result<Reply, Error> {
        let task = self.own(cx)?;
        let ask = |question| async {
            let answer = cx.ask(question).await;
            answer.map_err(|error| error_of_question(&error))
        };
        match task.ended(ask).await? {
            End::Result(raw, _) => {
                let raw = form::related_result(&raw, Some(task.id()))?;
                let revision = self.upstream.described(|server| server.revision);
                self.upstream.reply(Some(revision), CallTool::NAME, raw, cx)
            }
            End::Error(error) => Err(fit_error(error, cx)),
            End::Cancelled => Err(form::cancelled()),
        }
    }

    /// Returns the task of the client that a request names.
    fn own(&self, cx: &Context) -> Result<Arc<OwnTask>, Error> {
        let params: TaskIdParams = cx.request().params.decode()?;
        self.tasks.own(cx, &params.task_id)
    }
}
