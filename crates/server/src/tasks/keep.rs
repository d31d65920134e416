//! The tasks of one server: found, changed and told of.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use pintle_model::{Error, ErrorCode, Feature};
use pintle_proto::ServerProfile;
use pintle_runtime::{Given, random_bytes};
use pintle_store::{Expiry, Item, Moment, Precondition, Shelf, ShelfError, Store};
use tokio::time::Instant;

use super::clock::Clock;
use super::ledger::Ledger;
use super::misses::Misses;
use super::options::TaskOptions;
use super::outlet::TaskOutlet;
use super::record::{Lease, TaskRecord};
use super::turns::Turns;
use super::{too_many, too_many_misses, unknown_task};
use crate::changes::Changes;

/// The tasks of one server.
pub(crate) struct Tasks {
    pub(crate) shelf: Shelf<TaskRecord>,
    pub(crate) options: TaskOptions,
    pub(crate) ledger: Arc<Ledger>,
    misses: Misses,
    turns: Turns,
    pub(crate) clock: Clock,
    pub(crate) profile: Arc<ServerProfile>,
    /// What this process is called in leases.
    holder: String,
    /// Which opening of the store this is, if the store belongs to one process at a time.
    opening: Option<u64>,
    /// Who listens to changes of tasks.
    changes: Changes,
    /// Through which sessions tasks of the core were begun that are at work.
    outlet_by_id: Mutex<HashMap<String, Weak<TaskOutlet>>>,
    /// The questions that some session is being asked: id and key.
    in_delivery: Mutex<HashSet<(String, String)>>,
    /// The tasks that this process runs.
    at_work: Mutex<HashSet<String>>,
    /// Whether others may have left tasks in the store.
    is_kept: bool,
    is_awake: AtomicBool,
    /// The time in the last id: those of one process are in the order of their tasks.
    last_time: AtomicU64,
}

/// Length of the time in front of an id, in hexadecimal digits.
const TIME_DIGITS: usize = 12;
/// Random bytes of an id: 128 bits that nobody guesses.
const RANDOM_BYTES: usize = 16;

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
        let holder = hex(&random_bytes::<RANDOM_BYTES>().unwrap_or_default());
        Self {
            shelf: Shelf::new(store),
            options,
            ledger: Arc::default(),
            misses: Misses::default(),
            turns: Turns::default(),
            clock: Clock::start(is_shared),
            profile,
            holder: format!("{}{holder}", opening_prefix(opening)),
            opening,
            changes,
            outlet_by_id: Mutex::default(),
            in_delivery: Mutex::default(),
            at_work: Mutex::default(),
            is_kept,
            is_awake: AtomicBool::new(false),
            last_time: AtomicU64::new(0),
        }
    }

    /// Whether somebody must begin to look after what others left; true once.
    pub(crate) fn wakes_up(&self) -> bool {
        let sleeps = self.is_kept && !self.is_awake.load(Ordering::Relaxed);
        sleeps && !self.is_awake.swap(true, Ordering::Relaxed)
    }

    /// An id that sorts by time and that nobody guesses.
    ///
    /// # Errors
    ///
    /// -32603 if there is no randomness.
    pub(crate) fn new_id(&self, now: Moment) -> Result<String, Error> {
        let random = random_bytes::<RANDOM_BYTES>().map_err(|_| Error::internal())?;
        let after =
            |last: u64| Some(now.as_millis().max(last + 1) & ((1 << (4 * TIME_DIGITS)) - 1));
        let last = self
            .last_time
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        let time = last.ok().and_then(after).unwrap_or_default();
        Ok(format!("{time:0TIME_DIGITS$x}{}", hex(&random)))
    }

    pub(crate) fn lease(&self, now: Moment) -> Lease {
        Lease {
            holder: self.holder.clone(),
            until: (now + self.options.lease).as_millis(),
        }
    }

    pub(super) fn is_ours(&self, lease: &Lease) -> bool {
        lease.holder == self.holder
    }

    /// Whether no process runs the task any more, and one should: its lease has run out, or its
    /// holder had the store open before, which belongs to this process now.
    pub(crate) fn is_orphan(&self, record: &TaskRecord, now: Moment) -> bool {
        let is_dead = || {
            let prefix = opening_prefix(self.opening);
            !record.lease.holder.starts_with(&prefix)
        };
        let is_open = record.end.is_none() && !lock(&self.at_work).contains(&record.id);
        is_open && (record.lease.has_run_out(now) || is_dead())
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
            .shelf
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

    /// Finds a task that its owner names, and counts if there is none: ids are not to be guessed.
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
        let begun = self.misses.begin(counted, Instant::now(), &self.options);
        let lookup = begun.ok_or_else(too_many_misses)?;
        let found = self.find(owner, id).await;
        let is_miss = |error: &Error| error.code == ErrorCode::INVALID_PARAMS;
        if found.as_ref().is_err_and(is_miss) {
            lookup.missed();
        }
        found
    }

    /// Finds a task of this owner; somebody else's is not there.
    ///
    /// # Errors
    ///
    /// -32602 if there is none, -32603 if the store cannot.
    pub(super) async fn find(
        &self,
        owner: Option<&str>,
        id: &str,
    ) -> Result<Item<TaskRecord>, Error> {
        if !is_id(id) {
            return Err(unknown_task());
        }
        let found = self.shelf.get(self.clock.now(), &name_of(owner, id)).await;
        let found = found.map_err(|error| cannot(&error))?;
        let own = found.filter(|item| item.value.owner_id() == owner);
        own.ok_or_else(unknown_task)
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
        mut change: impl FnMut(&TaskRecord, Moment) -> Option<TaskRecord> + Send,
    ) -> Result<Option<TaskRecord>, ShelfError> {
        let _turn = self.turns.take(id).await;
        let (now, name) = (self.clock.now(), name_of(owner, id));
        let mut is_news = false;
        let mut is_changed = false;
        let updated = self.shelf.update(now, &name, |item| {
            let next = change(&item.value, now);
            is_changed = next.is_some();
            let mut next = next?;
            is_news = is_news_after(&item.value, &next);
            if is_news {
                next.touch(now);
            }
            let until = next.stored_until(&self.options);
            Some((next, Expiry::At(until)))
        });
        let updated = updated.await?;
        let changed = updated.filter(|_| is_changed).map(|item| item.value);
        if let Some(record) = changed.as_ref().filter(|_| is_news) {
            let until = record.stored_until(&self.options);
            self.ledger.keep(record.owner_id(), &record.id, until);
            self.tell(record);
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
        given: &[(String, Given)],
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

    /// Tells the session that began the task, and those who listen.
    fn tell(&self, record: &TaskRecord) {
        tracing::debug!(status = ?record.status(), "a task changed");
        let now = self.clock.now();
        let is_core = record
            .origin
            .revision()
            .is_some_and(|revision| revision.has(Feature::CoreTasks));
        if is_core && let Some(session) = self.session_of(&record.id) {
            let task = record.core_task(&self.options, now);
            session.with(|engine| engine.tell_task(&task));
        }
        self.changes.each(|outlet| {
            outlet.engine(&mut |engine| {
                engine.publish_task(record.owner_id(), &record.id, &mut |terms| {
                    record.detailed(&self.options, now, terms).ok()
                });
            });
        });
    }

    fn session_of(&self, id: &str) -> Option<Arc<dyn pintle_runtime::Outlet>> {
        let outlet = lock(&self.outlet_by_id).get(id)?.upgrade()?;
        outlet.conversation()
    }

    /// Remembers through which session a task was begun, for as long as it is at work.
    pub(crate) fn remember(&self, id: &str, outlet: &Arc<TaskOutlet>) {
        lock(&self.outlet_by_id).insert(id.to_owned(), Arc::downgrade(outlet));
    }

    /// Notes that this process runs a task, until [`forget`](Self::forget).
    pub(crate) fn begin_work(&self, id: &str) {
        lock(&self.at_work).insert(id.to_owned());
    }

    pub(super) fn forget(&self, id: &str) {
        lock(&self.at_work).remove(id);
        lock(&self.outlet_by_id).remove(id);
    }

    /// Takes the turn to ask a question, unless somebody is asked already.
    pub(super) fn deliver(self: &Arc<Self>, id: &str, key: &str) -> Option<Delivery> {
        let place = (id.to_owned(), key.to_owned());
        let is_first = lock(&self.in_delivery).insert(place.clone());
        is_first.then(|| Delivery {
            tasks: Arc::clone(self),
            place,
        })
    }
}

/// The turn to ask a question; given back when dropped.
pub(super) struct Delivery {
    tasks: Arc<Tasks>,
    place: (String, String),
}

impl Drop for Delivery {
    fn drop(&mut self) {
        lock(&self.tasks.in_delivery).remove(&self.place);
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The beginning of the holders of leases that were written in one opening of a store.
fn opening_prefix(opening: Option<u64>) -> String {
    opening.map_or_else(String::new, |number| format!("{number:x}-"))
}

/// Whether a client sees the difference.
fn is_news_after(before: &TaskRecord, after: &TaskRecord) -> bool {
    let keys = |record: &TaskRecord| {
        let open = record.questions.iter().map(|open| open.key.clone());
        open.collect::<Vec<_>>()
    };
    before.status() != after.status() || keys(before) != keys(after)
}

/// The name of a task's record. Those of one owner stand together, in the order of their ids.
pub(super) fn name_of(owner: Option<&str>, id: &str) -> String {
    format!("{}{id}", prefix_of(owner))
}

/// What the names of an owner's records begin with. Two owners may share it by chance: the record
/// says whose it is.
pub(super) fn prefix_of(owner: Option<&str>) -> String {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let digest = |id: &str| id.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    match owner {
        Some(id) => format!("p{:016x}.", digest(id)),
        None => "anybody.".to_owned(),
    }
}

/// Whether a text can be an id of ours at all.
pub(super) fn is_id(id: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    id.len() == TIME_DIGITS + 2 * RANDOM_BYTES && id.bytes().all(is_digit)
}

/// -32603, and a word to the operator.
pub(super) fn cannot(error: &ShelfError) -> Error {
    tracing::error!(%error, source = ?std::error::Error::source(error), "the store of tasks cannot");
    Error::internal()
}

/// Whether the store has no room for it.
pub(super) fn is_refused(error: &ShelfError) -> bool {
    matches!(error, ShelfError::Store(store) if store.limit().is_some())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// Every change is one statement, so what a poisoned lock guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 TASK-32, TASK-33, TASK-34, TASK-81
    // spec: 2026-07-28 X-TASK-12
    // hardening: H-22
    #[test]
    fn ids_sort_by_time_and_differ_by_128_random_bits() {
        let profile = ServerProfile::new(
            pintle_model::Implementation::new("t", "1"),
            pintle_model::ServerCapabilities::default(),
        );
        let tasks = Tasks::new(
            None,
            TaskOptions::default(),
            Arc::new(profile),
            Changes::default(),
        );
        let id = |millis| {
            tasks
                .new_id(Moment::from_millis(millis))
                .expect("randomness")
        };
        let ids: Vec<String> = (0..1_000).map(|_| id(7)).collect();
        assert!(ids.iter().all(|id| is_id(id)));
        assert!(ids.is_sorted() && ids[0].starts_with("000000000007"));
        assert!(id(0xabcdef).starts_with("000000abcdef"));
        for bit in 0..4 * 2 * RANDOM_BYTES {
            let digit = |id: &String| u8::from_str_radix(&id[TIME_DIGITS + bit / 4..][..1], 16);
            let is_set = |id: &String| digit(id).expect("hexadecimal") & (1 << (bit % 4)) != 0;
            let set = ids.iter().filter(|id| is_set(id)).count();
            assert!((300..700).contains(&set), "bit {bit} is set {set} times");
        }
    }

    #[test]
    fn what_is_no_id_is_not_looked_up() {
        let id = "0".repeat(44);
        assert!(is_id(&id));
        for other in [
            "",
            "x",
            &id[1..],
            &id.replace('0', "A"),
            &format!("{id}0"),
            "../../etc",
        ] {
            assert!(!is_id(other), "{other}");
        }
    }
}
