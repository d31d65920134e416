//! Pauses between attempts to connect.

use std::time::Duration;

/// The first pause, and the longest one.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Doubles the pause with each attempt. A random part keeps processes from connecting at the same moment.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    attempts: u32,
}

impl Backoff {
    /// Returns the next pause: half of it is fixed, and half is random.
    pub(crate) fn next(&mut self) -> Duration {
        let whole = FIRST
            .saturating_mul(1 << self.attempts.min(16))
            .min(LONGEST);
        self.attempts = self.attempts.saturating_add(1);
        let part = getrandom::u32().unwrap_or(u32::MAX);
        let part = f64::from(part) / f64::from(u32::MAX);
        whole / 2 + (whole / 2).mul_f64(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::default();
        for whole in [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            let whole = Duration::from_millis(whole);
            let pause = backoff.next();
            assert!(
                pause >= whole / 2 && pause <= whole,
                "{pause:?} of {whole:?}"
            );
        }
        backoff.attempts = u32::MAX;
        assert!(backoff.next() <= LONGEST);
    }
}
