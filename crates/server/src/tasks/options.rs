//! Every bound of tasks, in one place.

use std::time::Duration;

/// Limits for running and storing tasks, each with its default, unit and reason.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskOptions {
    /// How long the end of a task can be read, and how long its questions wait for an answer, when
    /// the client sets no ttl; default 5 min. A working task continues.
    ///
    /// If the client sets a ttl, its task may also not work longer than that. A task that exceeds
    /// its time fails with the reason.
    pub ttl: Duration,
    /// Longest run of a task, including its questions; default 24 h. The task fails after it.
    pub run_timeout: Duration,
    /// Shortest ttl that a client may request; default 1 s. A shorter request gets this ttl.
    pub min_ttl: Duration,
    /// Longest ttl that a client may request; default 24 h. A longer request gets this ttl.
    pub max_ttl: Duration,
    /// Pause between two polls that the server recommends to clients; default 1 s.
    pub poll_interval: Duration,
    /// How long a call of a client that knows the extension may take before it becomes a task;
    /// default 100 ms. A call that ends sooner is answered directly, without a record or a poll.
    pub task_delay: Duration,
    /// Tasks of one principal that have not ended; default 100. Unauthorized callers
    /// count together as one principal. More are rejected with -32603. If the client left the choice
    /// to the server, the call is answered without a task.
    pub max_active_per_principal: usize,
    /// Tasks of this process that have not ended; default 1 000. More are rejected likewise.
    pub max_active: usize,
    /// Stored tasks of one principal, ended or not; default 1 000. It exists because ended tasks
    /// would otherwise fill the store. More are rejected likewise.
    pub max_stored_per_principal: usize,
    /// Stored tasks of all principals; default 10 000. More are rejected likewise. For as many tasks
    /// the server remembers the newest state that it has shown, so that no older one follows.
    pub max_stored: usize,
    /// Failed lookups of one principal within [`failed_lookup_ttl`](Self::failed_lookup_ttl);
    /// default 1 000, because that many stored tasks may expire at once.
    ///
    /// After that, every lookup by id is rejected with -32603, whether the task exists or not,
    /// because ids must not be guessed. Lookups of unauthorized callers are not counted, because one
    /// client could block all others. Their ids are random enough.
    pub max_failed_lookups_per_principal: usize,
    /// How long failed lookups count, from the first one on; default 1 min.
    pub failed_lookup_ttl: Duration,
    /// Principals whose failed lookups are counted; default 10 000. The principal with the oldest
    /// count is dropped first.
    pub max_counted_principals: usize,
    /// Questions of one task that are open at the same time; default 64. A task that asks more
    /// fails.
    pub max_questions: usize,
    /// Size of the journal of a working task, in bytes; default 1 MiB. It has the answers, the open
    /// questions and the steps done once. A task with more fails.
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
    /// Returns the ttl for a client that requests `wish`.
    pub(crate) fn granted(&self, wish: Option<Duration>) -> Duration {
        wish.unwrap_or(self.ttl).max(self.min_ttl).min(self.max_ttl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A default is part of the public interface: changing one is a deliberate act.
    #[test]
    fn defaults_match_the_documentation() {
        let options = TaskOptions::default();
        let seconds = [
            options.ttl,
            options.min_ttl,
            options.max_ttl,
            options.poll_interval,
            options.run_timeout,
        ];
        let seconds = seconds.map(|time| time.as_secs());
        assert_eq!(seconds, [300, 1, 86_400, 1, 86_400]);
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
    fn a_requested_ttl_is_granted_within_bounds() {
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
