//! Percentiles of times.

use std::time::Duration;

/// Times in their order.
pub(super) struct Percentiles(Vec<Duration>);

impl Percentiles {
    pub(super) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the number of times.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns a percentile as text.
    pub(super) fn of(&self, percent: usize) -> String {
        let place = self.0.len().saturating_sub(1) * percent / 100;
        self.0
            .get(place)
            .map_or("-".to_owned(), |time| format!("{time:.1?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_time_that_so_many_do_not_exceed() {
        let times = (1..=101).rev().map(Duration::from_millis).collect();
        let times = Percentiles::new(times);
        assert_eq!(
            (times.of(50), times.of(99)),
            ("51.0ms".into(), "100.0ms".into())
        );
        assert_eq!(Percentiles::new(Vec::new()).of(50), "-");
    }
}
