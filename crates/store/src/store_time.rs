//! Time that the caller passes to a store.

use std::ops::Add;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time: whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Wall-clock time and not monotonic time, because records outlive the process that wrote them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StoreTime(u64);

impl StoreTime {
    /// The moment that many milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// In milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

impl From<SystemTime> for StoreTime {
    /// Rounds down to a millisecond; a time before 1970 becomes the start of 1970.
    fn from(time: SystemTime) -> Self {
        Self::default() + time.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

impl Add<Duration> for StoreTime {
    type Output = Self;

    /// Later by whole milliseconds; beyond the last moment is the last moment.
    fn add(self, span: Duration) -> Self {
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_too_far_is_the_last_one() {
        let far = StoreTime::from_millis(5) + Duration::MAX;

        assert_eq!(far.as_millis(), u64::MAX);
    }

    #[test]
    fn wall_clock_time_is_rounded_down_to_a_millisecond() {
        let time = UNIX_EPOCH + Duration::from_micros(1_999);

        assert_eq!(StoreTime::from(time), StoreTime::from_millis(1));
    }
}
