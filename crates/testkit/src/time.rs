//! Short forms for durations.

use std::time::Duration;

/// `50.ms()`, `2.secs()`, `10.minutes()`.
pub trait Units {
    /// This many milliseconds.
    fn ms(self) -> Duration;
    /// This many seconds.
    fn secs(self) -> Duration;
    /// This many minutes.
    fn minutes(self) -> Duration;
}

impl Units for u64 {
    fn ms(self) -> Duration {
        Duration::from_millis(self)
    }

    fn secs(self) -> Duration {
        Duration::from_secs(self)
    }

    fn minutes(self) -> Duration {
        Duration::from_secs(60 * self)
    }
}
