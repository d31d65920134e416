//! The last entries that this replica appended to the news.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::message::ReplicaMessage;

/// A replica that did not reach the store for as long may not have read an entry.
const MAX_AGE: Duration = Duration::from_secs(120);
/// Maximum number of entries.
const MAX_ENTRIES: usize = 256;
/// Maximum number of bytes of their bodies.
const MAX_BYTES: usize = 1 << 20;

/// Entries that are appended once more if the store loses its content. The oldest are dropped at a limit.
#[derive(Debug, Default)]
pub(super) struct RecentNews {
    entries: VecDeque<(Instant, ReplicaMessage)>,
    bytes: usize,
}

impl RecentNews {
    /// Keeps entries that are appended. An entry that is repeated has the time of its first append.
    pub(super) fn keep(&mut self, appended: Vec<ReplicaMessage>, now: Instant) {
        self.drop_old(now);
        for entry in appended {
            if self.entries.iter().any(|(_, known)| *known == entry) {
                continue;
            }
            self.bytes += entry.size();
            self.entries.push_back((now, entry));
            while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
                self.drop_first();
            }
        }
    }

    /// Returns the entries of the last two minutes, in their order.
    pub(super) fn entries(&mut self, now: Instant) -> Vec<ReplicaMessage> {
        self.drop_old(now);
        let entries = self.entries.iter();
        entries.map(|(_, entry)| entry.clone()).collect()
    }

    fn drop_old(&mut self, now: Instant) {
        let is_old = |at: &Instant| now.duration_since(*at) > MAX_AGE;
        while self.entries.front().is_some_and(|(at, _)| is_old(at)) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        if let Some((_, entry)) = self.entries.pop_front() {
            self.bytes -= entry.size();
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn entry(number: usize) -> ReplicaMessage {
        ReplicaMessage::new("changed", &number).expect("JSON")
    }

    #[test]
    fn entries_are_kept_for_two_minutes_after_their_first_append() {
        let (mut recent, now) = (RecentNews::default(), Instant::now());
        recent.keep(vec![entry(1)], now);
        recent.keep(vec![entry(1), entry(2)], now + MAX_AGE);
        assert_eq!(recent.entries(now + MAX_AGE), [entry(1), entry(2)]);
        let later = now + MAX_AGE + Duration::from_millis(1);
        assert_eq!(recent.entries(later), [entry(2)]);
    }

    #[test]
    fn the_number_and_the_bytes_of_entries_are_bounded() {
        let (mut recent, now) = (RecentNews::default(), Instant::now());
        recent.keep((0..=MAX_ENTRIES).map(entry).collect(), now);
        assert_eq!(recent.entries(now)[0], entry(1));
        let large = ReplicaMessage::new("changed", &"x".repeat(MAX_BYTES / 2)).expect("JSON");
        recent.keep(vec![large.clone(), entry(9_999)], now);
        assert!(recent.bytes <= MAX_BYTES && recent.entries(now).contains(&large));
        let other = ReplicaMessage::new("other", &"x".repeat(MAX_BYTES / 2)).expect("JSON");
        recent.keep(vec![other.clone()], now);
        assert_eq!(recent.entries(now), [entry(9_999), other]);
    }
}
