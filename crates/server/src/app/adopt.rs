//! Taking over tasks of processes that are gone: after a restart, or from another replica.

use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle_model::method::{CallTool, Method, MethodName};
use pintle_model::{Error, ErrorCode};
use pintle_proto::{IncomingRequest, RequestKey};
use pintle_runtime::{Context, EngineHandle, Extensions, RetryInput, random_bytes};
use pintle_store::{Page, StoreTime, TypedStoreError};
use tokio::time::sleep;

use super::begin::Launch;
use crate::core::Core;
use crate::tasks::{
    BegunTask, End, HeldTask, StoredTask, TaskEngineHandle, TaskRecord, Tasks, holder_of, task_of,
};

/// How many records are read together.
const PAGE: usize = 100;
/// Longest wait before this replica takes over the tasks of another one, in milliseconds, so that the
/// replicas do not write at the same moment.
const MAX_WAIT: u64 = 1_000;
/// Pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval of the checks for holders that are gone, because the news of one may be lost.
const SWEEP: Duration = Duration::from_secs(60);

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

    /// Takes over the tasks of all holders that are gone.
    async fn adopt_orphans(&self, tasks: &Arc<Tasks>) -> Result<(), TypedStoreError> {
        let mut page = Page::first(PAGE);
        loop {
            let Some(listed) = tasks.holders(page).await? else {
                return Ok(());
            };
            for (mark, _) in &listed.items {
                let holder = holder_of(mark);
                let is_other = holder != tasks.replicas().name();
                if is_other && !tasks.replicas().is_present(holder).await? {
                    self.adopt_group(tasks, holder).await?;
                }
            }
            let Some(next) = listed.next else {
                return Ok(());
            };
            page = Page::after(next, PAGE);
        }
    }

    /// Takes over the tasks of a replica that is gone, and removes its mark if it has none any more.
    async fn adopt_group(&self, tasks: &Arc<Tasks>, gone: &str) -> Result<(), TypedStoreError> {
        sleep(wait()).await;
        // Before its tasks are read, because it may return and hold more.
        let mark = tasks.mark_of(gone).await?;
        let (mut page, mut is_empty) = (Page::first(PAGE), true);
        while let Some(listed) = tasks.held_by(gone, page).await? {
            for (entry, item) in &listed.items {
                let taken = self.adopt(tasks, gone, task_of(entry), &item.value).await?;
                match taken {
                    Taken::Done => tasks.forget_held(entry, item.version).await,
                    Taken::Elsewhere => is_empty = false,
                }
            }
            let Some(next) = listed.next else {
                break;
            };
            page = Page::after(next, PAGE);
        }
        if let Some(mark) = mark.filter(|_| is_empty) {
            tasks.forget_holder(gone, mark).await;
        }
        Ok(())
    }

    /// Takes over one task of a replica that is gone, unless another replica is first.
    async fn adopt(
        &self,
        tasks: &Arc<Tasks>,
        gone: &str,
        id: &str,
        held: &HeldTask,
    ) -> Result<Taken, TypedStoreError> {
        if tasks.is_at_work(id) {
            let item = tasks.records.get(tasks.now(), &held.record).await?;
            let own = tasks.replicas().name();
            let is_own = item.is_some_and(|item| item.value.holder == own);
            return Ok(if is_own {
                Taken::Done
            } else {
                Taken::Elsewhere
            });
        }
        // Before the index, so that a pause after it is noticed.
        let term = tasks.replicas().term();
        tasks.hold(&held.record, id).await?;
        let taken = match tasks.records.get(tasks.now(), &held.record).await? {
            Some(item) => self.take(tasks, item.into(), gone, term).await?,
            None => Taken::Done,
        };
        if !tasks.is_at_work(id) {
            tasks.unhold(id).await;
        }
        Ok(taken)
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
    while let Some(core) = server.upgrade() {
        let adopted = if tasks.is_shared() {
            core.adopt_orphans(&tasks).await
        } else {
            core.adopt_stored(&tasks).await
        };
        drop(core);
        match adopted {
            Ok(()) if tasks.is_shared() => break,
            Ok(()) => return,
            Err(error) => tracing::error!(%error, "tasks of other processes cannot be read"),
        }
        sleep(PAUSE).await;
    }
    follow(&server, &tasks).await;
}

/// Takes over the tasks of each replica that is gone from now on.
async fn follow(server: &Weak<Core>, tasks: &Arc<Tasks>) {
    loop {
        let gone = tokio::select! {
            () = tasks.released() => return,
            gone = tasks.replicas().gone() => Some(gone),
            () = sleep(SWEEP) => None,
        };
        let Some(core) = server.upgrade() else {
            return;
        };
        let adopted = match gone {
            Some(gone) => core.adopt_group(tasks, &gone).await,
            None => core.adopt_orphans(tasks).await,
        };
        if let Err(error) = adopted {
            tracing::error!(%error, "tasks of another replica cannot be taken over");
        }
    }
}

/// A random time below [`MAX_WAIT`].
fn wait() -> Duration {
    let random = u64::from_le_bytes(random_bytes().unwrap_or_default());
    Duration::from_millis(random % MAX_WAIT)
}

/// -32603: the server changed while the task was at work.
fn tool_is_gone() -> Error {
    let message = "the tool of the task does not exist any more";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}
