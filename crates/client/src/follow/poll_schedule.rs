//! How often a task is asked for.

use std::time::Duration;

use pintle_model::{Task, TaskStatus, Timestamp};

use crate::options::ClientOptions;

/// How often in a row asking may fail, before following is given up.
const FAILURES: u32 = 6;

/// The pauses between two looks at a task: as the server says, within bounds; where it says
/// nothing, longer and longer for as long as nothing changes.
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

    /// The pause before the next look, after one that showed `task`.
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

    /// No notice makes us ask sooner than this.
    pub(crate) fn least(&self) -> Duration {
        self.least
    }

    /// The pause before asking again after a failure; none if it has failed too often in a row.
    pub(crate) fn after_failure(&mut self) -> Option<Duration> {
        self.failures += 1;
        let doubled = self.usual.saturating_mul(1 << (self.failures - 1).min(16));
        (self.failures < FAILURES).then(|| doubled.min(self.longest))
    }

    /// It has not failed.
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
    fn a_task_is_asked_for_as_often_as_it_says_within_bounds() {
        let mut pace = PollSchedule::new(&ClientOptions::default());
        let mut after = |millis| pace.after(&task(Some(millis), "1")).as_millis();
        assert_eq!([0, 99, 100].map(&mut after), [100; 3]);
        assert_eq!(after(5_000), 5_000);
        assert_eq!([300_000, 300_001, u64::MAX].map(after), [300_000; 3]);
    }

    #[test]
    fn a_task_that_says_nothing_is_asked_for_less_and_less_until_it_changes() {
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
