//! The pending operations of one connection. No I/O.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A connection that has pending operations and answers none for this time waits for a lock, or its
/// server is busy. New operations avoid it.
const STALL: Duration = Duration::from_millis(50);

/// The order in which connections are chosen: the least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    is_stalled: bool,
    pending: usize,
    /// Time since the last answer, or since the first operation.
    waited: Duration,
}

/// Counts the pending operations of a connection.
#[derive(Debug)]
pub(crate) struct Load(Mutex<Activity>);

#[derive(Debug)]
struct Activity {
    pending: usize,
    progress: Instant,
}

/// One pending operation. It ends when this is dropped.
pub(crate) struct Pending<'a>(&'a Load);

impl Load {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Mutex::new(Activity {
            pending: 0,
            progress: now,
        }))
    }

    pub(crate) fn rank(&self, now: Instant) -> Rank {
        let activity = self.lock();
        // Idle connections are equal, so that they take turns.
        let waited = match activity.pending {
            0 => Duration::ZERO,
            _ => now.saturating_duration_since(activity.progress),
        };
        Rank {
            is_stalled: waited >= STALL,
            pending: activity.pending,
            waited,
        }
    }

    pub(crate) fn begin(&self, now: Instant) -> Pending<'_> {
        let mut activity = self.lock();
        if activity.pending == 0 {
            activity.progress = now;
        }
        activity.pending += 1;
        Pending(self)
    }

    fn lock(&self) -> MutexGuard<'_, Activity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let mut activity = self.0.lock();
        activity.pending -= 1;
        activity.progress = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    fn is_before(first: &Load, second: &Load) -> bool {
        let now = Instant::now();
        first.rank(now) < second.rank(now)
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_with_the_fewest_operations_is_first() {
        let [busy, idle] = [Load::new(Instant::now()), Load::new(Instant::now())];
        let pending = busy.begin(Instant::now());
        assert!(is_before(&idle, &busy));
        drop(pending);
        assert!(!is_before(&idle, &busy));
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_busy_connections_the_one_that_waited_less_is_first() {
        let [stuck, quick] = [Load::new(Instant::now()), Load::new(Instant::now())];
        let _lock = stuck.begin(Instant::now());
        advance(Duration::from_millis(1)).await;
        let _notice = quick.begin(Instant::now());
        assert!(is_before(&quick, &stuck));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_answers_is_avoided_until_it_answers() {
        let [stuck, quick] = [Load::new(Instant::now()), Load::new(Instant::now())];
        let lock = [stuck.begin(Instant::now()), stuck.begin(Instant::now())];
        advance(STALL).await;
        let busy: Vec<_> = (0..100).map(|_| quick.begin(Instant::now())).collect();
        assert!(is_before(&quick, &stuck));
        let [first, _second] = lock;
        drop(first);
        assert!(is_before(&stuck, &quick));
        drop(busy);
    }
}
