//! What time it is, for records that outlive the process.

use std::time::{Duration, SystemTime};

use pintle_store::Moment;
use tokio::time::Instant;

/// How far the wall clock may be ahead before it is believed: by less, two clocks only tick
/// differently; by more, the machine slept, or somebody has set the clock.
const DRIFT: Duration = Duration::from_secs(5);

/// Wall-clock time that does not go back while the process lives, and follows the runtime's clock.
#[derive(Debug)]
pub(super) struct Clock {
    began: SystemTime,
    since: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            began: SystemTime::now(),
            since: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Moment {
        let counted = self.began.checked_add(self.since.elapsed());
        let counted = counted.map_or(Moment::default(), Moment::from);
        let told = Moment::from(SystemTime::now());
        if told > counted + DRIFT {
            told
        } else {
            counted
        }
    }

    /// The runtime's instant at which a moment has come.
    pub(super) fn instant_of(&self, moment: Moment) -> Instant {
        let wait = moment.as_millis().saturating_sub(self.now().as_millis());
        let now = Instant::now();
        now.checked_add(Duration::from_millis(wait)).unwrap_or(now)
    }
}
