//! The other replicas that the latest list shows. No I/O.

use std::collections::BTreeSet;

use pintle_store::StoreTime;

use super::replica_id::ReplicaId;

/// The other present replicas.
#[derive(Debug, Default)]
pub(super) struct Roster {
    present: BTreeSet<ReplicaId>,
    /// Until then, an absent replica may not have written its presence again after a loss of content.
    grace_until: StoreTime,
}

impl Roster {
    pub(super) fn replicas(&self) -> Vec<ReplicaId> {
        self.present.iter().copied().collect()
    }

    pub(super) fn has(&self, replica: ReplicaId) -> bool {
        self.present.contains(&replica)
    }

    /// Adds a replica that was present, although no list has shown it.
    pub(super) fn add(&mut self, replica: Option<ReplicaId>) {
        self.present.extend(replica);
    }

    /// Returns true if a list lacks a replica that was present.
    pub(super) fn lacks(&self, listed: &BTreeSet<ReplicaId>, now: StoreTime) -> bool {
        now >= self.grace_until && !self.present.is_subset(listed)
    }

    /// Takes over a complete list, and returns the replicas that have gone.
    pub(super) fn update(&mut self, listed: BTreeSet<ReplicaId>, now: StoreTime) -> Vec<ReplicaId> {
        if now < self.grace_until {
            self.present.extend(listed);
            return Vec::new();
        }
        let gone = self.present.difference(&listed).copied().collect();
        self.present = listed;
        gone
    }

    /// Returns true if the store lost its content so recently that a present replica may be absent from it.
    pub(super) fn waits(&self, now: StoreTime) -> bool {
        now < self.grace_until
    }

    /// The store lost its content: no replica counts as gone before that time.
    pub(super) fn wait_until(&mut self, time: StoreTime) {
        self.grace_until = time;
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<ReplicaId> {
        names
            .iter()
            .map(|name| name.parse().expect("a replica id"))
            .collect()
    }

    fn at(millis: u64) -> StoreTime {
        StoreTime::from_millis(millis)
    }

    #[test]
    fn a_replica_that_a_list_lacks_has_gone_once() {
        let mut roster = Roster::default();
        let [a, b] = ["aaaaaaaa", "bbbbbbbb"];
        assert!(roster.update(set(&[a, b]), at(0)).is_empty());
        assert!(roster.lacks(&set(&[b]), at(1)) && !roster.lacks(&set(&[a, b]), at(1)));
        assert_eq!(roster.update(set(&[b]), at(1)), Vec::from_iter(set(&[a])));
        assert!(roster.update(set(&[b]), at(2)).is_empty());
        assert_eq!(roster.replicas(), Vec::from_iter(set(&[b])));
    }

    #[test]
    fn no_replica_has_gone_before_it_could_show_itself_after_a_loss() {
        let mut roster = Roster::default();
        let [a, b] = ["aaaaaaaa", "bbbbbbbb"];
        roster.update(set(&[a, b]), at(0));
        roster.wait_until(at(10));
        assert!(!roster.lacks(&set(&[]), at(9)));
        assert!(roster.update(set(&[]), at(9)).is_empty());
        assert_eq!(roster.update(set(&[b]), at(10)), Vec::from_iter(set(&[a])));
    }
}
