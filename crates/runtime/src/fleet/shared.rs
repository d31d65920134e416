//! The state that all handles of a fleet share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pintle_store::{Epoch, Store, StoreTime};
use tokio::sync::watch;

use super::heartbeat::Heartbeat;
use super::mail::Mail;
use super::news_outbox::NewsOutbox;
use super::operations::Operations;
use super::options::{FleetOptions, ServerName};
use super::replica_id::ReplicaId;
use super::roster::Roster;
use super::store_clock::StoreClock;
use crate::sync::Mutex;

/// A join of this time is late.
const LATE_JOIN: Duration = Duration::from_millis(500);

/// One replica of a store.
pub(super) struct Shared {
    pub(super) replica: ReplicaId,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: StoreClock,
    pub(super) options: FleetOptions,
    pub(super) state: Mutex<SharedState>,
    pub(super) mail: Mail,
    pub(super) news: NewsOutbox,
    /// How often the store lost its content.
    pub(super) content: watch::Sender<u64>,
    /// Whether the join took so long that requests were served meanwhile.
    joined_late: AtomicBool,
}

/// The part that changes.
#[derive(Debug, Default)]
pub(super) struct SharedState {
    /// None in a fleet of one.
    pub(super) heartbeat: Option<Heartbeat>,
    pub(super) roster: Roster,
    pub(super) server: Option<ServerName>,
    pub(super) epoch: Option<Epoch>,
    /// Whether the last reading of the epoch failed, so that it must be repeated.
    pub(super) is_epoch_due: bool,
    pub(super) is_leaving: bool,
}

impl Shared {
    pub(super) fn new(replica: ReplicaId, store: Arc<dyn Store>, options: FleetOptions) -> Self {
        let options = options.normalized();
        Self {
            replica,
            store,
            clock: StoreClock::local(),
            state: Mutex::default(),
            mail: Mail::new(),
            news: NewsOutbox::new(&options),
            content: watch::Sender::new(0),
            joined_late: AtomicBool::new(false),
            options,
        }
    }

    /// Records the time of the join.
    pub(super) fn note_join(&self, time: Duration) {
        let is_late = time >= LATE_JOIN;
        self.joined_late.store(is_late, Ordering::Relaxed);
    }

    pub(super) fn reads_kept_news(&self) -> bool {
        self.options.reads_kept_news || self.joined_late.load(Ordering::Relaxed)
    }

    pub(super) fn now(&self) -> StoreTime {
        self.clock.now()
    }

    /// Operations that each end within the operation timeout.
    pub(super) fn operations(&self) -> Operations<'_> {
        self.operations_within(self.options.operation_timeout)
    }

    pub(super) fn operations_within(&self, timeout: Duration) -> Operations<'_> {
        Operations {
            store: self.store.as_ref(),
            clock: &self.clock,
            timeout,
        }
    }

    /// Takes over an epoch. Returns true if it is not the one of before: the content was lost.
    pub(super) fn has_new_epoch(&self, epoch: Epoch) -> bool {
        // All replicas write their presences again within this time.
        let grace = self.now() + self.options.presence_ttl;
        let mut state = self.state.lock();
        let known = state.epoch.replace(epoch);
        let is_new = known.is_some_and(|known| known != epoch);
        if is_new {
            state.roster.wait_until(grace);
            self.content.send_modify(|losses| *losses += 1);
        }
        is_new
    }
}
