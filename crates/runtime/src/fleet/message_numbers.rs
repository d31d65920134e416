//! The messages that a replica has received, so that it acts once on each. No I/O.

use std::collections::{HashSet, VecDeque};

use super::replica_id::ReplicaId;

/// The numbers of received messages. Beyond the limit the oldest is dropped.
#[derive(Debug)]
pub(super) struct MessageNumbers {
    limit: usize,
    known: HashSet<(ReplicaId, u64)>,
    order: VecDeque<(ReplicaId, u64)>,
}

impl MessageNumbers {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            known: HashSet::new(),
            order: VecDeque::new(),
        }
    }

    /// Returns true if the message is new.
    pub(super) fn add(&mut self, from: ReplicaId, number: u64) -> bool {
        if !self.known.insert((from, number)) {
            return false;
        }
        self.order.push_back((from, number));
        if self.order.len() > self.limit {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.known.remove(&oldest));
        }
        true
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_new_once_and_the_oldest_is_forgotten_beyond_the_limit() {
        let [a, b] = ["aaaaaaaa", "bbbbbbbb"].map(|id| id.parse().expect("a replica id"));
        let mut numbers = MessageNumbers::new(2);
        assert!(numbers.add(a, 1) && !numbers.add(a, 1));
        assert!(numbers.add(b, 1) && !numbers.add(a, 1));
        assert!(numbers.add(a, 2) && !numbers.add(b, 1));
        assert!(numbers.add(a, 1));
    }
}
