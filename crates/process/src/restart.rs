//! Decides when a server that ended on its own may be started again. Time is an argument.

use std::time::{Duration, Instant};

use super::options::ChildOptions;

/// Count of the ends of one server in a row.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    failures: u32,
    silent: bool,
    ended_at: Option<Instant>,
}

/// Permission for the next start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    /// The server may start now.
    Now,
    /// The server may start after this wait.
    After(Duration),
    /// The server ended too often and may not start for this long.
    Refused(Duration),
}

impl Restarts {
    /// Records that the server ended on its own after a run of length `ran`.
    pub(super) fn note_end(&mut self, now: Instant, ran: Duration, options: &ChildOptions) {
        if ran >= options.min_healthy_uptime {
            *self = Self::default();
        }
        self.failures = self.failures.saturating_add(1);
        self.ended_at = Some(now);
    }

    /// Like [`Restarts::note_end`], for a server that sent nothing. The first such end is not
    /// counted, because some old servers exit on an unknown request.
    pub(super) fn note_silent_end(&mut self, now: Instant, ran: Duration, options: &ChildOptions) {
        if self.is_new() {
            self.silent = true;
        } else {
            self.note_end(now, ran, options);
        }
    }

    fn is_new(&self) -> bool {
        self.failures == 0 && !self.silent
    }

    /// Records that the host ended a server that it no longer needs, after a run of length `ran`.
    pub(super) fn note_rest(&mut self, ran: Duration, options: &ChildOptions) {
        if ran >= options.min_healthy_uptime {
            *self = Self::default();
        }
    }

    /// Number of counted ends in a row.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns whether and when the server may be started.
    pub(super) fn permit(&self, now: Instant, options: &ChildOptions) -> Permit {
        let Some(ended_at) = self.ended_at else {
            return Permit::Now;
        };
        let passed = now.saturating_duration_since(ended_at);
        if self.failures >= options.max_restarts {
            return match options.crash_loop_delay.checked_sub(passed) {
                Some(left) if !left.is_zero() => Permit::Refused(left),
                _ => Permit::Now,
            };
        }
        match self.wait(options).checked_sub(passed) {
            Some(left) if !left.is_zero() => Permit::After(left),
            _ => Permit::Now,
        }
    }

    fn wait(&self, options: &ChildOptions) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(31);
        let wait = options.restart_delay.saturating_mul(1 << doublings);
        wait.min(options.max_restart_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(10);

    fn options() -> ChildOptions {
        ChildOptions {
            max_restarts: 7,
            ..ChildOptions::default()
        }
    }

    /// Returns the waits in seconds before each start of a server that ends at once, until a
    /// refusal.
    fn waits(options: &ChildOptions) -> Vec<u64> {
        let (mut now, mut restarts, mut waits) = (Instant::now(), Restarts::default(), Vec::new());
        loop {
            match restarts.permit(now, options) {
                Permit::Now => {}
                Permit::After(wait) => {
                    waits.push(wait.as_secs());
                    now += wait;
                }
                Permit::Refused(_) => return waits,
            }
            now += QUICK;
            restarts.note_end(now, QUICK, options);
        }
    }

    // spec: 2026-07-28 N-STDIO-11
    // hardening: H-185
    #[test]
    fn waits_double_up_to_a_limit_and_then_a_start_is_refused() {
        assert_eq!(waits(&options()), [1, 2, 4, 8, 16, 30]);
        assert_eq!(waits(&ChildOptions::default()), [1, 2, 4, 8]);
    }

    // hardening: H-185
    #[test]
    fn after_the_pause_one_start_is_permitted() {
        let (options, mut now) = (ChildOptions::default(), Instant::now());
        let mut restarts = Restarts::default();
        for _ in 0..5 {
            restarts.note_end(now, QUICK, &options);
        }
        assert_eq!(restarts.failures(), 5);
        assert_eq!(
            restarts.permit(now, &options),
            Permit::Refused(options.crash_loop_delay)
        );

        now += options.crash_loop_delay;
        assert_eq!(restarts.permit(now, &options), Permit::Now);
        restarts.note_end(now, QUICK, &options);
        assert_eq!(
            restarts.permit(now, &options),
            Permit::Refused(options.crash_loop_delay)
        );
    }

    #[test]
    fn a_healthy_run_starts_the_count_anew() {
        let (options, now) = (ChildOptions::default(), Instant::now());
        let mut restarts = Restarts::default();
        for _ in 0..4 {
            restarts.note_end(now, QUICK, &options);
        }
        restarts.note_end(now, options.min_healthy_uptime, &options);

        assert_eq!(
            restarts.permit(now, &options),
            Permit::After(options.restart_delay)
        );
    }

    #[test]
    fn an_end_at_the_request_of_the_host_is_not_a_failure() {
        let (options, now) = (ChildOptions::default(), Instant::now());
        let mut restarts = Restarts::default();
        restarts.note_rest(QUICK, &options);
        assert_eq!(restarts.permit(now, &options), Permit::Now);

        restarts.note_end(now, QUICK, &options);
        restarts.note_rest(QUICK, &options);
        assert_eq!(restarts.failures(), 1);
        restarts.note_rest(options.min_healthy_uptime, &options);
        assert_eq!(restarts.failures(), 0);
    }

    #[test]
    fn the_first_silent_end_is_not_counted() {
        let (options, now) = (ChildOptions::default(), Instant::now());
        let mut restarts = Restarts::default();
        restarts.note_silent_end(now, QUICK, &options);
        assert_eq!(restarts.permit(now, &options), Permit::Now);

        restarts.note_silent_end(now, QUICK, &options);
        assert_eq!(
            restarts.permit(now, &options),
            Permit::After(options.restart_delay)
        );
        assert_eq!(restarts.failures(), 1);
    }

    #[test]
    fn a_wait_counts_from_the_end() {
        let (options, now) = (ChildOptions::default(), Instant::now());
        let mut restarts = Restarts::default();
        restarts.note_end(now, QUICK, &options);

        let half = Duration::from_millis(500);
        assert_eq!(restarts.permit(now + half, &options), Permit::After(half));
        assert_eq!(restarts.permit(now + 2 * half, &options), Permit::Now);
    }
}
