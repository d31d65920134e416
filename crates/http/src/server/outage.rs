//! Since when the store of shared sessions does not answer.

use std::time::{Duration, Instant};

use pintle_runtime::sync::Mutex;

/// The time without an answer, counted from the first reading that failed.
#[derive(Debug)]
pub(super) struct Outage {
    since: Mutex<Option<Instant>>,
    /// How long sessions are served without the store.
    max: Duration,
}

impl Outage {
    pub(super) fn new(max: Duration) -> Self {
        let since = Mutex::default();
        Self { since, max }
    }

    /// Records a reading that failed. Returns true for the first one.
    pub(super) fn begin(&self, now: Instant) -> bool {
        let mut since = self.since.lock();
        let is_first = since.is_none();
        since.get_or_insert(now);
        is_first
    }

    /// Records a reading that succeeded.
    pub(super) fn end(&self) {
        *self.since.lock() = None;
    }

    /// Returns true if no session is served until the store answers.
    pub(super) fn is_too_long(&self, now: Instant) -> bool {
        let since = *self.since.lock();
        since.is_some_and(|since| now.saturating_duration_since(since) >= self.max)
    }
}
