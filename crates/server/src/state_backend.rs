//! The state that the replicas of a server share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pintle_keys::{Keys, KeysError, Sealed};
use pintle_store::Store;

/// The time in which a key is the newest of the ring.
const KEY_ROTATION: Duration = Duration::from_secs(24 * 60 * 60);

/// The state that the replicas of a server share: a store, and the ring of keys in it.
///
/// [`Server::state_backend`](crate::Server::state_backend) uses it. A clone is another handle to the
/// same state, so the program can pass it to other parts, such as a guard of requests.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// use pintle_server::{Server, StateBackend};
/// use pintle_store::MemoryStore;
///
/// let state = StateBackend::open(Arc::new(MemoryStore::default()), None).await?;
/// let app = Server::new("harbour", "1.0.0").state_backend(state).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StateBackend {
    store: Arc<dyn Store>,
    keys: Keys,
}

impl StateBackend {
    /// Opens the state in a store. Reads the ring of keys, and creates it in an empty store.
    ///
    /// With root keys, values and events are sealed in the store, and so is the ring. Without, a reader
    /// of the store can read them, and forge request states.
    ///
    /// # Errors
    ///
    /// [`KeysError`] if the store fails, or its ring needs other root keys.
    pub async fn open(store: Arc<dyn Store>, root: Option<Keys>) -> Result<Self, KeysError> {
        let is_sealed = root.is_some();
        let keys = Keys::in_store(Arc::clone(&store), root, KEY_ROTATION).await?;
        let store = match is_sealed {
            true => Arc::new(Sealed::new(store, &keys)),
            false => store,
        };
        Ok(Self { store, keys })
    }

    /// Returns the store. Its values are sealed if there are root keys.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the ring of keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl fmt::Debug for StateBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateBackend").finish_non_exhaustive()
    }
}
