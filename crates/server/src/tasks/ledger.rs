//! How many tasks there are: at work, and kept.

use pintle_runtime::sync::{Mutex, MutexGuard};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pintle_store::StoreTime;

use super::options::TaskOptions;

/// The tasks of this process, counted by principal.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Books>);

#[derive(Debug, Default)]
struct Books {
    active: usize,
    active_by_owner: HashMap<String, usize>,
    /// By expiry, so that those whose time has come are at the front.
    kept: BTreeSet<Entry>,
    expires_by_id: HashMap<String, StoreTime>,
    kept_by_owner: HashMap<String, usize>,
}

/// Expiry, id, owner.
type Entry = (StoreTime, String, String);

/// There is no room for another task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LedgerFullError;

/// A place among those at work; given back when dropped.
#[derive(Debug)]
pub(crate) struct ActivePermit {
    ledger: Arc<Ledger>,
    owner: String,
}

impl Ledger {
    /// Takes a place for a task that is about to begin.
    pub(crate) fn admit(
        self: &Arc<Self>,
        owner: Option<&str>,
        now: StoreTime,
        options: &TaskOptions,
    ) -> Result<ActivePermit, LedgerFullError> {
        let owner = owner.unwrap_or_default();
        let mut books = self.lock();
        books.forget_expired(now);
        let is_full = books.active >= options.max_active
            || count(&books.active_by_owner, owner) >= options.max_active_per_principal
            || books.kept.len() >= options.max_stored
            || count(&books.kept_by_owner, owner) >= options.max_stored_per_principal;
        if is_full {
            return Err(LedgerFullError);
        }
        Ok(self.place(books, owner))
    }

    /// Takes a place for a task that is there already, whatever the bounds.
    pub(crate) fn admit_anyway(self: &Arc<Self>, owner: Option<&str>) -> ActivePermit {
        let books = self.lock();
        self.place(books, owner.unwrap_or_default())
    }

    fn place(self: &Arc<Self>, mut books: MutexGuard<'_, Books>, owner: &str) -> ActivePermit {
        books.active += 1;
        let owner = owner.to_owned();
        *books.active_by_owner.entry(owner.clone()).or_default() += 1;
        ActivePermit {
            ledger: Arc::clone(self),
            owner,
        }
    }

    /// Counts a task as kept until it expires, once, whatever was counted of it before.
    pub(crate) fn keep(&self, owner: Option<&str>, id: &str, expires: StoreTime) {
        let owner = owner.unwrap_or_default().to_owned();
        let mut books = self.lock();
        match books.expires_by_id.insert(id.to_owned(), expires) {
            None => *books.kept_by_owner.entry(owner.clone()).or_default() += 1,
            Some(before) => _ = books.kept.remove(&(before, id.to_owned(), owner.clone())),
        }
        books.kept.insert((expires, id.to_owned(), owner));
    }

    // Nothing here panics halfway, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Books> {
        self.0.lock()
    }
}

impl Books {
    fn forget_expired(&mut self, now: StoreTime) {
        while let Some((expires, ..)) = self.kept.first()
            && *expires <= now
            && let Some((_, id, owner)) = self.kept.pop_first()
        {
            self.expires_by_id.remove(&id);
            decrease(&mut self.kept_by_owner, &owner);
        }
    }
}

impl Drop for ActivePermit {
    fn drop(&mut self) {
        let mut books = self.ledger.lock();
        books.active -= 1;
        decrease(&mut books.active_by_owner, &self.owner);
    }
}

fn count(by_owner: &HashMap<String, usize>, owner: &str) -> usize {
    by_owner.get(owner).copied().unwrap_or(0)
}

fn decrease(by_owner: &mut HashMap<String, usize>, owner: &str) {
    if let Some(own) = by_owner.get_mut(owner) {
        *own -= 1;
        if *own == 0 {
            by_owner.remove(owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> StoreTime {
        StoreTime::from_millis(millis)
    }

    // spec: 2025-11-25 TASK-86 (limits and cleaning)
    // hardening: H-195
    #[test]
    fn tasks_at_work_are_bounded_for_each_principal_and_for_all() {
        let ledger = Arc::new(Ledger::default());
        let mut options = TaskOptions::default();
        (options.max_active_per_principal, options.max_active) = (2, 3);
        let admit = |owner| ledger.admit(Some(owner), at(0), &options);
        let places = [admit("ada"), admit("ada")];
        assert!(places.iter().all(Result::is_ok));
        assert_eq!(admit("ada").err(), Some(LedgerFullError));
        let eve = admit("eve").expect("the third of three");
        assert_eq!(admit("bob").err(), Some(LedgerFullError));
        drop(eve);
        assert!(admit("bob").is_ok());
        drop(places);
        assert!(ledger.lock().active_by_owner.is_empty() && ledger.lock().active == 0);
    }

    #[test]
    fn kept_tasks_are_bounded_until_they_expire() {
        let ledger = Arc::new(Ledger::default());
        let mut options = TaskOptions::default();
        (options.max_stored_per_principal, options.max_stored) = (2, 3);
        for (owner, id) in [("ada", "1"), ("ada", "2"), ("ada", "2"), ("eve", "3")] {
            ledger.keep(Some(owner), id, at(10));
        }
        let admit = |owner, now| ledger.admit(Some(owner), at(now), &options);
        assert_eq!(admit("ada", 9).err(), Some(LedgerFullError));
        assert_eq!(
            admit("eve", 9).err(),
            Some(LedgerFullError),
            "three are kept for all"
        );
        ledger.keep(Some("ada"), "1", at(12));
        assert_eq!(ledger.lock().kept.len(), 3, "one task is counted once");
        assert!(admit("eve", 10).is_ok());
        assert_eq!(count(&ledger.lock().kept_by_owner, "ada"), 1);
        assert!(admit("ada", 12).is_ok());
        let books = ledger.lock();
        assert!(books.kept_by_owner.is_empty() && books.expires_by_id.is_empty());
    }
}
