//! The operations of the index of running tasks.

use std::time::Duration;

use pintle_store::{Expiry, ItemPage, Key, Page, Precondition, TypedStoreError, Version};
use tokio::time::sleep;

use super::held::{HeldTask, HolderMark, MARKS, mark_name};
use super::task_store::Tasks;

/// How often a removal from the index is tried. What stays is removed when this replica is gone.
const TRIES: u32 = 3;
/// Pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);

impl Tasks {
    /// Adds a task to the index of this replica.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub(crate) async fn hold(&self, record: &str, id: &str) -> Result<(), TypedStoreError> {
        let Some(index) = &self.index else {
            return Ok(());
        };
        // The mark is written with each task, because a store that lost its content has lost the mark.
        let (now, any) = (self.now(), Precondition::Any);
        let mark = mark_name(self.replicas().name());
        let marked = index.marks.put(now, &mark, &HolderMark, any, Expiry::Never);
        marked.await?;
        let name = self.held_name(id);
        let held = HeldTask {
            record: record.to_owned(),
        };
        let held = index.held.put(now, &name, &held, any, Expiry::Never);
        held.await?;
        Ok(())
    }

    /// Removes a task from the index of this replica, after it has ended or has another holder.
    pub(crate) async fn unhold(&self, id: &str) {
        let Some(index) = &self.index else {
            return;
        };
        let name = self.held_name(id);
        for _ in 0..TRIES {
            let removed = index.held.remove(self.now(), &name, Precondition::Any);
            let Err(error) = removed.await else {
                return;
            };
            tracing::warn!(%error, "a task cannot be removed from the index");
            sleep(PAUSE).await;
        }
    }

    /// Reads a page of the tasks of a replica.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub(crate) async fn held_by(
        &self,
        holder: &str,
        page: Page,
    ) -> Result<Option<ItemPage<HeldTask>>, TypedStoreError> {
        let Some(index) = &self.index else {
            return Ok(None);
        };
        let group = format!("{holder}.");
        let listed = index.held.list(self.now(), &group, page);
        listed.await.map(Some)
    }

    /// Removes an entry of the index of another replica, unless that replica has written it again.
    pub(crate) async fn forget_held(&self, entry: &Key, version: Version) {
        if let Some(index) = &self.index {
            let condition = Precondition::Version(version);
            let removed = index.held.remove(self.now(), entry.name(), condition);
            if let Err(error) = removed.await {
                tracing::debug!(%error, "an entry of the index stays");
            }
        }
    }

    /// Reads the names of a page of all replicas that have held tasks.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub(crate) async fn holders(
        &self,
        page: Page,
    ) -> Result<Option<ItemPage<HolderMark>>, TypedStoreError> {
        let Some(index) = &self.index else {
            return Ok(None);
        };
        let listed = index.marks.list(self.now(), MARKS, page).await?;
        Ok(Some(listed))
    }

    /// Returns the version of the mark of a replica, if it has one.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub(crate) async fn mark_of(&self, name: &str) -> Result<Option<Version>, TypedStoreError> {
        let Some(index) = &self.index else {
            return Ok(None);
        };
        let mark = index.marks.get(self.now(), &mark_name(name)).await?;
        Ok(mark.map(|mark| mark.version))
    }

    /// Removes the mark of a replica that is gone and holds no task.
    pub(crate) async fn forget_holder(&self, name: &str, version: Version) {
        if let Some(index) = &self.index {
            let condition = Precondition::Version(version);
            let name = mark_name(name);
            let removed = index.marks.remove(self.now(), &name, condition);
            if let Err(error) = removed.await {
                tracing::debug!(%error, "the mark of a replica stays");
            }
        }
    }

    fn held_name(&self, id: &str) -> String {
        format!("{}.{id}", self.replicas().name())
    }
}
