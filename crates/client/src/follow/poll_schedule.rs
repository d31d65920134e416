//! The pauses between polls of a task.

use std::time::Duration;

use pintle_model::{Task, TaskStatus, Timestamp};

use crate::options::ClientOptions;

/// Largest number of consecutive failures; then the client stops following the task.
const FAILURES: u32 = 6;

/// The pauses between two polls of a task: the server's interval within limits. Without one the
/// pause grows while nothing changes.
#[derive(Debug)]
pub(crate) struct PollSchedule {
    least: Duration,
    usual: Duration,
    longest_own: Duration,
    longest: Duration,
    own: Duration,
    seen: Option<(TaskStatus, Timestamp)>,
    failures: u32,
}

impl PollSchedule {
    pub(crate) fn new(options: &ClientOptions) -> Self {
        let (least, longest) = (options.min_poll_interval, options.max_poll_interval);
        let usual = options.poll_interval.max(least).min(longest);
        Self {
            least,
            usual,
            longest_own: usual.saturating_mul(10).min(longest),
            longest,
            own: usual,
            seen: None,
            failures: 0,
        }
    }

    /// Returns the pause after a poll that returned `task`.
    pub(crate) fn after(&mut self, task: &Task) -> Duration {
        let seen = Some((task.status.clone(), task.last_updated_at.clone()));
        let has_changed = self.seen != seen;
        self.seen = seen;
        if let Some(wish) = task.poll_interval {
            return wish.max(self.least).min(self.longest);
        }
        self.own = match has_changed {
            true => self.usual,
            false => (self.own * 3 / 2).min(self.longest_own),
        };
        self.own
    }

    /// Returns the shortest pause, which notifications do not shorten.
    pub(crate) fn least(&self) -> Duration {
        self.least
    }

    /// Returns the pause after a failed poll; none after too many consecutive failures.
    pub(crate) fn after_failure(&mut self) -> Option<Duration> {
        self.failures += 1;
        let doubled = self.usual.saturating_mul(1 << (self.failures - 1).min(16));
        (self.failures < FAILURES).then(|| doubled.min(self.longest))
    }

    /// Resets the failures.
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(interval: Option<u64>, at: &str) -> Task {
        let mut task = Task::new("t", at);
        task.poll_interval = interval.map(Duration::from_millis);
        task
    }

    // spec: 2025-11-25 TASK-21
    // spec: 2026-07-28 X-TASK-17
    #[test]
    fn a_task_is_polled_at_its_interval_within_the_limits() {
        let mut pace = PollSchedule::new(&ClientOptions::default());
        let mut after = |millis| pace.after(&task(Some(millis), "1")).as_millis();
        assert_eq!([0, 99, 100].map(&mut after), [100; 3]);
        assert_eq!(after(5_000), 5_000);
        assert_eq!([300_000, 300_001, u64::MAX].map(after), [300_000; 3]);
    }

    #[test]
    fn a_task_without_an_interval_is_polled_less_often_until_it_changes() {
        let mut pace = PollSchedule::new(&ClientOptions::default());
        let mut after = |at: &str| pace.after(&task(None, at)).as_millis();
        assert_eq!(["1", "1", "1"].map(&mut after), [1_000, 1_500, 2_250]);
        for _ in 0..100 {
            after("1");
        }
        assert_eq!(after("1"), 10_000);
        assert_eq!(["2", "2"].map(after), [1_000, 1_500]);
    }

    #[test]
    fn asking_that_fails_is_repeated_a_few_times_and_slower() {
        let mut pace = PollSchedule::new(&ClientOptions::default());
        let pauses: Vec<_> = std::iter::from_fn(|| pace.after_failure()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16].map(Duration::from_secs));
        pace.succeeded();
        assert_eq!(pace.after_failure(), Some(Duration::from_secs(1)));
    }
}
