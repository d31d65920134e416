//! Times, counted in buckets: as many measurements as there are, in as much memory as ever.

use std::time::Duration;

/// Buckets in each doubling: a time is known to about 3 %.
const PARTS: usize = 32;

/// Doublings of a nanosecond: up to 2^40 ns, a quarter of an hour; longer times count as that.
const DOUBLINGS: usize = 40;

/// Times in buckets whose widths grow with them.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; PARTS * DOUBLINGS],
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

impl Histogram {
    /// Counts one time.
    pub(super) fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += 1;
        self.count += 1;
        self.sum += u128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    /// Counts what another one has counted.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many times were counted.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The least time; none at all if nothing was counted.
    pub(super) fn min(&self) -> Duration {
        Duration::from_nanos(if self.count == 0 { 0 } else { self.min })
    }

    /// The greatest time.
    pub(super) fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// The mean.
    pub(super) fn mean(&self) -> Duration {
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The time that a part of all times does not exceed; `0.5` is the median.
    pub(super) fn at(&self, part: f64) -> Duration {
        let rank = (part * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (up_to, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return up_to.min(self.max());
            }
        }
        self.max()
    }

    /// The buckets that are not empty: up to which time, and how many.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let counted = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        counted.map(|(index, count)| (Duration::from_nanos(end(index)), *count))
    }

    /// The doublings from the first that is not empty to the last.
    pub(super) fn doublings(&self) -> Vec<(Duration, u64)> {
        let sums: Vec<u64> = self
            .counts
            .chunks(PARTS)
            .map(|chunk| chunk.iter().sum())
            .collect();
        let first = sums.iter().position(|sum| *sum > 0);
        let last = sums.iter().rposition(|sum| *sum > 0);
        let (Some(first), Some(last)) = (first, last) else {
            return Vec::new();
        };
        let range = first..=last;
        range
            .map(|at| (Duration::from_nanos(end(at * PARTS + PARTS - 1)), sums[at]))
            .collect()
    }
}

/// The bucket of a time: the doubling it lies in, and the part of that.
fn bucket(nanos: u64) -> usize {
    let nanos = nanos.max(1);
    let doubling = nanos.ilog2() as usize;
    let offset = nanos - (1 << doubling);
    let part = (u128::from(offset) * PARTS as u128) >> doubling;
    (doubling * PARTS + part as usize).min(PARTS * DOUBLINGS - 1)
}

/// The time that a bucket ends before, in nanoseconds.
fn end(index: usize) -> u64 {
    let (doubling, part) = (index / PARTS, index % PARTS);
    let base = 1_u128 << doubling;
    let end = base + (base * (part as u128 + 1)) / PARTS as u128;
    u64::try_from(end).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_of_all_times_are_found() {
        let mut all = Histogram::default();
        for micros in 1..=1000 {
            all.add(Duration::from_micros(micros));
        }
        for (part, micros) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = all.at(part).as_secs_f64() * 1e6;
            assert!((found / micros - 1.0).abs() < 0.04, "{part}: {found}");
        }
        assert_eq!(
            (all.count(), all.min(), all.max()),
            (1000, Duration::from_micros(1), Duration::from_millis(1))
        );
        assert_eq!(all.mean(), Duration::from_nanos(500_500));
    }

    #[test]
    fn nothing_counted_is_nothing() {
        let none = Histogram::default();
        assert_eq!(
            [none.min(), none.max(), none.mean(), none.at(0.5)],
            [Duration::ZERO; 4]
        );
        assert!(none.doublings().is_empty());
    }

    #[test]
    fn counts_add_up() {
        let (mut one, mut two) = (Histogram::default(), Histogram::default());
        one.add(Duration::from_secs(1));
        two.add(Duration::MAX);
        one.merge(&two);
        assert_eq!((one.count(), one.min()), (2, Duration::from_secs(1)));
        assert_eq!(one.buckets().map(|(_, count)| count).sum::<u64>(), 2);
    }

    proptest! {
        #[test]
        fn a_time_lies_in_its_bucket(nanos in 1..(1_u64 << 40)) {
            let index = bucket(nanos);
            prop_assert!(nanos <= end(index));
            // Below this many parts a doubling has fewer nanoseconds than buckets.
            prop_assert!(index == 0 || nanos >= end(index - 1) || nanos < PARTS as u64);
        }
    }
}
