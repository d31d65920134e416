//! The tasks of one server: found, changed and told of.

use pintle_runtime::sync::Mutex;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pintle_model::{Error, ErrorCode};
use pintle_proto::ServerProfile;
use pintle_runtime::StoredAnswer;
use pintle_store::{Expiry, Item, Precondition, Store, StoreTime, TypedStore, TypedStoreError};
use tokio::time::Instant;

use super::change_locks::ChangeLocks;
use super::clock::Clock;
use super::delivery::Deliveries;
use super::holder::Holder;
use super::id::{TaskIds, is_id, name_of};
use super::ledger::Ledger;
use super::lookup_limiter::LookupLimiter;
use super::options::TaskOptions;
use super::record::{Lease, TaskRecord, is_news_after};
use super::sessions::Sessions;
use super::shown::ShownStates;
use super::{too_many, too_many_misses, unknown_task};
use crate::changes::Changes;

/// How often a state that is older than a shown one is read again.
const READS: usize = 3;

/// The tasks of one server.
pub(crate) struct Tasks {
    pub(crate) records: TypedStore<TaskRecord>,
    pub(crate) options: TaskOptions,
    pub(crate) ledger: Arc<Ledger>,
    lookup_limiter: LookupLimiter,
    change_locks: ChangeLocks,
    pub(crate) clock: Clock,
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) ids: TaskIds,
    holder: Holder,
    pub(super) deliveries: Arc<Deliveries>,
    /// Listeners to changes of tasks.
    pub(super) changes: Changes,
    pub(crate) sessions: Sessions,
    shown: ShownStates,
    /// The tasks that this process runs.
    at_work: Mutex<HashSet<String>>,
    /// Whether others may have left tasks in the store.
    is_kept: bool,
    is_awake: AtomicBool,
}

impl Tasks {
    pub(crate) fn new(
        store: Option<Arc<dyn Store>>,
        options: TaskOptions,
        profile: Arc<ServerProfile>,
        changes: Changes,
    ) -> Self {
        let is_kept = store.is_some();
        let store = store.unwrap_or_else(|| Arc::new(pintle_store::MemoryStore::default()));
        let opening = store.opening();
        let is_shared = is_kept && opening.is_none();
        Self {
            records: TypedStore::new(store),
            options,
            ledger: Arc::default(),
            lookup_limiter: LookupLimiter::default(),
            change_locks: ChangeLocks::default(),
            clock: Clock::start(is_shared),
            profile,
            ids: TaskIds::default(),
            holder: Holder::new(opening),
            deliveries: Arc::default(),
            changes,
            sessions: Sessions::default(),
            shown: ShownStates::default(),
            at_work: Mutex::default(),
            is_kept,
            is_awake: AtomicBool::new(false),
        }
    }

    /// Whether somebody must begin to look after what others left; true once.
    pub(crate) fn wakes_up(&self) -> bool {
        let sleeps = self.is_kept && !self.is_awake.load(Ordering::Relaxed);
        sleeps && !self.is_awake.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn lease(&self, now: StoreTime) -> Lease {
        self.holder.lease(now + self.options.lease_ttl)
    }

    pub(super) fn is_ours(&self, lease: &Lease) -> bool {
        self.holder.is_ours(lease)
    }

    /// Whether no process runs the task any more, and one should: its lease has run out, or its
    /// holder had the store open before, which belongs to this process now.
    pub(crate) fn is_orphan(&self, record: &TaskRecord, now: StoreTime) -> bool {
        let is_open = record.end.is_none() && !self.at_work.lock().contains(&record.id);
        is_open && (record.lease.has_run_out(now) || self.holder.is_dead(&record.lease))
    }

    /// Writes down a task that is about to begin.
    ///
    /// # Errors
    ///
    /// -32603 if there is no room for it, or the store cannot.
    pub(crate) async fn create(&self, record: &TaskRecord) -> Result<(), Error> {
        let name = name_of(record.owner_id(), &record.id);
        let until = record.stored_until(&self.options);
        let (now, expiry) = (self.clock.now(), Expiry::At(until));
        let put = self
            .records
            .put(now, &name, record, Precondition::Absent, expiry);
        put.await.map_err(|error| {
            if is_refused(&error) {
                too_many()
            } else {
                cannot(&error)
            }
        })?;
        self.ledger.keep(record.owner_id(), &record.id, until);
        tracing::debug!(tool = record.origin.name, "a task began");
        Ok(())
    }

    /// Finds a task that its owner names, and counts failed look-ups, because ids must not be guessed.
    /// Who is nobody in particular is not counted, or one of them could stop all the others.
    ///
    /// # Errors
    ///
    /// As for [`find`](Self::find); -32603 for an owner who has named too many that are not there.
    pub(super) async fn look_up(
        &self,
        owner: Option<&str>,
        id: &str,
    ) -> Result<Item<TaskRecord>, Error> {
        let Some(counted) = owner else {
            return self.find(owner, id).await;
        };
        let lookup = self
            .lookup_limiter
            .begin(counted, Instant::now(), &self.options);
        let lookup = lookup.ok_or_else(too_many_misses)?;
        let found = self.find(owner, id).await;
        let is_miss = |error: &Error| error.code == ErrorCode::INVALID_PARAMS;
        if found.as_ref().is_err_and(is_miss) {
            lookup.missed();
        }
        found
    }

    /// Finds a task of this owner; the task of another one does not exist. The state is not older than
    /// the newest one that clients of this replica were shown.
    ///
    /// # Errors
    ///
    /// -32602 if the task does not exist, -32603 if the store cannot.
    pub(super) async fn find(
        &self,
        owner: Option<&str>,
        id: &str,
    ) -> Result<Item<TaskRecord>, Error> {
        let mut found = self.read(owner, id).await?;
        for _ in 0..READS {
            if self.shown.show(&found.value, self.options.max_stored) {
                break;
            }
            found = self.read(owner, id).await?;
        }
        Ok(found)
    }

    async fn read(&self, owner: Option<&str>, id: &str) -> Result<Item<TaskRecord>, Error> {
        if !is_id(id) {
            return Err(unknown_task());
        }
        let found = self
            .records
            .get(self.clock.now(), &name_of(owner, id))
            .await;
        let found = found.map_err(|error| cannot(&error))?;
        let own = found.filter(|item| item.value.owner_id() == owner);
        own.ok_or_else(unknown_task)
    }

    /// Sends notices of a change; of the newest state if clients were shown a newer one.
    async fn tell_newest(&self, record: &TaskRecord) {
        if self.shown.show(record, self.options.max_stored) {
            self.tell(record);
        } else if let Ok(newest) = self.find(record.owner_id(), &record.id).await {
            self.tell(&newest.value);
        }
    }

    /// Changes a task of this owner such that no change of anybody else is lost, and sends notices of
    /// it; nothing if `change` gives nothing, or if there is no such task any more.
    ///
    /// The changes of this process wait for one another, so that their notices leave in their order.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub(crate) async fn change(
        &self,
        owner: Option<&str>,
        id: &str,
        mut change: impl FnMut(&TaskRecord, StoreTime) -> Option<TaskRecord> + Send,
    ) -> Result<Option<TaskRecord>, TypedStoreError> {
        let _turn = self.change_locks.take(id).await;
        let (now, name) = (self.clock.now(), name_of(owner, id));
        let mut is_news = false;
        let mut is_changed = false;
        let updated = self.records.update(now, &name, |item| {
            let next = change(&item.value, now);
            is_changed = next.is_some();
            let mut next = next?;
            is_news = is_news_after(&item.value, &next);
            if is_news {
                next.count_change(now);
            }
            let until = next.stored_until(&self.options);
            Some((next, Expiry::At(until)))
        });
        let updated = updated.await?;
        let changed = updated.filter(|_| is_changed).map(|item| item.value);
        if let Some(record) = changed.as_ref().filter(|_| is_news) {
            let until = record.stored_until(&self.options);
            self.ledger.keep(record.owner_id(), &record.id, until);
            self.tell_newest(record).await;
        }
        Ok(changed)
    }

    /// Puts what came of a question where the task's handler finds it; questions that are not open
    /// are ignored.
    ///
    /// # Errors
    ///
    /// -32603 if the store cannot.
    pub(super) async fn answer(
        &self,
        owner: Option<&str>,
        id: &str,
        given: &[(String, StoredAnswer)],
    ) -> Result<(), Error> {
        let answered = self.change(owner, id, |record, now| {
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

    /// Notes that this process runs a task, until [`forget`](Self::forget).
    pub(crate) fn begin_work(&self, id: &str) {
        self.at_work.lock().insert(id.to_owned());
    }

    pub(super) fn forget(&self, id: &str) {
        self.at_work.lock().remove(id);
        self.sessions.forget(id);
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// -32603, and a word to the operator.
pub(super) fn cannot(error: &TypedStoreError) -> Error {
    tracing::error!(%error, source = ?std::error::Error::source(error), "the store of tasks cannot");
    Error::internal()
}

/// Whether the store has no room for it.
pub(super) fn is_refused(error: &TypedStoreError) -> bool {
    matches!(error, TypedStoreError::Store(store) if store.limit().is_some())
}
