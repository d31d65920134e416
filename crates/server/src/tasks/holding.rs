//! The tasks that this replica holds: begun, indexed and removed.

use std::sync::Arc;
use std::time::Duration;

use pintle_model::Error;
use pintle_store::{Expiry, Precondition, Version};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::id::name_of;
use super::record::TaskRecord;
use super::task_store::{Tasks, cannot, is_refused};
use super::too_many;

/// How often the removal of a task that never began is tried.
const TRIES: u32 = 3;
/// Pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// A record as this replica has stored it.
#[derive(Debug, Clone)]
pub(crate) struct StoredTask {
    pub(crate) record: TaskRecord,
    pub(crate) version: Version,
}

/// A task that this replica holds and has not started. Dropped, the task is removed: its call was
/// cancelled, or failed.
#[must_use]
pub(crate) struct BegunTask {
    tasks: Arc<Tasks>,
    /// The stored record, once it is certain.
    stored: Option<StoredTask>,
    owner: Option<String>,
    id: String,
    /// Presence of this replica at a moment before the record named it.
    pub(crate) term: Option<u64>,
    is_removed: bool,
}

impl BegunTask {
    pub(super) fn new(tasks: &Arc<Tasks>, owner: Option<&str>, id: &str) -> Self {
        Self {
            tasks: Arc::clone(tasks),
            stored: None,
            owner: owner.map(str::to_owned),
            id: id.to_owned(),
            term: tasks.replicas().term(),
            is_removed: true,
        }
    }

    /// A task that this replica has taken over. It stays when this is dropped.
    pub(crate) fn taken(tasks: &Arc<Tasks>, stored: StoredTask, term: Option<u64>) -> Self {
        let owner = stored.record.owner_id().map(str::to_owned);
        Self {
            tasks: Arc::clone(tasks),
            owner,
            id: stored.record.id.clone(),
            stored: Some(stored),
            term,
            is_removed: false,
        }
    }

    /// Notes the record that names this replica as the holder.
    pub(super) fn store(mut self, stored: StoredTask) -> Self {
        self.stored = Some(stored);
        self
    }

    /// Returns the record of the task, which runs from now on.
    pub(crate) fn start(mut self) -> Option<StoredTask> {
        self.is_removed = false;
        self.stored.take()
    }

    /// The record, if it is stored.
    pub(crate) fn record(&self) -> Option<&TaskRecord> {
        self.stored.as_ref().map(|stored| &stored.record)
    }
}

impl Drop for BegunTask {
    fn drop(&mut self) {
        if !self.is_removed {
            return;
        }
        let (tasks, owner, id) = (
            Arc::clone(&self.tasks),
            self.owner.take(),
            std::mem::take(&mut self.id),
        );
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { tasks.remove(owner.as_deref(), &id).await });
        }
    }
}

impl Tasks {
    /// Writes the record of a task that is about to begin, after its index.
    ///
    /// # Errors
    ///
    /// -32603 if there is no room for it, or the store cannot.
    ///
    /// # Cancellation
    ///
    /// Removes the record again.
    pub(crate) async fn create(self: &Arc<Self>, record: TaskRecord) -> Result<BegunTask, Error> {
        let begun = BegunTask::new(self, record.owner_id(), &record.id);
        let name = name_of(record.owner_id(), &record.id);
        let until = record.stored_until(&self.options);
        let (now, expiry) = (self.now(), Expiry::At(until));
        let put = async {
            self.hold(&name, &record.id).await?;
            self.records
                .put(now, &name, &record, Precondition::Absent, expiry)
                .await
        };
        let version = put.await.map_err(|error| {
            if is_refused(&error) {
                too_many()
            } else {
                cannot(&error)
            }
        })?;
        self.ledger.keep(record.owner_id(), &record.id, until);
        tracing::debug!(tool = record.origin.name, "a task began");
        Ok(begun.store(StoredTask { record, version }))
    }

    /// Removes a task that never started, then its index.
    async fn remove(&self, owner: Option<&str>, id: &str) {
        for _ in 0..TRIES {
            let name = name_of(owner, id);
            let removed = self.records.remove(self.now(), &name, Precondition::Any);
            match removed.await {
                Ok(_) => return self.unhold(id).await,
                Err(error) => tracing::error!(%error, "a task that never began cannot be removed"),
            }
            sleep(PAUSE).await;
        }
    }
}

/// Without other replicas, tasks have no index.
#[cfg(not(feature = "replicas"))]
impl Tasks {
    pub(crate) async fn hold(
        &self,
        _record: &str,
        _id: &str,
    ) -> Result<(), pintle_store::TypedStoreError> {
        Ok(())
    }

    pub(crate) async fn unhold(&self, _id: &str) {}
}
