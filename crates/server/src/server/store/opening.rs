//! Setting and opening the store of a server.

use std::sync::Arc;
#[cfg(feature = "replicas")]
use std::sync::Weak;
use std::time::Duration;

use pintle_store::Store;

use super::super::Server;
use super::{StoreParts, StoreSetting, Surroundings};
#[cfg(feature = "replicas")]
use crate::changes::Publish;
use crate::circuit_breaker::CircuitBreaker;
use crate::guarded_store::GuardedStore;
use crate::input::StoredStates;
use crate::replica::Replica;
#[cfg(feature = "replicas")]
use crate::sealed_sessions::SealedSessions;
#[cfg(feature = "replicas")]
use crate::shared_fleet::SharedFleet;
#[cfg(not(feature = "replicas"))]
use crate::sole_process::SoleProcess;
#[cfg(feature = "replicas")]
use crate::state_backend::StateBackend;
use crate::store_check::StoreCheck;

impl Server {
    /// Stores tasks, and the state between rounds of questions, in a store that replicas share or
    /// that outlives the process. By default they are in the memory of this process.
    ///
    /// A store that several processes can open requires the feature `replicas`. Without it, such a server does not
    /// start.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(StoreSetting::of_store(store));
        self
    }

    /// Shares the state with other replicas of the server: tasks, and the state between rounds of
    /// questions. Any replica can serve the retry of a request, and report a task. It replaces
    /// [`Self::store`] and [`Self::request_state`]; with one of them beside it the server does not start.
    #[cfg(feature = "replicas")]
    #[must_use]
    pub fn state_backend(mut self, state: StateBackend) -> Self {
        self.state_backend = Some(StoreSetting::of_state(state));
        self
    }

    /// Sets how long an operation of the store may take; default 5 s. One that takes longer is
    /// answered with -32603; the store may still apply it.
    #[must_use]
    pub fn store_timeout(mut self, time: Duration) -> Self {
        self.store_time = time;
        self
    }
}

impl StoreSetting {
    pub(super) fn of_store(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            #[cfg(feature = "replicas")]
            state: None,
            open: open_store,
        }
    }

    #[cfg(feature = "replicas")]
    pub(in crate::server) fn of_state(state: StateBackend) -> Self {
        Self {
            store: Arc::clone(state.store()),
            state: Some(state),
            open: open_state,
        }
    }
}

/// Opens a store. Other processes may have it open, too, unless it has a number of its opening.
fn open(
    store: Arc<dyn Store>,
    around: Surroundings<'_>,
    breaker: &Arc<CircuitBreaker>,
    replica: impl FnOnce(&Arc<dyn Store>) -> Arc<dyn Replica>,
) -> StoreParts {
    let guarded = GuardedStore::new(store, around.timeout, Arc::clone(breaker));
    let store: Arc<dyn Store> = Arc::new(guarded);
    let others = store.opening().is_none().then(|| Arc::clone(&store));
    let replica = others.as_ref().map(replica);
    let states = StoredStates::new(Arc::clone(&store), replica.clone());
    StoreParts {
        store: Some(store),
        check: others.map(|store| StoreCheck::new(store, around.timeout)),
        replica,
        states: Some(Box::new(states)),
        sessions: None,
    }
}

#[cfg(not(feature = "replicas"))]
fn open_store(setting: StoreSetting, around: Surroundings<'_>) -> StoreParts {
    open(setting.store, around, &Arc::default(), |store| {
        Arc::new(SoleProcess::new(Arc::clone(store)))
    })
}

#[cfg(feature = "replicas")]
fn open_store(setting: StoreSetting, around: Surroundings<'_>) -> StoreParts {
    open(setting.store, around, &Arc::default(), |store| {
        connect(Arc::clone(store), around)
    })
}

#[cfg(feature = "replicas")]
fn open_state(setting: StoreSetting, around: Surroundings<'_>) -> StoreParts {
    let breaker = Arc::default();
    let mut fleet = None;
    let mut parts = open(setting.store, around, &breaker, |store| {
        let connected = connect(Arc::clone(store), around);
        fleet = Some(Arc::clone(&connected));
        connected
    });
    if let Some(state) = &setting.state {
        let sessions = SealedSessions::new(state, around.timeout, breaker, fleet);
        parts.sessions = Some(Arc::new(sessions));
    }
    parts
}

/// Returns this replica, to which all mounted servers publish their changes.
#[cfg(feature = "replicas")]
fn connect(store: Arc<dyn Store>, around: Surroundings<'_>) -> Arc<SharedFleet> {
    let fleet = Arc::new(SharedFleet::new(store, around.changes.clone()));
    for mount in around.mounts {
        let publish: Weak<dyn Publish> = Arc::<SharedFleet>::downgrade(&fleet);
        mount.changes.connect(publish);
    }
    fleet
}
