//! The time of records, which outlive the process.

use std::time::{Duration, SystemTime};

use pintle_store::StoreTime;
use tokio::time::Instant;

/// How far two clocks may differ because they only tick differently. Beyond it the machine slept, or
/// its wall clock was set.
const DRIFT: Duration = Duration::from_secs(5);

/// The wall clock's time when the process began, and the time that has passed since.
#[derive(Debug)]
pub(crate) struct Clock {
    began: SystemTime,
    since: Instant,
    /// Whether other processes read the same records: only the wall clock is common to both.
    is_shared: bool,
}

impl Clock {
    pub(super) fn start(is_shared: bool) -> Self {
        Self {
            began: SystemTime::now(),
            since: Instant::now(),
            is_shared,
        }
    }

    /// The time by which records begin and expire. It follows the wall clock, forwards, only where
    /// other processes do: a clock that is set must not end tasks.
    pub(crate) fn now(&self) -> StoreTime {
        let counted = self.counted();
        let wall = StoreTime::from(SystemTime::now());
        if self.is_shared && wall > counted + DRIFT {
            wall
        } else {
            counted
        }
    }

    /// How far the wall clock is ahead of this one, in milliseconds, if it was set or the machine
    /// slept: what clients read as a date is the wall clock's.
    pub(crate) fn lag_millis(&self) -> i64 {
        let (now, wall) = (self.now(), StoreTime::from(SystemTime::now()));
        if wall <= now + DRIFT && now <= wall + DRIFT {
            return 0;
        }
        let millis = |moment: StoreTime| i64::try_from(moment.as_millis()).unwrap_or(i64::MAX);
        millis(wall) - millis(now)
    }

    fn counted(&self) -> StoreTime {
        let counted = self.began.checked_add(self.since.elapsed());
        counted.map_or(StoreTime::default(), StoreTime::from)
    }

    /// The runtime's instant at which a moment has come.
    pub(super) fn instant_of(&self, moment: StoreTime) -> Instant {
        let wait = moment.as_millis().saturating_sub(self.now().as_millis());
        let now = Instant::now();
        now.checked_add(Duration::from_millis(wait)).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pintle_model::{Implementation, ServerCapabilities};
    use pintle_proto::ServerProfile;
    use pintle_store::{FileStore, MemoryStore, Store, StoreLimits};

    use super::*;
    use crate::changes::Changes;
    use crate::tasks::TaskOptions;
    use crate::tasks::task_store::Tasks;

    const HOUR: Duration = Duration::from_secs(3_600);

    /// A clock whose wall clock was set to an hour later just now.
    fn set_ahead(is_shared: bool) -> Clock {
        let mut clock = Clock::start(is_shared);
        clock.began = clock.began.checked_sub(HOUR).expect("after 1970");
        clock
    }

    #[test]
    fn a_wall_clock_that_is_set_moves_only_what_others_share() {
        let wall = || StoreTime::from(SystemTime::now());
        let alone = set_ahead(false);
        assert!(alone.now() + HOUR <= wall() + DRIFT);
        assert!(alone.lag_millis() > 3_595_000);

        let (shared, before) = (set_ahead(true), wall());
        assert!(shared.now() >= before);
    }

    #[test]
    fn the_clock_of_tasks_is_shared_only_if_processes_share_the_store() {
        let directory = std::env::temp_dir().join(format!("pintle-clock-{}", std::process::id()));
        let file = FileStore::open(&directory, StoreLimits::default()).expect("opens");
        let identity = Implementation::new("s", "1");
        let profile = Arc::new(ServerProfile::new(identity, ServerCapabilities::default()));
        let is_shared = |store: Option<Arc<dyn Store>>| {
            let (options, changes) = (TaskOptions::default(), Changes::default());
            Tasks::new(store, options, Arc::clone(&profile), changes)
                .clock
                .is_shared
        };
        assert!(!is_shared(None));
        assert!(!is_shared(Some(Arc::new(file))));
        assert!(is_shared(Some(Arc::new(MemoryStore::default()))));
        // A directory that remains does not make another test fail.
        let _ = std::fs::remove_dir_all(&directory);
    }
}
