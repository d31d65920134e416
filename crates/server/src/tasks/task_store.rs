//! The tasks of one server: created and found.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use pintle_model::{Error, ErrorCode};
use pintle_proto::ServerProfile;
use pintle_runtime::sync::Mutex;
use pintle_store::{Item, Store, StoreTime, TypedStore, TypedStoreError};
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

use super::alone::Alone;
use super::change_locks::ChangeLocks;
use super::delivery::Deliveries;
#[cfg(feature = "replicas")]
use super::held::HeldIndex;
use super::id::{TaskIds, is_id, name_of};
use super::ledger::Ledger;
use super::lookup_limiter::LookupLimiter;
use super::options::TaskOptions;
use super::record::TaskRecord;
use super::sessions::Sessions;
use super::shown::ShownStates;
use super::{too_many_misses, unknown_task};
use crate::changes::Changes;
use crate::replica::{Replica, Replicas, asks_for_a_retry};

/// How often a state that is older than a shown one is read again.
const READS: usize = 3;

/// Largest difference of two clocks that tick differently. Beyond it the machine slept, or its wall
/// clock was set.
const DRIFT: Duration = Duration::from_secs(5);

/// The tasks of one server.
pub(crate) struct Tasks {
    pub(crate) records: TypedStore<TaskRecord>,
    pub(crate) options: TaskOptions,
    pub(crate) ledger: Arc<Ledger>,
    lookup_limiter: LookupLimiter,
    pub(super) change_locks: ChangeLocks,
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) ids: TaskIds,
    /// This replica, if other ones may share the store.
    shared: Option<Arc<dyn Replica>>,
    /// This process as the only one with the store. Its clock counts until the replicas are joined.
    alone: Alone,
    joined: OnceCell<Option<Box<dyn Replicas>>>,
    /// The index of running tasks, in a store that replicas share.
    #[cfg(feature = "replicas")]
    pub(super) index: Option<HeldIndex>,
    pub(super) deliveries: Arc<Deliveries>,
    /// Listeners to changes of tasks.
    pub(super) changes: Changes,
    pub(crate) sessions: Sessions,
    pub(super) shown: ShownStates,
    /// The tasks that this process runs.
    at_work: Mutex<HashSet<String>>,
    /// Tasks at work whose last write may have happened: their notices are owed.
    pub(super) uncertain: Mutex<HashSet<String>>,
    /// Whether the tasks are released to other replicas.
    released: watch::Sender<bool>,
    /// Whether others may have left tasks in the store.
    is_kept: bool,
    is_awake: AtomicBool,
}

impl Tasks {
    pub(crate) fn new(
        store: Option<Arc<dyn Store>>,
        shared: Option<Arc<dyn Replica>>,
        options: TaskOptions,
        profile: Arc<ServerProfile>,
        changes: Changes,
    ) -> Self {
        let has_store = store.is_some();
        let store = store.unwrap_or_else(|| Arc::new(pintle_store::MemoryStore::default()));
        let opening = store.opening();
        let has_others = cfg!(feature = "replicas") || opening.is_some();
        Self {
            #[cfg(feature = "replicas")]
            index: shared.as_ref().map(|_| HeldIndex::new(&store)),
            shared,
            alone: Alone::new(opening),
            joined: OnceCell::new(),
            records: TypedStore::new(store),
            options,
            ledger: Arc::default(),
            lookup_limiter: LookupLimiter::default(),
            change_locks: ChangeLocks::default(),
            profile,
            ids: TaskIds::default(),
            deliveries: Arc::default(),
            changes,
            sessions: Sessions::default(),
            shown: ShownStates::default(),
            at_work: Mutex::default(),
            uncertain: Mutex::default(),
            released: watch::Sender::new(false),
            is_kept: has_store && has_others,
            is_awake: AtomicBool::new(false),
        }
    }

    /// Whether the tasks that others left must be taken over from now on; true once.
    pub(crate) fn wakes_up(&self) -> bool {
        let sleeps = self.is_kept && !self.is_awake.load(Ordering::Relaxed);
        sleeps && !self.is_awake.swap(true, Ordering::Relaxed)
    }

    /// Joins the replicas that share the store, once. A store of one process has no others.
    ///
    /// # Errors
    ///
    /// -32603 if the store cannot be reached. The text asks for a retry if the store is away.
    pub(crate) async fn join(&self) -> Result<(), Error> {
        let Some(replica) = &self.shared else {
            return Ok(());
        };
        let joined = self.joined.get_or_try_init(|| replica.join());
        joined.await.map(drop)
    }

    pub(crate) fn replicas(&self) -> &dyn Replicas {
        let joined = self.joined.get().and_then(Option::as_deref);
        joined.unwrap_or(&self.alone)
    }

    /// Returns true if other replicas may share the store.
    pub(crate) fn is_shared(&self) -> bool {
        cfg!(feature = "replicas") && self.shared.is_some()
    }

    pub(crate) fn now(&self) -> StoreTime {
        self.replicas().now()
    }

    /// How far the wall clock is ahead of the time of records, in milliseconds, if it was set or the
    /// machine slept. A client reads the wall clock as the date. The clock of a shared store is right.
    pub(crate) fn lag_millis(&self) -> i64 {
        let (now, wall) = (self.now(), StoreTime::from(SystemTime::now()));
        if self.is_shared() || (wall <= now + DRIFT && now <= wall + DRIFT) {
            return 0;
        }
        let millis = |moment: StoreTime| i64::try_from(moment.as_millis()).unwrap_or(i64::MAX);
        millis(wall) - millis(now)
    }

    /// The runtime's instant at which a moment of the store has come.
    pub(super) fn instant_of(&self, moment: StoreTime) -> Instant {
        let wait = moment.as_millis().saturating_sub(self.now().as_millis());
        let now = Instant::now();
        now.checked_add(Duration::from_millis(wait)).unwrap_or(now)
    }

    /// Stops the handlers of all tasks, and ends the presence of this replica. Another replica runs the
    /// tasks again.
    pub(crate) async fn release(&self) {
        self.released.send_replace(true);
        self.replicas().leave().await;
    }

    /// Waits until the tasks are released.
    pub(crate) async fn released(&self) {
        let mut released = self.released.subscribe();
        // The sender is here, so the wait cannot fail.
        let _ = released.wait_for(|is_released| *is_released).await;
    }

    /// Finds a task that its owner names, and counts failed lookups, because ids must not be guessed.
    /// Lookups without authorization are not counted, because one client could block all others.
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
        let found = self.records.get(self.now(), &name_of(owner, id)).await;
        let found = found.map_err(|error| cannot(&error))?;
        let own = found.filter(|item| item.value.owner_id() == owner);
        own.ok_or_else(unknown_task)
    }

    /// Notes that this process runs a task, until [`forget`](Self::forget).
    pub(crate) fn begin_work(&self, id: &str) {
        self.at_work.lock().insert(id.to_owned());
    }

    pub(crate) fn is_at_work(&self, id: &str) -> bool {
        self.at_work.lock().contains(id)
    }

    pub(super) fn forget(&self, id: &str) {
        self.at_work.lock().remove(id);
        self.uncertain.lock().remove(id);
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

/// Logs an error of the store, and returns -32603. The text asks for a retry if the store is away.
pub(super) fn cannot(error: &TypedStoreError) -> Error {
    tracing::error!(%error, source = ?std::error::Error::source(error), "the store of tasks cannot");
    match is_away(error) {
        true => asks_for_a_retry(),
        false => Error::internal(),
    }
}

fn is_away(error: &TypedStoreError) -> bool {
    matches!(error, TypedStoreError::Store(store) if store.is_retryable() && store.limit().is_none())
}

/// Whether the store has no room for it.
pub(super) fn is_refused(error: &TypedStoreError) -> bool {
    matches!(error, TypedStoreError::Store(store) if store.limit().is_some())
}
