//! Counts failed lookups of tasks per principal, and rejects a principal that tries ids.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};

use tokio::time::Instant;

use super::options::TaskOptions;

/// The look-ups of this process that found nothing, by principal.
#[derive(Debug, Default)]
pub(super) struct LookupLimiter(Mutex<Counts>);

/// A principal is counted from its first miss on, for a while, and then anew.
#[derive(Debug, Default)]
struct Counts {
    by_owner: HashMap<String, usize>,
    /// When each count began, the oldest first.
    starts: VecDeque<(Instant, String)>,
}

impl LookupLimiter {
    /// Begins a lookup, unless too many of this owner have missed. It counts as a miss while it lasts,
    /// so that many at the same time are not a way around the limit.
    pub(super) fn begin<'a>(
        &'a self,
        owner: &'a str,
        now: Instant,
        options: &TaskOptions,
    ) -> Option<Lookup<'a>> {
        let mut counts = self.lock();
        counts.forget(now, options);
        let count = match counts.by_owner.get_mut(owner) {
            Some(count) => count,
            None => counts.first(owner, now, options),
        };
        if *count >= options.max_failed_lookups_per_principal {
            return None;
        }
        *count += 1;
        Some(Lookup {
            limiter: self,
            owner,
        })
    }

    /// Uncounts a lookup that was not a miss.
    fn uncount(&self, owner: &str) {
        let mut counts = self.lock();
        if let Some(count) = counts.by_owner.get_mut(owner) {
            *count = count.saturating_sub(1);
        }
    }

    // No panic leaves a change half done, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock()
    }
}

/// A lookup that has begun. Dropped, it is not a miss: whoever gives it up has learned nothing.
pub(super) struct Lookup<'a> {
    limiter: &'a LookupLimiter,
    owner: &'a str,
}

impl Lookup<'_> {
    /// Counts the lookup as a miss for good.
    pub(super) fn missed(self) {
        std::mem::forget(self);
    }
}

impl Drop for Lookup<'_> {
    fn drop(&mut self) {
        self.limiter.uncount(self.owner);
    }
}

impl Counts {
    fn forget(&mut self, now: Instant, options: &TaskOptions) {
        while let Some((began, _)) = self.starts.front()
            && now.duration_since(*began) >= options.failed_lookup_ttl
        {
            self.forget_oldest();
        }
    }

    fn first(&mut self, owner: &str, now: Instant, options: &TaskOptions) -> &mut usize {
        if self.by_owner.len() >= options.max_counted_principals.max(1) {
            self.forget_oldest();
        }
        self.starts.push_back((now, owner.to_owned()));
        self.by_owner.entry(owner.to_owned()).or_default()
    }

    fn forget_oldest(&mut self) {
        if let Some((_, owner)) = self.starts.pop_front() {
            self.by_owner.remove(&owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn options() -> TaskOptions {
        let mut options = TaskOptions::default();
        (
            options.max_failed_lookups_per_principal,
            options.max_counted_principals,
        ) = (2, 2);
        options
    }

    // hardening: H-22
    #[test]
    fn a_principal_misses_so_often_and_then_not_for_a_while() {
        let (limiter, options) = (LookupLimiter::default(), options());
        let began = Instant::now();
        let looks = |owner: &str, after: u64| {
            let lookup = limiter.begin(owner, began + Duration::from_secs(after), &options);
            lookup.map(Lookup::missed).is_some()
        };
        assert!(looks("eve", 0) && looks("eve", 30) && !looks("eve", 59));
        assert!(looks("ada", 59), "everybody is counted alone");
        assert!(looks("eve", 60) && looks("eve", 60) && !looks("eve", 119));
    }

    // hardening: H-22
    #[test]
    fn a_lookup_that_is_dropped_is_not_a_miss_but_counts_while_it_lasts() {
        let (limiter, options) = (LookupLimiter::default(), options());
        let begin = || limiter.begin("eve", Instant::now(), &options);
        for _ in 0..5 {
            drop(begin().expect("a lookup"));
        }
        let together = [begin(), begin(), begin()];
        assert!(together.each_ref().map(Option::is_some) == [true, true, false]);
        drop(together);
        assert!(begin().is_some());
    }

    #[test]
    fn so_many_principals_are_counted() {
        let (limiter, options) = (LookupLimiter::default(), options());
        let now = Instant::now();
        for owner in ["eve", "eve", "bob", "ada"] {
            limiter
                .begin(owner, now, &options)
                .expect("a lookup")
                .missed();
        }
        let counts = limiter.lock();
        assert_eq!((counts.by_owner.len(), counts.starts.len()), (2, 2));
        assert!(!counts.by_owner.contains_key("eve"), "the oldest is gone");
    }
}
