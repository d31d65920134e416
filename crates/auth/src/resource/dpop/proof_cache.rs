//! Which proofs were used. They are known by 128 bits of a digest, and forgotten when they are too old
//! to be used again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::SystemTime;

use pintle_runtime::sync::Mutex;
use ring::digest::{Context, SHA256};

/// There is no room for one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProofCacheFullError;

/// A proof about to be noted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'p> {
    /// Principal of the token.
    pub(super) principal: &'p str,
    pub(super) key: &'p str,
    pub(super) id: &'p str,
    /// Until when it could be used, in seconds.
    pub(super) until: f64,
}

/// The proofs that were used.
pub(super) struct ProofCache {
    most: usize,
    most_of_principal: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    names: HashSet<u128>,
    /// Which of them end in which second, and whose they are.
    names_by_end: BTreeMap<u64, Vec<(u128, u128)>>,
    /// How many each principal has.
    counts: HashMap<u128, usize>,
}

impl ProofCache {
    pub(super) fn new(most: usize, most_of_principal: usize) -> Self {
        Self {
            most,
            most_of_principal,
            table: Mutex::default(),
        }
    }

    /// Notes a proof; false if it was used before.
    pub(super) fn enter(
        &self,
        entry: &Entry<'_>,
        now: SystemTime,
    ) -> Result<bool, ProofCacheFullError> {
        let since = now.duration_since(SystemTime::UNIX_EPOCH);
        let mut table = self.table.lock();
        table.forget_before(since.unwrap_or_default().as_secs());
        let (name, owner) = (name(entry.key, entry.id), name("", entry.principal));
        if table.names.contains(&name) {
            return Ok(false);
        }
        let own = table.counts.get(&owner).copied().unwrap_or_default();
        if table.names.len() >= self.most || own >= self.most_of_principal {
            return Err(ProofCacheFullError);
        }
        table.names.insert(name);
        table.counts.insert(owner, own + 1);
        // One second more, so that nothing is forgotten while it could still be used.
        let end = entry.until.max(0.0) as u64 + 1;
        let names = table.names_by_end.entry(end).or_default();
        names.push((name, owner));
        Ok(true)
    }
}

impl Table {
    fn forget_before(&mut self, now: u64) {
        while let Some(first) = self.names_by_end.first_entry()
            && *first.key() < now
        {
            for (name, owner) in first.remove() {
                self.names.remove(&name);
                self.release(owner);
            }
        }
    }

    fn release(&mut self, owner: u128) {
        if let Some(count) = self.counts.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&owner);
            }
        }
    }
}

fn name(key: &str, id: &str) -> u128 {
    let mut digest = Context::new(&SHA256);
    // A thumbprint has no blanks, so that key and id cannot be taken for each other.
    for part in [key, " ", id] {
        digest.update(part.as_bytes());
    }
    let digest = digest.finish();
    let (half, _) = digest.as_ref().split_first_chunk().expect("32 bytes");
    u128::from_be_bytes(*half)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn entry<'p>(key: &'p str, id: &'p str, until: f64) -> Entry<'p> {
        Entry {
            principal: key,
            key,
            id,
            until,
        }
    }

    // spec: 2026-07-28 X-DPOP-03
    #[test]
    fn a_proof_is_used_once_and_forgotten_when_it_is_old() {
        let used = ProofCache::new(2, 2);
        assert_eq!(used.enter(&entry("key", "1", 100.0), at(10)), Ok(true));
        assert_eq!(used.enter(&entry("key", "1", 100.0), at(11)), Ok(false));
        assert_eq!(used.enter(&entry("other", "1", 100.5), at(11)), Ok(true));
        assert_eq!(
            used.enter(&entry("key", "2", 100.0), at(12)),
            Err(ProofCacheFullError)
        );
        assert_eq!(used.enter(&entry("key", "1", 100.0), at(101)), Ok(false));
        assert_eq!(used.enter(&entry("key", "2", 200.0), at(102)), Ok(true));
        let table = used.table.lock();
        assert_eq!((table.names.len(), table.counts.len()), (1, 1));
    }

    #[test]
    fn one_principal_leaves_room_for_the_proofs_of_others() {
        let used = ProofCache::new(10, 2);
        for id in ["1", "2"] {
            assert_eq!(used.enter(&entry("one", id, 100.0), at(10)), Ok(true));
        }
        // Another key of the same principal counts with it.
        let other_key = Entry {
            key: "key 2",
            ..entry("one", "3", 100.0)
        };
        assert_eq!(used.enter(&other_key, at(10)), Err(ProofCacheFullError));
        assert_eq!(used.enter(&entry("two", "1", 100.0), at(10)), Ok(true));
        assert_eq!(used.enter(&entry("one", "3", 200.0), at(102)), Ok(true));
    }
}
