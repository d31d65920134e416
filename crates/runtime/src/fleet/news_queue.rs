//! The entries that wait for the next append to the news. No I/O.

use std::collections::{HashSet, VecDeque};

use tokio::time::Instant;

use super::message::ReplicaMessage;
use super::options::FleetOptions;

/// The number of entries in one append.
const MAX_BATCH: usize = 256;

/// Entries in their order. Equal ones that wait become one. Beyond the limit all become one entry, which
/// means that everything may have changed.
#[derive(Debug)]
pub(super) struct NewsQueue {
    limit: usize,
    entries: VecDeque<ReplicaMessage>,
    known: HashSet<ReplicaMessage>,
    due: Option<Instant>,
}

impl NewsQueue {
    pub(super) fn new(options: &FleetOptions) -> Self {
        Self {
            limit: options.max_queued_news,
            entries: VecDeque::new(),
            known: HashSet::new(),
            due: None,
        }
    }

    /// The instant of the next append. `None` if no entry waits.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Adds an entry that is appended at `due`, or earlier with others.
    pub(super) fn add(&mut self, entry: ReplicaMessage, due: Instant) {
        if !self.known.insert(entry.clone()) {
            return;
        }
        self.entries.push_back(entry);
        self.due.get_or_insert(due);
        if self.entries.len() > self.limit {
            self.lose(due);
        }
    }

    /// Takes the oldest entries. An equal entry may wait from now on, because a reader may have read them.
    pub(super) fn take(&mut self) -> Vec<ReplicaMessage> {
        let count = self.entries.len().min(MAX_BATCH);
        let batch: Vec<_> = self.entries.drain(..count).collect();
        for entry in &batch {
            self.known.remove(entry);
        }
        if self.entries.is_empty() {
            self.due = None;
        }
        batch
    }

    /// Puts entries back, because they may not be in the log.
    pub(super) fn put_back(&mut self, batch: Vec<ReplicaMessage>, due: Instant) {
        for entry in batch.into_iter().rev() {
            if self.known.insert(entry.clone()) {
                self.entries.push_front(entry);
            }
        }
        self.due = Some(due);
        if self.entries.len() > self.limit {
            self.lose(due);
        }
    }

    /// Replaces all entries with one, which means that everything may have changed.
    pub(super) fn lose(&mut self, due: Instant) {
        self.entries.clear();
        self.known.clear();
        self.due = None;
        let everything = ReplicaMessage::everything();
        self.known.insert(everything.clone());
        self.entries.push_back(everything);
        self.due = Some(due);
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn queue(limit: usize) -> NewsQueue {
        NewsQueue::new(&FleetOptions {
            max_queued_news: limit,
            ..FleetOptions::default()
        })
    }

    fn entry(number: u32) -> ReplicaMessage {
        ReplicaMessage::new("changed", &number).expect("JSON")
    }

    #[test]
    fn equal_entries_that_wait_become_one() {
        let (mut queue, now) = (queue(10), Instant::now());
        for number in [1, 2, 1, 1] {
            queue.add(entry(number), now);
        }
        assert_eq!(queue.due(), Some(now));
        assert_eq!(queue.take(), [entry(1), entry(2)]);
        assert_eq!(queue.due(), None);
        queue.add(entry(1), now);
        assert_eq!(queue.take(), [entry(1)]);
    }

    #[test]
    fn a_queue_beyond_its_limit_means_that_everything_may_have_changed() {
        let (mut queue, now) = (queue(2), Instant::now());
        for number in [1, 2] {
            queue.add(entry(number), now);
        }
        assert_eq!(queue.take().len(), 2);
        for number in [1, 2, 3] {
            queue.add(entry(number), now);
        }
        assert_eq!(queue.take(), [ReplicaMessage::everything()]);
        queue.put_back(vec![entry(1), entry(2), entry(3)], now);
        assert_eq!(queue.take(), [ReplicaMessage::everything()]);
    }

    #[test]
    fn entries_that_are_put_back_stay_before_later_ones() {
        let (mut queue, now) = (queue(10), Instant::now());
        queue.add(entry(1), now);
        let batch = queue.take();
        queue.add(entry(2), now);
        queue.put_back(batch, now);
        assert_eq!(queue.take(), [entry(1), entry(2)]);
    }

    #[test]
    fn one_append_has_at_most_256_entries() {
        let (mut queue, now) = (queue(1_000), Instant::now());
        for number in 0..300 {
            queue.add(entry(number), now);
        }
        assert_eq!(queue.take().len(), MAX_BATCH);
        assert_eq!(queue.due(), Some(now));
        assert_eq!(queue.take().len(), 44);
        assert_eq!(queue.due(), None);
    }
}
