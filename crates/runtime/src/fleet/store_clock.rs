//! The time of the store, computed from the monotonic clock of this process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use pintle_store::StoreTime;
use tokio::time::Instant;

/// The clock of a store: an offset to the monotonic clock, so a change of the wall clock has no effect.
#[derive(Debug)]
pub(super) struct StoreClock {
    start: Instant,
    /// The time of the store at `start`, in milliseconds.
    offset: AtomicU64,
}

/// One answer of the store to the question for its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    pub(super) sent: Instant,
    pub(super) received: Instant,
    pub(super) time: StoreTime,
}

impl StoreClock {
    /// The wall clock of this process at its start, for a store of one process.
    pub(super) fn local() -> Self {
        Self {
            start: Instant::now(),
            offset: AtomicU64::new(StoreTime::from(SystemTime::now()).as_millis()),
        }
    }

    pub(super) fn now(&self) -> StoreTime {
        StoreTime::from_millis(self.offset.load(Ordering::Relaxed)) + self.start.elapsed()
    }

    /// Takes over the time of the probe with the shortest round trip, because its error is smallest: at most
    /// half of that round trip.
    pub(super) fn set(&self, probes: &[Probe]) {
        let Some(best) = probes.iter().min_by_key(|probe| probe.round_trip()) else {
            return;
        };
        let since_start = best.middle().saturating_duration_since(self.start);
        let millis = u64::try_from(since_start.as_millis()).unwrap_or(u64::MAX);
        let offset = best.time.as_millis().saturating_sub(millis);
        self.offset.store(offset, Ordering::Relaxed);
    }
}

impl Probe {
    fn round_trip(&self) -> Duration {
        self.received.saturating_duration_since(self.sent)
    }

    /// The instant at which the store most likely read its clock.
    fn middle(&self) -> Instant {
        self.sent + self.round_trip() / 2
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[tokio::test(start_paused = true)]
    async fn the_probe_with_the_shortest_round_trip_sets_the_clock() {
        let clock = StoreClock::local();
        let start = Instant::now();
        let probe = |sent, received, time| Probe {
            sent: start + millis(sent),
            received: start + millis(received),
            time: StoreTime::from_millis(time),
        };
        clock.set(&[
            probe(0, 100, HOUR + 90),
            probe(100, 110, HOUR + 105),
            probe(110, 200, HOUR + 111),
        ]);
        assert_eq!(clock.now().as_millis(), HOUR);
        tokio::time::advance(millis(1_500)).await;
        assert_eq!(clock.now().as_millis(), HOUR + 1_500);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_without_an_answer_of_the_store_keeps_its_time() {
        let clock = StoreClock::local();
        let before = clock.now();
        clock.set(&[]);
        assert_eq!(clock.now(), before);
    }
}
