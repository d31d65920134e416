//! The part of a quota that one replica has for one peer. No I/O.

use std::time::Duration;

use pintle_runtime::SharedCount;
use tokio::time::Instant;

/// A block is at most this part of the rest of a quota, divided by the number of replicas. So replicas that
/// receive no more requests hold at most this part.
const MAX_PART: u64 = 8;
/// The number of replicas before the first answer of the store.
const ASSUMED_REPLICAS: usize = 8;

/// A number of requests in an interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quota {
    pub(super) most: u64,
    pub(super) interval: Duration,
}

impl Quota {
    /// The part of one replica without the store, at least 1. A replica that never reached the store knows no others.
    pub(super) fn share(&self, replicas: Option<usize>) -> u64 {
        let replicas = replicas.unwrap_or(1).max(1) as u64;
        (self.most / replicas).max(1).min(self.most)
    }

    fn block(&self, rest: u64, replicas: Option<usize>) -> u64 {
        let replicas = replicas.unwrap_or(ASSUMED_REPLICAS).max(1) as u64;
        rest / MAX_PART.saturating_mul(replicas)
    }
}

/// The requests of a peer in the current interval.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    /// The interval of the blocks. `None` before the first one.
    interval: Option<u64>,
    /// The end of the interval.
    end: Option<Instant>,
    /// The rest of the blocks.
    left: u64,
    /// All requests that this replica admitted.
    admitted: u64,
    /// The last sum of the shared counter.
    sum: u64,
}

/// The next step of requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Admitted,
    /// The peer has a quota again after this time.
    Refused(Duration),
    /// Take a block of this size first.
    Take(u64),
}

impl Allowance {
    /// Uses the blocks for requests, all or none.
    pub(super) fn decide(
        &mut self,
        requests: u64,
        replicas: Option<usize>,
        quota: &Quota,
        now: Instant,
    ) -> Decision {
        self.begin(now);
        if requests <= self.left {
            self.left -= requests;
            self.admitted += requests;
            return Decision::Admitted;
        }
        let rest = quota.most.saturating_sub(self.sum);
        let missing = requests - self.left;
        // A larger block would be counted and not used.
        if missing > rest {
            return Decision::Refused(self.rest(quota, now));
        }
        Decision::Take(missing.max(quota.block(rest, replicas)))
    }

    /// Adds what the quota has of a block.
    pub(super) fn add(&mut self, block: u64, count: &SharedCount, quota: &Quota, now: Instant) {
        if self.interval != Some(count.interval) {
            *self = Self::default();
        }
        self.interval = Some(count.interval);
        self.end = Some(now + count.rest);
        let before = count.sum.saturating_sub(block);
        self.left += quota.most.saturating_sub(before).min(block);
        self.sum = self.sum.max(count.sum);
    }

    /// Uses the blocks after one was added.
    ///
    /// # Errors
    ///
    /// The time until the interval ends.
    pub(super) fn use_block(
        &mut self,
        requests: u64,
        quota: &Quota,
        now: Instant,
    ) -> Result<(), Duration> {
        if requests > self.left {
            return Err(self.rest(quota, now));
        }
        self.left -= requests;
        self.admitted += requests;
        Ok(())
    }

    /// Admits requests without the shared counter: `most` in the interval, with those of before.
    ///
    /// # Errors
    ///
    /// The time until the interval ends.
    pub(super) fn admit_up_to(
        &mut self,
        most: u64,
        requests: u64,
        quota: &Quota,
        now: Instant,
    ) -> Result<(), Duration> {
        self.begin(now);
        self.end.get_or_insert(now + quota.interval);
        if requests > most.saturating_sub(self.admitted) {
            return Err(self.rest(quota, now));
        }
        self.admitted += requests;
        Ok(())
    }

    /// Begins another interval if the current one has ended.
    fn begin(&mut self, now: Instant) {
        if self.end.is_some_and(|end| now >= end) {
            *self = Self::default();
        }
    }

    fn rest(&self, quota: &Quota, now: Instant) -> Duration {
        self.end
            .map_or(quota.interval, |end| end.duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota {
        most: 240,
        interval: Duration::from_secs(60),
    };

    fn count(sum: u64) -> SharedCount {
        SharedCount {
            interval: 7,
            rest: Duration::from_secs(30),
            sum,
            replicas: 3,
        }
    }

    #[test]
    fn blocks_become_smaller_with_the_rest() {
        let (now, mut allowance) = (Instant::now(), Allowance::default());
        let mut next = |sum, expected| {
            let decision = allowance.decide(1, Some(3), &QUOTA, now);
            assert_eq!(decision, Decision::Take(expected));
            allowance.add(expected, &count(sum), &QUOTA, now);
            for _ in 0..expected {
                let decision = allowance.decide(1, Some(3), &QUOTA, now);
                assert_eq!(decision, Decision::Admitted);
            }
        };
        next(10, 10);
        next(130, 9);
        next(238, 4);
        next(239, 1);
        next(240, 1);
        let refused = Decision::Refused(Duration::from_secs(30));
        assert_eq!(allowance.decide(1, Some(3), &QUOTA, now), refused);
        let later = now + Duration::from_secs(30);
        assert_eq!(
            allowance.decide(1, Some(3), &QUOTA, later),
            Decision::Take(10)
        );
    }

    #[test]
    fn a_block_beyond_the_quota_is_used_up_to_it() {
        let (now, mut allowance) = (Instant::now(), Allowance::default());
        allowance.add(10, &count(243), &QUOTA, now);
        assert!(allowance.use_block(8, &QUOTA, now).is_err());
        assert!(allowance.use_block(7, &QUOTA, now).is_ok());
        assert!(allowance.use_block(1, &QUOTA, now).is_err());
    }

    #[test]
    fn more_requests_than_the_rest_take_no_block() {
        let (now, mut allowance) = (Instant::now(), Allowance::default());
        let refused = Decision::Refused(QUOTA.interval);
        assert_eq!(allowance.decide(241, None, &QUOTA, now), refused);
        assert_eq!(
            allowance.decide(240, None, &QUOTA, now),
            Decision::Take(240)
        );
    }

    #[test]
    fn a_share_is_at_least_1_and_at_most_the_quota() {
        assert_eq!(QUOTA.share(Some(3)), 80);
        assert_eq!((QUOTA.share(None), QUOTA.share(Some(1_000))), (240, 1));
        let none = Quota { most: 0, ..QUOTA };
        assert_eq!(none.share(Some(3)), 0);
    }

    #[test]
    fn a_share_counts_the_requests_of_blocks() {
        let (now, mut allowance) = (Instant::now(), Allowance::default());
        allowance.add(50, &count(50), &QUOTA, now);
        allowance.use_block(50, &QUOTA, now).expect("a block of 50");
        assert!(allowance.admit_up_to(80, 30, &QUOTA, now).is_ok());
        let refused = allowance.admit_up_to(80, 1, &QUOTA, now);
        assert_eq!(refused, Err(Duration::from_secs(30)));
        let later = now + Duration::from_secs(30);
        assert!(allowance.admit_up_to(80, 80, &QUOTA, later).is_ok());
    }
}
