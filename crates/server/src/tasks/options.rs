//! Every bound of tasks, in one place.

use std::time::Duration;

/// How tasks are run and kept: each bound with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskOptions {
    /// How long the end of a task can be read, and how long its questions wait for an answer, when
    /// the client sets no ttl; default 5 min. A task that works goes on.
    ///
    /// Where the client sets a ttl, its task may not work longer than that, either. A task that runs
    /// out of time fails with the reason.
    pub ttl: Duration,
    /// The longest that a task may run, its questions included; default 24 h. It fails then.
    pub run_timeout: Duration,
    /// The shortest that a client may wish; default 1 s. A shorter wish is granted this.
    pub min_ttl: Duration,
    /// The longest that a client may wish; default 24 h. A longer wish is granted this.
    pub max_ttl: Duration,
    /// How long clients are told to wait between two looks; default 1 s.
    pub poll_interval: Duration,
    /// How long a call of a client that knows the extension may take before it becomes a task;
    /// default 100 ms. What ends sooner is answered at once, and costs no record and no look.
    pub task_delay: Duration,
    /// How long a task belongs to the process that runs it without a sign of life; default 30 s.
    ///
    /// Whoever shares the store takes it over then. It is renewed three times as often.
    pub lease_ttl: Duration,
    /// Tasks of one principal that have not ended; default 100. Whoever is not authorized counts
    /// as one principal together. More are refused with -32603; where the client left the choice
    /// to the server, the call is answered without a task.
    pub max_active_per_principal: usize,
    /// Tasks of this process that have not ended; default 1 000. More are refused likewise.
    pub max_active: usize,
    /// Tasks of one principal that are kept, ended or not; default 1 000, so that nobody fills the
    /// store with what has ended. More are refused likewise.
    pub max_stored_per_principal: usize,
    /// Tasks that are kept for all; default 10 000. More are refused likewise.
    pub max_stored: usize,
    /// Tasks that are not there and that one principal may ask for within
    /// [`failed_lookup_ttl`](Self::failed_lookup_ttl); default 1 000, as many as are kept for it and may be gone
    /// at once. After that it is told of no task by its id, there or not, but is refused with -32603:
    /// ids are not to be guessed. Where nobody is authorized nobody is counted: one client could stop
    /// all the others, and an id is random enough by itself.
    pub max_failed_lookups_per_principal: usize,
    /// How long they count, from the first one on; default 1 min.
    pub failed_lookup_ttl: Duration,
    /// Principals that are counted so; default 10 000. The one that is counted the longest is
    /// forgotten first.
    pub max_counted_principals: usize,
    /// Questions of one task that are open at the same time; default 64. A task that asks more
    /// fails.
    pub max_questions: usize,
    /// Size of what a task must remember while it works, in bytes; default 1 MiB: answers, open
    /// questions, and what was done once. A task with more fails.
    pub max_journal_bytes: usize,
    /// Size of a result, in bytes; default 4 MiB. A task with a larger one fails.
    pub max_result_bytes: usize,
    /// Tasks of one page of `tasks/list`; default 100.
    pub page_size: usize,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(300),
            run_timeout: Duration::from_secs(24 * 60 * 60),
            min_ttl: Duration::from_secs(1),
            max_ttl: Duration::from_secs(24 * 60 * 60),
            poll_interval: Duration::from_secs(1),
            task_delay: Duration::from_millis(100),
            lease_ttl: Duration::from_secs(30),
            max_active_per_principal: 100,
            max_active: 1_000,
            max_stored_per_principal: 1_000,
            max_stored: 10_000,
            max_failed_lookups_per_principal: 1_000,
            failed_lookup_ttl: Duration::from_secs(60),
            max_counted_principals: 10_000,
            max_questions: 64,
            max_journal_bytes: 1 << 20,
            max_result_bytes: 4 << 20,
            page_size: 100,
        }
    }
}

impl TaskOptions {
    /// What is granted to a client that wishes for this time to live, if for any.
    pub(crate) fn granted(&self, wish: Option<Duration>) -> Duration {
        wish.unwrap_or(self.ttl).max(self.min_ttl).min(self.max_ttl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_are_what_the_documentation_promises() {
        let options = TaskOptions::default();
        let seconds = [
            options.ttl,
            options.min_ttl,
            options.max_ttl,
            options.poll_interval,
            options.lease_ttl,
            options.run_timeout,
        ];
        let seconds = seconds.map(|time| time.as_secs());
        assert_eq!(seconds, [300, 1, 86_400, 1, 30, 86_400]);
        assert_eq!(options.task_delay.as_millis(), 100);
        assert_eq!(
            (options.max_active_per_principal, options.max_active),
            (100, 1_000)
        );
        assert_eq!(
            (options.max_stored_per_principal, options.max_stored),
            (1_000, 10_000)
        );
        let misses = (
            options.max_failed_lookups_per_principal,
            options.max_counted_principals,
        );
        assert_eq!(misses, (1_000, 10_000));
        assert_eq!(options.failed_lookup_ttl.as_secs(), 60);
        assert_eq!((options.max_questions, options.page_size), (64, 100));
        assert_eq!(
            (options.max_journal_bytes, options.max_result_bytes),
            (1_048_576, 4_194_304)
        );
    }

    // spec: 2025-11-25 TASK-46, TASK-86 (limits and cleaning), AMB-88
    // hardening: H-195
    #[test]
    fn a_wish_is_granted_within_bounds() {
        let options = TaskOptions::default();
        let granted = |millis| {
            options
                .granted(Some(Duration::from_millis(millis)))
                .as_millis()
        };
        assert_eq!([0, 999, 1_000].map(granted), [1_000; 3]);
        assert_eq!(
            [86_400_000, 86_400_001, u64::MAX].map(granted),
            [86_400_000; 3]
        );
        assert_eq!(granted(60_000), 60_000);
        assert_eq!(options.granted(None).as_secs(), 300);
    }
}
