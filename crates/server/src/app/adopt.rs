//! Taking over tasks of processes that are gone: after a restart, or from another replica.

#[cfg(feature = "replicas")]
mod orphans;

use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle_model::method::{CallTool, Method, MethodName};
use pintle_model::{Error, ErrorCode};
use pintle_proto::{IncomingRequest, RequestKey};
use pintle_runtime::{Context, EngineHandle, Extensions, RetryInput};
use pintle_store::{Page, StoreTime, TypedStoreError};
use tokio::time::sleep;

use super::begin::Launch;
use crate::core::Core;
use crate::tasks::{BegunTask, End, StoredTask, TaskEngineHandle, TaskRecord, Tasks};

/// How many records are read together.
const PAGE: usize = 100;
/// Pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// The result of a try to take a task over. Closed: these are all.
enum Taken {
    /// The entry of the earlier holder can be removed: this replica has the task, or it has ended.
    Done,
    /// Another replica has the task, or a runner of this one still ends its earlier work on it.
    Elsewhere,
}

/// The handler of a task that runs again, and its conversation.
struct Relaunched {
    launch: Launch,
    engine_handle: Arc<TaskEngineHandle>,
}

impl Core {
    /// Begins to take over the tasks that others left in the store.
    pub(super) fn begin_adoption(self: &Arc<Self>, tasks: &Arc<Tasks>) {
        tokio::spawn(look_after(Arc::downgrade(self), Arc::clone(tasks)));
    }

    /// Counts the stored tasks of a store that has one process at a time, and takes over those of
    /// earlier processes.
    async fn adopt_stored(&self, tasks: &Arc<Tasks>) -> Result<(), TypedStoreError> {
        let mut page = Page::first(PAGE);
        loop {
            let listed = tasks.records.list(tasks.now(), "", page).await?;
            for (_, item) in listed.items {
                let stored = StoredTask::from(item);
                let until = stored.record.stored_until(&tasks.options);
                tasks
                    .ledger
                    .keep(stored.record.owner_id(), &stored.record.id, until);
                let holder = stored.record.holder.clone();
                if stored.record.end.is_none() && !tasks.replicas().is_present(&holder).await? {
                    self.take(tasks, stored, &holder, Some(0)).await?;
                }
            }
            let Some(next) = listed.next else {
                return Ok(());
            };
            page = Page::after(next, PAGE);
        }
    }

    /// Makes this replica the holder of a task, if the earlier one still is, and runs it.
    async fn take(
        &self,
        tasks: &Arc<Tasks>,
        stored: StoredTask,
        gone: &str,
        term: Option<u64>,
    ) -> Result<Taken, TypedStoreError> {
        let mut taken = Taken::Done;
        let own = tasks.replicas().name();
        let (owner, id) = (stored.record.owner.clone(), stored.record.id.clone());
        let key = (owner.as_ref().map(|owner| &*owner.id), &*id);
        let changed = tasks.change(key, Some(stored), |record, now| {
            // An earlier try whose answer was lost has written the own name.
            let is_orphan = [gone, own].contains(&&*record.holder);
            taken = match &record.end {
                None if !is_orphan => Taken::Elsewhere,
                _ => Taken::Done,
            };
            let is_taken = is_orphan && record.end.is_none();
            is_taken.then(|| taken_over(record, own, now))
        });
        let changed = changed.await?;
        if let Some(stored) = changed {
            self.run_again(tasks, stored, term).await;
        }
        Ok(taken)
    }

    /// Runs the handler of a task that this replica has taken over.
    async fn run_again(&self, tasks: &Arc<Tasks>, stored: StoredTask, term: Option<u64>) {
        let record = &stored.record;
        tracing::debug!(tool = record.origin.name, "a task is taken over");
        let until = record.stored_until(&tasks.options);
        tasks.ledger.keep(record.owner_id(), &record.id, until);
        match self.relaunch(record) {
            Ok(Relaunched {
                launch,
                engine_handle,
            }) => {
                // Before its first poll: its questions wait in the task from the beginning.
                launch.cx.questions().begin_task();
                let handler = launch.run();
                let place = tasks.ledger.admit_anyway(record.owner_id());
                let begun = BegunTask::taken(tasks, stored, term);
                launch.start(tasks, begun, handler, engine_handle, place);
            }
            Err(error) => fail(tasks, stored, error).await,
        }
    }

    /// Returns the handler of a task, which resumes from its journal.
    fn relaunch(&self, record: &TaskRecord) -> Result<Relaunched, Error> {
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
        Ok(Relaunched {
            launch,
            engine_handle,
        })
    }
}

/// A task with another holder.
fn taken_over(record: &TaskRecord, holder: &str, now: StoreTime) -> TaskRecord {
    let mut next = record.clone();
    holder.clone_into(&mut next.holder);
    next.take_given();
    // Its client could not answer meanwhile: the questions wait anew.
    if !next.questions.is_empty() {
        next.touch(now);
    }
    next
}

/// Ends a task that cannot run here.
async fn fail(tasks: &Tasks, stored: StoredTask, error: Error) {
    let (owner, id) = (stored.record.owner.clone(), stored.record.id.clone());
    let key = (owner.as_ref().map(|owner| &*owner.id), &*id);
    let ended = tasks.change(key, Some(stored), |record, now| {
        let mut next = record.clone();
        next.end_with(End::Error(error.clone()), now)
            .then_some(next)
    });
    if let Err(error) = ended.await {
        tracing::error!(%error, "the end of a task cannot be stored");
    }
}

/// Takes over tasks of others for as long as the server lives.
async fn look_after(server: Weak<Core>, tasks: Arc<Tasks>) {
    while tasks.join().await.is_err() {
        sleep(PAUSE).await;
    }
    #[cfg(feature = "replicas")]
    if tasks.is_shared() {
        return orphans::look_after(&server, &tasks).await;
    }
    while let Some(core) = server.upgrade() {
        match core.adopt_stored(&tasks).await {
            Ok(()) => return,
            Err(error) => unread(&error),
        }
        drop(core);
        sleep(PAUSE).await;
    }
}

fn unread(error: &TypedStoreError) {
    tracing::error!(%error, "tasks of other processes cannot be read");
}

/// -32603: the server changed while the task was at work.
fn tool_is_gone() -> Error {
    let message = "the tool of the task does not exist any more";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}
