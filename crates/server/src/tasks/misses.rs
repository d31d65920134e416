//! Look-ups of tasks that are not there, counted by who makes them: whoever tries ids is stopped.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::options::TaskOptions;

/// The look-ups of this process that found nothing, by principal.
#[derive(Debug, Default)]
pub(super) struct Misses(Mutex<Counts>);

/// A principal is counted from its first miss on, for a while, and then anew.
#[derive(Debug, Default)]
struct Counts {
    by_owner: HashMap<String, usize>,
    /// When each count began, the oldest first.
    begun: VecDeque<(Instant, String)>,
}

impl Misses {
    /// Counts a look-up as one that finds nothing, until it is [found](Self::found); whether it may
    /// be made at all.
    pub(super) fn begin(&self, owner: &str, now: Instant, options: &TaskOptions) -> bool {
        let mut counts = self.lock();
        counts.forget(now, options);
        let count = match counts.by_owner.get_mut(owner) {
            Some(count) => count,
            None => counts.first(owner, now, options),
        };
        let may_look = *count < options.misses_of_principal;
        *count += usize::from(may_look);
        may_look
    }

    /// Takes back what was counted.
    pub(super) fn found(&self, owner: &str) {
        let mut counts = self.lock();
        if let Some(count) = counts.by_owner.get_mut(owner) {
            *count = count.saturating_sub(1);
        }
    }

    // No panic leaves a change half done, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn forget(&mut self, now: Instant, options: &TaskOptions) {
        while let Some((began, _)) = self.begun.front()
            && now.duration_since(*began) >= options.misses_time
        {
            self.forget_oldest();
        }
    }

    fn first(&mut self, owner: &str, now: Instant, options: &TaskOptions) -> &mut usize {
        if self.by_owner.len() >= options.misses_principals.max(1) {
            self.forget_oldest();
        }
        self.begun.push_back((now, owner.to_owned()));
        self.by_owner.entry(owner.to_owned()).or_default()
    }

    fn forget_oldest(&mut self) {
        if let Some((_, owner)) = self.begun.pop_front() {
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
        (options.misses_of_principal, options.misses_principals) = (2, 2);
        options
    }

    // hardening: H-22
    #[test]
    fn a_principal_misses_so_often_and_then_not_for_a_while() {
        let (misses, options) = (Misses::default(), options());
        let began = Instant::now();
        let looks = |owner: &str, after: u64| {
            misses.begin(owner, began + Duration::from_secs(after), &options)
        };
        assert!(looks("eve", 0) && looks("eve", 30) && !looks("eve", 59));
        assert!(looks("ada", 59), "everybody is counted alone");
        assert!(looks("eve", 60) && looks("eve", 60) && !looks("eve", 119));
        misses.found("eve");
        assert!(looks("eve", 119), "what was found is no miss");
    }

    #[test]
    fn so_many_principals_are_counted() {
        let (misses, options) = (Misses::default(), options());
        let now = Instant::now();
        for owner in ["eve", "eve", "bob", "ada"] {
            assert!(misses.begin(owner, now, &options));
        }
        let counts = misses.lock();
        assert_eq!((counts.by_owner.len(), counts.begun.len()), (2, 2));
        assert!(!counts.by_owner.contains_key("eve"), "the oldest is gone");
    }
}
