//! Time that belongs to the user: while a question is open, a handler's own time stands still.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

use crate::sync::{Mutex, MutexGuard};

/// How long a handler has waited for answers; questions that are open together count once.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    waited: Mutex<Waited>,
    /// Waiting has begun or ended.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waited {
    open: usize,
    since: Option<Instant>,
    total: Duration,
}

impl Waits {
    pub(crate) fn begin(&self) {
        let mut waited = self.lock();
        waited.open += 1;
        if waited.open == 1 {
            waited.since = Some(Instant::now());
            self.changed.notify_waiters();
        }
    }

    pub(crate) fn end(&self) {
        let mut waited = self.lock();
        waited.open = waited.open.saturating_sub(1);
        if waited.open == 0
            && let Some(since) = waited.since.take()
        {
            waited.total += since.elapsed();
            self.changed.notify_waiters();
        }
    }

    /// Returns the total of the waits; `None` during a wait.
    pub(crate) fn total(&self) -> Option<Duration> {
        let waited = self.lock();
        waited.since.is_none().then_some(waited.total)
    }

    /// Returns a future that ends when waiting begins or ends.
    pub(crate) fn notified(&self) -> Notified<'_> {
        self.changed.notified()
    }

    // Nothing here panics halfway, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.waited.lock()
    }
}
