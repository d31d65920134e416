//! One direction of a simulated pipe: late, uneven, slow, or broken.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::rng::Rng;

/// One direction of a pipe. Bytes arrive in order, unless the link is cut.
#[derive(Debug)]
pub struct Link {
    latency: Duration,
    jitter: Duration,
    pace: Duration,
    capacity: usize,
    rng: Rng,
    under_way: VecDeque<(Instant, Arrival)>,
    last_due: Option<Instant>,
    end: End,
}

/// One event at the reading end of a link. Exhaustive: bytes, or the end of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// Bytes, in the pieces in which they were written.
    Bytes(Vec<u8>),
    /// The writing side has closed.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Closed,
    Cut,
}

impl Link {
    /// A link that delivers at once.
    pub fn new() -> Self {
        Self {
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            pace: Duration::ZERO,
            capacity: usize::MAX,
            rng: Rng::new(0),
            under_way: VecDeque::new(),
            last_due: None,
            end: End::Open,
        }
    }

    /// Sets the latency of each message.
    pub fn set_latency(&mut self, latency: Duration) {
        self.latency = latency;
    }

    /// Sets the longest additional delay of a message; the seed decides each delay.
    pub fn set_jitter(&mut self, jitter: Duration, seed: u64) {
        self.jitter = jitter;
        self.rng = Rng::new(seed);
    }

    /// Sets the time per message of the reader, and the most messages under way.
    pub fn set_pace(&mut self, pace: Duration, capacity: usize) {
        self.pace = pace;
        self.capacity = capacity;
    }

    /// Whether bytes can be written now.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < self.capacity
    }

    /// Writes bytes; they are lost when the link is closed or cut.
    pub fn write(&mut self, now: Instant, bytes: Vec<u8>) {
        if self.end == End::Open {
            self.queue(now, Arrival::Bytes(bytes));
        }
    }

    /// Closes the writing side: bytes under way still arrive, then the end does.
    pub fn close(&mut self, now: Instant) {
        if self.end == End::Open {
            self.queue(now, Arrival::End);
            self.end = End::Closed;
        }
    }

    /// Breaks the link: bytes under way are lost.
    pub fn cut(&mut self) {
        self.under_way.clear();
        self.end = End::Cut;
    }

    /// The time of the next arrival.
    pub fn next_due(&self) -> Option<Instant> {
        self.under_way.front().map(|(due, _)| *due)
    }

    /// Returns the next event that has arrived by `now`.
    pub fn read(&mut self, now: Instant) -> Option<Arrival> {
        self.next_due().filter(|due| *due <= now)?;
        self.under_way.pop_front().map(|(_, arrival)| arrival)
    }

    fn queue(&mut self, now: Instant, arrival: Arrival) {
        let travelled = now + self.latency + self.rng.up_to(self.jitter);
        let due = self
            .last_due
            .map_or(travelled, |last| travelled.max(last + self.pace));
        self.last_due = Some(due);
        self.under_way.push_back((due, arrival));
    }
}

impl Default for Link {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Units;

    fn bytes(text: &str) -> Arrival {
        Arrival::Bytes(text.into())
    }

    #[test]
    fn jitter_delays_and_never_reorders() {
        let start = Instant::now();
        let mut link = Link::new();
        link.set_latency(10.ms());
        link.set_jitter(50.ms(), 3);
        for at in 0..20u8 {
            link.write(start, vec![at]);
        }
        assert_eq!(link.read(start + 9.ms()), None);
        let read: Vec<_> = std::iter::from_fn(|| link.read(start + 60.ms())).collect();
        let expected: Vec<_> = (0..20).map(|at| Arrival::Bytes(vec![at])).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn only_a_link_that_is_not_cut_delivers_bytes_under_way() {
        let start = Instant::now();
        let mut link = Link::new();
        link.write(start, b"one".to_vec());
        link.close(start);
        link.write(start, b"two".to_vec());
        assert_eq!(link.read(start), Some(bytes("one")));
        assert_eq!(link.read(start), Some(Arrival::End));
        assert_eq!(link.read(start), None);
        let mut link = Link::new();
        link.write(start, b"one".to_vec());
        link.cut();
        assert_eq!(link.read(start), None);
    }

    #[test]
    fn a_slow_reader_fills_the_link() {
        let start = Instant::now();
        let mut link = Link::new();
        link.set_pace(1.secs(), 2);
        link.write(start, b"one".to_vec());
        link.write(start, b"two".to_vec());
        assert!(!link.has_room());
        assert_eq!(link.read(start), Some(bytes("one")));
        assert_eq!(link.read(start), None);
        assert_eq!(link.read(start + 1.secs()), Some(bytes("two")));
        assert!(link.has_room());
    }
}
