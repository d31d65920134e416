//! Decides whether an operation reaches a store that does not answer.

use std::time::Duration;

use pintle_runtime::sync::Mutex;
use tokio::time::Instant;

/// After this number of failures in a row, a store counts as away.
const MAX_FAILURES: u32 = 3;
/// The pause before the first operation that tries again. It doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The store answered, perhaps with an error.
    Answered,
    /// The store could not be reached, or did not answer in time.
    Failed,
}

/// Rejects operations while a store is away, except for one that tries again after each pause.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    outage: Option<Outage>,
}

#[derive(Debug)]
struct Outage {
    pause: Duration,
    next_try: Instant,
}

impl CircuitBreaker {
    /// Returns true if an operation may begin.
    pub(crate) fn permits(&self, now: Instant) -> bool {
        let mut state = self.0.lock();
        let Some(outage) = &mut state.outage else {
            return true;
        };
        if now < outage.next_try {
            return false;
        }
        // The next one tries while this one waits for an answer.
        outage.next_try = now + MAX_PAUSE;
        true
    }

    pub(crate) fn report(&self, outcome: Outcome, now: Instant) {
        let mut state = self.0.lock();
        match outcome {
            Outcome::Answered => state.answered(),
            Outcome::Failed => state.failed(now),
        }
    }
}

impl State {
    fn answered(&mut self) {
        self.failures = 0;
        if self.outage.take().is_some() {
            tracing::info!("the store answers again");
        }
    }

    fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let pause = match &self.outage {
            Some(outage) => MAX_PAUSE.min(outage.pause * 2),
            None if self.failures < MAX_FAILURES => return,
            None => {
                tracing::warn!("the store is away");
                FIRST_PAUSE
            }
        };
        let next_try = now + pause;
        self.outage = Some(Outage { pause, next_try });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn away(now: Instant) -> CircuitBreaker {
        let breaker = CircuitBreaker::default();
        for _ in 0..MAX_FAILURES {
            assert!(breaker.permits(now));
            breaker.report(Outcome::Failed, now);
        }
        breaker
    }

    #[test]
    fn three_failures_in_a_row_reject_the_next_operation() {
        let now = Instant::now();
        assert!(!away(now).permits(now));
    }

    #[test]
    fn an_answer_between_failures_permits_operations() {
        let (breaker, now) = (CircuitBreaker::default(), Instant::now());
        for outcome in [
            Outcome::Failed,
            Outcome::Failed,
            Outcome::Answered,
            Outcome::Failed,
            Outcome::Failed,
        ] {
            breaker.report(outcome, now);
        }
        assert!(breaker.permits(now));
    }

    #[test]
    fn one_operation_tries_again_after_pauses_of_up_to_a_second() {
        let mut now = Instant::now();
        let breaker = away(now);
        for pause in [100, 200, 400, 800, 1_000, 1_000] {
            assert!(!breaker.permits(now + (pause - 1) * MS));
            now += pause * MS;
            assert!(breaker.permits(now));
            assert!(!breaker.permits(now));
            breaker.report(Outcome::Failed, now);
        }
        now += 1_000 * MS;
        assert!(breaker.permits(now));
        breaker.report(Outcome::Answered, now);
        assert!(breaker.permits(now) && breaker.permits(now));
    }

    #[test]
    fn while_an_operation_waits_the_next_one_tries_after_a_second() {
        let now = Instant::now();
        let breaker = away(now);
        assert!(breaker.permits(now + FIRST_PAUSE));
        assert!(!breaker.permits(now + FIRST_PAUSE + 999 * MS));
        assert!(breaker.permits(now + FIRST_PAUSE + MAX_PAUSE));
    }
}
