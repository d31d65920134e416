//! This replica, which its tasks and its transports share.

use std::fmt;
use std::sync::Arc;

use pintle_runtime::fleet::{Fleet, FleetOptions, JoinError};
use pintle_store::Store;
use tokio::sync::OnceCell;

/// A store that replicas may share, and this replica. The replica joins when the first part of the server
/// needs it.
pub(crate) struct SharedFleet {
    store: Arc<dyn Store>,
    joined: OnceCell<Fleet>,
}

impl SharedFleet {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let joined = OnceCell::new();
        Self { store, joined }
    }

    /// Joins the fleet, once.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if the store cannot be reached; the next call tries again.
    pub(crate) async fn join(&self) -> Result<&Fleet, JoinError> {
        let join = || Fleet::join(Arc::clone(&self.store), FleetOptions::default());
        self.joined.get_or_try_init(join).await
    }

    /// Ends the presence of this replica, if it has joined.
    pub(crate) async fn leave(&self) {
        if let Some(fleet) = self.joined.get() {
            fleet.leave().await;
        }
    }
}

impl fmt::Debug for SharedFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedFleet")
            .field(&self.joined.get())
            .finish()
    }
}
