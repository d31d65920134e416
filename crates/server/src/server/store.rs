//! The store of a server, and the parts that use it.

use std::sync::Arc;
#[cfg(feature = "replicas")]
use std::sync::Weak;
use std::time::Duration;

use pintle_runtime::SharedSessions;
use pintle_store::Store;

use crate::changes::Changes;
#[cfg(feature = "replicas")]
use crate::changes::Publish;
use crate::circuit_breaker::CircuitBreaker;
use crate::core::Mount;
use crate::guarded_store::GuardedStore;
use crate::input::{States, StoredStates};
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

/// The store that a server was given.
pub(super) struct StoreSetting {
    store: Arc<dyn Store>,
    #[cfg(feature = "replicas")]
    pub(super) state: Option<StateBackend>,
    // A pointer, because only programs that set a store contain its code.
    open: fn(Self, Surroundings<'_>) -> StoreParts,
}

/// The parts of a server that are connected to its store.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "replicas"), allow(dead_code))]
pub(super) struct Surroundings<'a> {
    pub(super) timeout: Duration,
    pub(super) changes: &'a Changes,
    pub(super) mounts: &'a [Mount],
}

/// The parts of a server over its store.
#[derive(Default)]
pub(super) struct StoreParts {
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) check: Option<StoreCheck>,
    pub(super) replica: Option<Arc<dyn Replica>>,
    pub(super) states: Option<Box<dyn States>>,
    pub(super) sessions: Option<Arc<dyn SharedSessions>>,
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
    pub(super) fn of_state(state: StateBackend) -> Self {
        Self {
            store: Arc::clone(state.store()),
            state: Some(state),
            open: open_state,
        }
    }

    pub(super) fn open(self, around: Surroundings<'_>) -> StoreParts {
        (self.open)(self, around)
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
