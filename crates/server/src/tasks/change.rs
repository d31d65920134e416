//! Changes of tasks, and the notices that follow them.

use pintle_model::Error;
use pintle_runtime::StoredAnswer;
use pintle_store::{
    Expiry, Item, Precondition, StoreError, StoreTime, TypedStore, TypedStoreError,
};

use super::holding::StoredTask;
use super::id::name_of;
use super::record::{TaskRecord, is_news_after};
use super::task_store::{Tasks, cannot};

/// Returns the record after a change, or `None` without one.
// An object, so that the writing is compiled once.
pub(super) type Change<'a> = dyn FnMut(&TaskRecord, StoreTime) -> Option<TaskRecord> + Send + 'a;

impl Tasks {
    /// Changes a task of this owner such that no change of another writer is lost, and sends notices of
    /// it. Returns `None` if `change` does, or if the task does not exist any more. `known` is the
    /// record as it was last read: it saves a read, unless another writer was first.
    ///
    /// The changes of this process wait for one another, so that their notices leave in their order.
    ///
    /// # Errors
    ///
    /// The error of the store; the change may have happened then.
    pub(crate) async fn change(
        &self,
        key: (Option<&str>, &str),
        mut known: Option<StoredTask>,
        mut change: impl FnMut(&TaskRecord, StoreTime) -> Option<TaskRecord> + Send,
    ) -> Result<Option<StoredTask>, TypedStoreError> {
        self.change_known(key, &mut known, &mut change).await
    }

    /// As [`change`](Self::change). `known` is the latest state of the record afterwards, if that is
    /// certain.
    ///
    /// # Errors
    ///
    /// As [`change`](Self::change).
    pub(super) async fn change_known(
        &self,
        (owner, id): (Option<&str>, &str),
        known: &mut Option<StoredTask>,
        change: &mut Change<'_>,
    ) -> Result<Option<StoredTask>, TypedStoreError> {
        let _turn = self.change_locks.take(id).await;
        let name = name_of(owner, id);
        let changed = self.write_change(&name, known, change).await;
        match &changed {
            Ok(Some((stored, is_news))) => {
                if *is_news || self.uncertain.lock().remove(id) {
                    let record = &stored.record;
                    let until = record.stored_until(&self.options);
                    self.ledger.keep(record.owner_id(), id, until);
                    self.tell_newest(record).await;
                }
            }
            Ok(None) => self.tell_uncertain(owner, id).await,
            // Its notices are sent once a later read shows that it happened.
            Err(_) if self.is_at_work(id) => _ = self.uncertain.lock().insert(id.to_owned()),
            Err(_) => {}
        }
        changed.map(|changed| changed.map(|(stored, _)| stored))
    }

    /// Writes a change; also returns whether a client can see it.
    async fn write_change(
        &self,
        name: &str,
        known: &mut Option<StoredTask>,
        change: &mut Change<'_>,
    ) -> Result<Option<(StoredTask, bool)>, TypedStoreError> {
        let mut conflict = StoreError::Conflict { found: None };
        for _ in 0..TypedStore::<TaskRecord>::TRIES {
            let now = self.now();
            let before = match known.take() {
                Some(known) => known,
                None => match self.records.get(now, name).await? {
                    Some(item) => StoredTask::from(item),
                    None => return Ok(None),
                },
            };
            let Some(mut record) = change(&before.record, now) else {
                *known = Some(before);
                return Ok(None);
            };
            let is_news = is_news_after(&before.record, &record);
            if is_news {
                record.count_change(now);
            }
            let until = Expiry::At(record.stored_until(&self.options));
            let condition = Precondition::Version(before.version);
            match self.records.put(now, name, &record, condition, until).await {
                Ok(version) => {
                    let stored = StoredTask { record, version };
                    *known = Some(stored.clone());
                    return Ok(Some((stored, is_news)));
                }
                Err(TypedStoreError::Store(error)) if error.is_conflict() => conflict = error,
                Err(error) => return Err(error),
            }
        }
        Err(conflict.into())
    }

    /// Sends the notices of a change whose write was uncertain.
    async fn tell_uncertain(&self, owner: Option<&str>, id: &str) {
        if self.uncertain.lock().remove(id)
            && let Ok(found) = self.find(owner, id).await
        {
            self.tell(&found.value);
        }
    }

    /// Sends notices of a change; of the newest state if clients were shown a newer one.
    async fn tell_newest(&self, record: &TaskRecord) {
        if self.shown.show(record, self.options.max_stored) {
            self.tell(record);
        } else if let Ok(newest) = self.find(record.owner_id(), &record.id).await {
            self.tell(&newest.value);
        }
    }

    /// Stores the answers to open questions of a task, where its handler finds them. Answers to other
    /// questions are ignored.
    ///
    /// # Errors
    ///
    /// -32603 if the store cannot.
    pub(super) async fn answer(
        &self,
        found: Item<TaskRecord>,
        given: &[(String, StoredAnswer)],
    ) -> Result<(), Error> {
        let found = StoredTask::from(found);
        let (owner, id) = (found.record.owner.clone(), found.record.id.clone());
        let owner = owner.as_ref().map(|owner| &*owner.id);
        let answered = self.change((owner, &id), Some(found), |record, now| {
            let mut next = record.clone();
            let mut is_any = false;
            for (key, given) in given {
                is_any |= next.answer(key, given.clone(), now);
            }
            is_any.then_some(next)
        });
        answered.await.map_err(|error| cannot(&error))?;
        Ok(())
    }
}

impl From<Item<TaskRecord>> for StoredTask {
    fn from(item: Item<TaskRecord>) -> Self {
        let Item { value, version, .. } = item;
        Self {
            record: value,
            version,
        }
    }
}
