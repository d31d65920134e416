//! Taking over tasks that nobody runs any more: after a restart, or from another replica.

use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle_model::method::{CallTool, Method, MethodName};
use pintle_model::{Error, ErrorCode};
use pintle_proto::{IncomingRequest, RequestKey};
use pintle_runtime::{Context, EngineHandle, Extensions, RetryInput};
use pintle_store::Page;
use tokio::time::sleep;

use super::begin::Launch;
use crate::core::Core;
use crate::tasks::{End, TaskEngineHandle, TaskRecord, Tasks};

/// How many records are looked at together.
const PAGE: usize = 100;

impl Core {
    /// Begins to look after the tasks that others left in the store; once, and only where others
    /// can have left any.
    pub(super) fn wake_tasks(self: &Arc<Self>) {
        if let Some(tasks) = self.tasks.as_ref().filter(|tasks| tasks.wakes_up()) {
            tokio::spawn(look_after(
                Arc::downgrade(self),
                tasks.options.lease_ttl / 2,
            ));
        }
    }

    /// Takes over every task that no process runs any more.
    async fn adopt_orphans(&self, tasks: &Arc<Tasks>) {
        let mut page = Page::first(PAGE);
        loop {
            let listed = match tasks.records.list(tasks.clock.now(), "", page).await {
                Ok(listed) => listed,
                Err(error) => {
                    tracing::error!(%error, "tasks cannot be listed");
                    return;
                }
            };
            for (_, item) in &listed.items {
                let record = &item.value;
                let until = record.stored_until(&tasks.options);
                tasks.ledger.keep(record.owner_id(), &record.id, until);
                if tasks.is_orphan(record, tasks.clock.now()) {
                    self.adopt(tasks, record).await;
                }
            }
            let Some(next) = listed.next else {
                return;
            };
            page = Page::after(next, PAGE);
        }
    }

    /// Takes over one task, unless somebody else was first.
    async fn adopt(&self, tasks: &Arc<Tasks>, record: &TaskRecord) {
        let taken = tasks.change(record.owner_id(), &record.id, |record, now| {
            let mut next = record.clone();
            next.lease = tasks.lease(now);
            next.take_given();
            // Its client could not answer meanwhile: the questions wait anew.
            if !next.questions.is_empty() {
                next.touch(now);
            }
            tasks.is_orphan(record, now).then_some(next)
        });
        let Ok(Some(record)) = taken.await else {
            return;
        };
        tracing::debug!(tool = record.origin.name, "a task is taken over");
        if let Err(error) = self.run_again(tasks, &record) {
            let ended = tasks.change(record.owner_id(), &record.id, |record, now| {
                let mut next = record.clone();
                next.end_with(End::Error(error.clone()), now)
                    .then_some(next)
            });
            if let Err(error) = ended.await {
                tracing::error!(%error, "the end of a task cannot be written down");
            }
        }
    }

    /// Runs the handler of a task over what is remembered of it.
    fn run_again(&self, tasks: &Arc<Tasks>, record: &TaskRecord) -> Result<(), Error> {
        let terms = record.origin.terms().ok_or_else(Error::internal)?;
        let principal = record.owner.as_ref().map(|owner| owner.to_principal());
        let entry = self
            .tools
            .snapshot()
            .find(&record.origin.name, principal.as_ref())
            .map(Arc::clone)
            .ok_or_else(tool_is_gone)?;
        let engine_handle = Arc::new(TaskEngineHandle::detached(&self.profile, &terms));
        let method = MethodName::from(CallTool::NAME);
        let cx = Context::with(
            IncomingRequest::new(RequestKey::NONE, method, Arc::new(terms)),
            Arc::clone(&engine_handle) as Arc<dyn EngineHandle>,
            principal,
            Extensions::new(),
        );
        let origin = &record.origin;
        let retry = RetryInput::new(origin.responses.clone(), origin.state.clone());
        cx.questions().set_retry(retry);
        cx.questions().resume(record.journal.clone());
        let launch = Launch {
            entry,
            arguments: origin.arguments.clone(),
            cx: cx.clone(),
            forwards_events: self.forwards_events,
        };
        // Before its first poll: its questions wait in the task from the beginning.
        cx.questions().begin_task();
        let handler = launch.run();
        let place = tasks.ledger.admit_anyway(record.owner_id());
        launch.start(tasks, record, handler, engine_handle, place);
        Ok(())
    }
}

/// Looks for tasks that nobody runs any more, for as long as the server lives.
async fn look_after(server: Weak<Core>, every: Duration) {
    while let Some(core) = server.upgrade() {
        if let Some(tasks) = &core.tasks {
            core.adopt_orphans(tasks).await;
        }
        drop(core);
        sleep(every).await;
    }
}

/// -32603: the server changed while the task was at work.
fn tool_is_gone() -> Error {
    let message = "the tool that the task runs is no longer there";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}
