//! Checks whether a shared store answers, for readiness.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pintle_store::{Key, Namespace, Store};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// A result holds for this time, because anyone may ask for it.
const INTERVAL: Duration = Duration::from_secs(1);
/// A store that takes longer is away.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// A record that does not exist.
const HEALTH: Namespace = Namespace::fixed("health");

/// Reads a store at most once in [`INTERVAL`].
pub(crate) struct StoreCheck {
    store: Arc<dyn Store>,
    wait: Duration,
    // Locked during a check, so that concurrent calls use its result.
    last: Mutex<Option<(Instant, bool)>>,
}

impl StoreCheck {
    pub(crate) fn new(store: Arc<dyn Store>, store_timeout: Duration) -> Self {
        Self {
            store,
            wait: store_timeout.min(MAX_WAIT),
            last: Mutex::default(),
        }
    }

    /// Returns true if the store answered the last reading.
    pub(crate) async fn is_reachable(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some((at, is_reachable)) = *last
            && at.elapsed() < INTERVAL
        {
            return is_reachable;
        }
        let is_reachable = self.read().await;
        *last = Some((Instant::now(), is_reachable));
        is_reachable
    }

    async fn read(&self) -> bool {
        let key = Key::new(&HEALTH, "check").expect("letters are valid");
        let get = self.store.get(SystemTime::now().into(), &key);
        matches!(timeout(self.wait, get).await, Ok(Ok(_)))
    }
}

#[cfg(test)]
mod tests;
