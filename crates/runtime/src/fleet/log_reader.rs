//! The place of a replica in a log: what to read next, and when. No I/O.

use std::time::Duration;

use pintle_store::{Event, Position, Tail};
use tokio::time::Instant;

/// A reader of one log. It resumes where it was, and notices that events were lost.
#[derive(Debug)]
pub(super) struct LogReader {
    /// The last event that was read. `None` while the tail of the log is not known.
    position: Option<Position>,
    /// Whether the reader could not find the tail at first, so that it may have missed events.
    has_missed: bool,
    /// Whether the last operation failed.
    has_failed: bool,
    /// The number of the content that the position belongs to.
    content: u64,
    pauses: Pauses,
    due: Instant,
    renewal: Instant,
}

/// The pauses of a reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pauses {
    /// Between two readings without a watch.
    pub(super) unwatched: Duration,
    /// Between two readings with a watch, which may lose a wake-up.
    pub(super) watched: Duration,
    /// Between two renewals of the expiry.
    pub(super) renewal: Duration,
}

/// The next operation of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextRead {
    /// Find the position of the last event.
    Tail,
    /// Read the events after a position.
    After(Position),
}

/// The result of a reading.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Whether events before these may be missing.
    pub(super) is_lost: bool,
    pub(super) events: Vec<Event>,
}

impl LogReader {
    /// Begins before the first event.
    pub(super) fn from_start(pauses: Pauses, now: Instant) -> Self {
        Self {
            position: Some(Position::START),
            has_missed: false,
            has_failed: false,
            content: 0,
            pauses,
            due: now,
            renewal: now + pauses.renewal,
        }
    }

    /// Begins after the last event.
    pub(super) fn from_tail(pauses: Pauses, now: Instant) -> Self {
        Self {
            position: None,
            ..Self::from_start(pauses, now)
        }
    }

    /// Takes over the number of the content that the log belongs to.
    pub(super) fn set_content(&mut self, content: u64) {
        self.content = content;
    }

    /// Reads at once, because a watch woke.
    pub(super) fn wake(&mut self, now: Instant) {
        self.due = now;
    }

    /// Reads the log from its start once more.
    pub(super) fn restart(&mut self, now: Instant) {
        self.position = Some(Position::START);
        self.due = now;
    }

    /// The store reports no changes any more: reads after the shorter pause.
    pub(super) fn lose_watch(&mut self, now: Instant) {
        self.due = self.due.min(now + self.pauses.unwatched);
    }

    /// Returns true if the store did not answer, so that no wake-up shortens the pause.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns true if no later event is missed.
    pub(super) fn has_position(&self) -> bool {
        self.position.is_some()
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    pub(super) fn next(&self) -> NextRead {
        self.position.map_or(NextRead::Tail, NextRead::After)
    }

    /// Returns true if the expiry of the log must be renewed before the next reading. A log without
    /// events has none.
    pub(super) fn must_renew(&mut self, now: Instant) -> bool {
        let must = now >= self.renewal && self.position > Some(Position::START);
        if must {
            self.renewal = now + self.pauses.renewal;
        }
        must
    }

    /// The store may have lost its content: reads from the start of the new log.
    pub(super) fn check_content(&mut self, content: u64) -> bool {
        let is_lost = content != self.content;
        if is_lost {
            self.content = content;
            self.position = Some(Position::START);
        }
        is_lost
    }

    /// Takes over the position of the last event.
    pub(super) fn set_tail(&mut self, tail: Position, now: Instant) -> Batch {
        self.position = Some(tail);
        self.has_failed = false;
        self.due = now + self.pauses.unwatched;
        Batch::default()
    }

    /// Takes over the events of a reading.
    pub(super) fn settle(&mut self, tail: Tail, is_watched: bool, now: Instant) -> Batch {
        self.has_failed = false;
        let Tail::Events { events, more } = tail else {
            return self.lose(now);
        };
        if let Some(last) = events.last() {
            self.position = Some(last.position);
        }
        let pause = match more {
            true => Duration::ZERO,
            false => self.pause(is_watched),
        };
        self.due = now + pause;
        let is_lost = std::mem::take(&mut self.has_missed);
        Batch { is_lost, events }
    }

    /// The store did not answer. A reader that does not know the tail reads all events later, because some may be
    /// newer than its begin.
    pub(super) fn failed(&mut self, now: Instant) {
        self.has_failed = true;
        self.has_missed |= self.position.is_none();
        self.position.get_or_insert(Position::START);
        self.due = now + self.pauses.unwatched;
    }

    /// Reads the rest of the log. A log whose start was dropped is read from its tail.
    fn lose(&mut self, now: Instant) -> Batch {
        let is_at_start = self.position == Some(Position::START);
        self.position = (!is_at_start).then_some(Position::START);
        self.due = now;
        Batch {
            is_lost: true,
            events: Vec::new(),
        }
    }

    fn pause(&self, is_watched: bool) -> Duration {
        match is_watched {
            true => self.pauses.watched,
            false => self.pauses.unwatched,
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    const PAUSES: Pauses = Pauses {
        unwatched: Duration::from_secs(1),
        watched: Duration::from_secs(5),
        renewal: Duration::from_secs(20),
    };

    fn events(positions: &[u64], more: bool) -> Tail {
        let event = |at: &u64| Event::new(Position::new(*at), "x".into());
        let events = positions.iter().map(event).collect();
        Tail::Events { events, more }
    }

    fn after(position: u64) -> NextRead {
        NextRead::After(Position::new(position))
    }

    #[test]
    fn a_reader_reads_on_while_there_are_more_events_and_pauses_after_them() {
        let now = Instant::now();
        let mut reader = LogReader::from_start(PAUSES, now);
        assert_eq!((reader.next(), reader.due()), (after(0), now));
        assert_eq!(
            reader.settle(events(&[3, 4], true), true, now).events.len(),
            2
        );
        assert_eq!((reader.next(), reader.due()), (after(4), now));
        reader.settle(events(&[], false), true, now);
        assert_eq!(
            (reader.next(), reader.due()),
            (after(4), now + PAUSES.watched)
        );
        reader.settle(events(&[], false), false, now);
        assert_eq!(reader.due(), now + PAUSES.unwatched);
        reader.wake(now);
        assert_eq!(reader.due(), now);
    }

    #[test]
    fn a_reader_that_lost_events_reads_the_rest_or_from_the_tail() {
        let now = Instant::now();
        for lost in [Tail::Lost, Tail::Unknown] {
            let mut reader = LogReader::from_start(PAUSES, now);
            reader.settle(events(&[3], false), true, now);
            assert!(reader.settle(lost.clone(), true, now).is_lost);
            assert_eq!(reader.next(), after(0));
            assert!(reader.settle(lost, true, now).is_lost);
            assert_eq!(reader.next(), NextRead::Tail);
            assert!(!reader.set_tail(Position::new(9), now).is_lost);
            assert_eq!(reader.next(), after(9));
        }
    }

    #[test]
    fn a_reader_that_cannot_find_its_tail_reads_all_events_later() {
        let now = Instant::now();
        let mut reader = LogReader::from_tail(PAUSES, now);
        reader.failed(now);
        assert_eq!(
            (reader.next(), reader.due()),
            (after(0), now + PAUSES.unwatched)
        );
        let batch = reader.settle(events(&[1, 2], false), true, now);
        assert!(batch.is_lost && batch.events.len() == 2);
        assert!(!reader.settle(events(&[], false), true, now).is_lost);
        reader.failed(now);
        assert_eq!(reader.next(), after(2));
    }

    #[test]
    fn no_wake_up_shortens_the_pause_after_a_failure() {
        let now = Instant::now();
        let mut reader = LogReader::from_start(PAUSES, now);
        reader.settle(events(&[], false), true, now);
        reader.lose_watch(now);
        assert_eq!(reader.due(), now + PAUSES.unwatched);
        reader.failed(now);
        assert!(reader.has_failed());
        reader.settle(events(&[], false), true, now);
        assert!(!reader.has_failed());
    }

    #[test]
    fn new_content_is_read_from_its_start() {
        let now = Instant::now();
        let mut reader = LogReader::from_tail(PAUSES, now);
        reader.set_tail(Position::new(2), now);
        assert!(!reader.check_content(0));
        assert!(reader.check_content(1) && !reader.check_content(1));
        assert_eq!(reader.next(), after(0));
    }

    #[test]
    fn the_expiry_of_a_log_with_events_is_renewed() {
        let now = Instant::now();
        let later = now + PAUSES.renewal;
        let mut reader = LogReader::from_start(PAUSES, now);
        assert!(!reader.must_renew(later));
        reader.settle(events(&[1], false), true, now);
        assert!(!reader.must_renew(now));
        assert!(reader.must_renew(later) && !reader.must_renew(later));
    }
}
