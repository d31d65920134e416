//! The store of a server, and the parts that use it.

#[cfg(feature = "tasks")]
mod opening;

use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::SharedSessions;
use pintle_store::Store;

use crate::changes::Changes;
use crate::core::Mount;
use crate::input::States;
use crate::replica::Replica;
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
    pub(super) fn open(self, around: Surroundings<'_>) -> StoreParts {
        (self.open)(self, around)
    }
}
