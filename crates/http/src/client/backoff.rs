//! How long to wait before trying again: arithmetic, without a clock and without randomness.

use std::time::Duration;

use pintle_runtime::random_bytes;

/// The limits of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backoff {
    /// The first wait when the server gave none.
    pub(crate) first: Duration,
    /// The longest wait that we choose ourselves.
    pub(crate) most: Duration,
    /// The shortest and the longest wait that a server may ask for.
    pub(crate) asked: (Duration, Duration),
}

/// A draw between nothing and everything, so that clients do not return all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Jitter(pub(crate) u16);

impl Backoff {
    /// The wait before the attempt that follows `failures` failed ones.
    ///
    /// What the server asked for is a lower bound, and the jitter on it is small: some servers
    /// judge a late return. Our own waits double, and are drawn from their upper half.
    pub(crate) fn wait(&self, failures: u32, asked: Option<Duration>, jitter: Jitter) -> Duration {
        let Some(asked) = asked else {
            return self.own(failures, jitter);
        };
        let (least, most) = self.asked;
        let asked = asked.clamp(least, most);
        // The first attempt waits for the delay of the server; later ones wait longer.
        let own = match failures {
            0 => Duration::ZERO,
            failures => self.own(failures - 1, jitter),
        };
        asked.saturating_add(jitter.of(asked / 10)).max(own)
    }

    fn own(&self, failures: u32, jitter: Jitter) -> Duration {
        let doubled = 2_u32
            .checked_pow(failures)
            .and_then(|factor| self.first.checked_mul(factor));
        let whole = doubled.map_or(self.most, |wait| wait.min(self.most));
        whole / 2 + jitter.of(whole / 2)
    }
}

impl Jitter {
    fn of(self, whole: Duration) -> Duration {
        whole.mul_f64(f64::from(self.0) / f64::from(u16::MAX))
    }

    /// Draws one. Without a source of randomness it is half of everything.
    pub(crate) fn draw() -> Self {
        Self(random_bytes().map_or(u16::MAX / 2, u16::from_le_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        first: Duration::from_secs(1),
        most: Duration::from_secs(30),
        asked: (Duration::from_millis(100), Duration::from_secs(300)),
    };
    const LEAST: Jitter = Jitter(0);
    const MOST: Jitter = Jitter(u16::MAX);

    fn millis(failures: u32, asked: Option<u64>, jitter: Jitter) -> u128 {
        let asked = asked.map(Duration::from_millis);
        BACKOFF.wait(failures, asked, jitter).as_millis()
    }

    // hardening: H-159
    #[test]
    fn our_own_waits_double_up_to_a_cap_and_never_overflow() {
        let expected = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
        for (failures, most) in (0..).zip(expected) {
            assert_eq!(millis(failures, None, MOST), most);
            assert_eq!(millis(failures, None, LEAST), most / 2);
        }
        for failures in [31, 32, 33, 64, u32::MAX] {
            assert_eq!(millis(failures, None, MOST), 30_000, "{failures}");
        }
    }

    // spec: 2025-11-25 TRANS-HTTP-19
    #[test]
    fn a_server_that_asked_for_a_wait_is_never_returned_to_earlier() {
        for failures in [0, 1, 5, u32::MAX] {
            for jitter in [LEAST, Jitter(9), MOST] {
                assert!(millis(failures, Some(500), jitter) >= 500);
            }
        }
        assert_eq!(millis(0, Some(500), LEAST), 500);
        assert_eq!(millis(0, Some(500), MOST), 550);
        assert_eq!(millis(3, Some(500), MOST), 4_000);
        assert_eq!(millis(3, Some(20_000), LEAST), 20_000);
    }

    #[test]
    fn the_retry_delay_of_a_server_is_bounded() {
        assert_eq!(millis(0, Some(0), LEAST), 100);
        assert_eq!(millis(0, Some(u64::MAX), LEAST), 300_000);
        assert_eq!(millis(0, Some(u64::MAX), MOST), 330_000);
    }
}
