//! Which proofs were used. They are known by 128 bits of a digest, and forgotten when they are too old
//! to be used again.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use ring::digest::{Context, SHA256};

/// There is no room for one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The proofs that were used.
pub(super) struct Used {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    names: HashSet<u128>,
    /// Which of them end in which second.
    names_by_end: BTreeMap<u64, Vec<u128>>,
}

impl Used {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            table: Mutex::default(),
        }
    }

    /// Notes a proof until a time, in seconds; false if it was used before.
    pub(super) fn enter(
        &self,
        key: &str,
        id: &str,
        until: f64,
        now: SystemTime,
    ) -> Result<bool, Full> {
        let since = now.duration_since(SystemTime::UNIX_EPOCH);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.forget_before(since.unwrap_or_default().as_secs());
        let name = name(key, id);
        if table.names.contains(&name) {
            return Ok(false);
        }
        if table.names.len() >= self.most {
            return Err(Full);
        }
        table.names.insert(name);
        // One second more, so that nothing is forgotten while it could still be used.
        let end = until.max(0.0) as u64 + 1;
        table.names_by_end.entry(end).or_default().push(name);
        Ok(true)
    }
}

impl Table {
    fn forget_before(&mut self, now: u64) {
        while let Some(first) = self.names_by_end.first_entry()
            && *first.key() < now
        {
            for name in first.remove() {
                self.names.remove(&name);
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

    // spec: 2026-07-28 X-DPOP-03
    #[test]
    fn a_proof_is_used_once_and_forgotten_when_it_is_old() {
        let used = Used::new(2);
        assert_eq!(used.enter("key", "1", 100.0, at(10)), Ok(true));
        assert_eq!(used.enter("key", "1", 100.0, at(11)), Ok(false));
        assert_eq!(used.enter("other", "1", 100.5, at(11)), Ok(true));
        assert_eq!(used.enter("key", "2", 100.0, at(12)), Err(Full));
        assert_eq!(used.enter("key", "1", 100.0, at(101)), Ok(false));
        assert_eq!(used.enter("key", "2", 200.0, at(102)), Ok(true));
        assert_eq!(used.table.lock().expect("no panic").names.len(), 1);
    }
}
