//! The lines that wait for the writer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::AuditCounts;

/// A bounded queue of lines. Only the writer waits for it.
#[derive(Debug)]
pub(crate) struct Queue {
    max_lines: usize,
    state: Mutex<State>,
    /// Wakes the writer.
    filled: Condvar,
    /// Wakes the thread that closes.
    written: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// Lines in `bytes`.
    waiting: usize,
    /// Lines that the writer has taken and not yet written.
    writing: usize,
    /// Places of requests that still run.
    reserved: usize,
    is_closing: bool,
    has_ended: bool,
    counts: AuditCounts,
}

impl State {
    fn len(&self) -> usize {
        self.waiting + self.writing + self.reserved
    }

    fn give_up(&mut self) {
        self.counts.lost += (self.waiting + self.writing) as u64;
        (self.waiting, self.writing, self.has_ended) = (0, 0, true);
        self.bytes.clear();
    }
}

/// Lines to write.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lines: usize,
}

impl Queue {
    pub(crate) fn new(max_lines: usize) -> Self {
        Self {
            max_lines,
            state: Mutex::default(),
            filled: Condvar::new(),
            written: Condvar::new(),
        }
    }

    /// Reserves a place for the line of a request that begins. Returns false, and counts a refusal, if there is
    /// no room or the log is closed.
    pub(crate) fn reserve(&self) -> bool {
        let mut state = self.lock();
        let has_room = !state.is_closing && state.len() < self.max_lines;
        match has_room {
            true => state.reserved += 1,
            false => state.counts.refused += 1,
        }
        has_room
    }

    /// Adds a line, in its reserved place if it has one. A line without room is lost and counted.
    pub(crate) fn push(&self, line: &[u8], is_reserved: bool) {
        let mut state = self.lock();
        state.reserved -= usize::from(is_reserved);
        if state.has_ended || state.len() >= self.max_lines {
            state.counts.lost += 1;
            return;
        }
        let was_empty = state.bytes.is_empty();
        state.bytes.extend_from_slice(line);
        state.waiting += 1;
        drop(state);
        if was_empty {
            self.filled.notify_one();
        }
    }

    /// Waits for lines. `None` if the log is closed and empty.
    pub(crate) fn take(&self) -> Option<Batch> {
        let is_idle = |state: &mut State| state.waiting == 0 && !state.is_closing;
        let waited = self.filled.wait_while(self.lock(), is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.waiting == 0 {
            state.has_ended = true;
            self.written.notify_all();
            return None;
        }
        let lines = std::mem::take(&mut state.waiting);
        state.writing = lines;
        let bytes = std::mem::take(&mut state.bytes);
        Some(Batch { bytes, lines })
    }

    /// Counts the lines of a batch as written, and reuses its memory.
    pub(crate) fn finish(&self, mut batch: Batch) {
        let mut state = self.lock();
        // A thread that closes may have counted the lines as lost.
        if !state.has_ended {
            state.writing = 0;
            state.counts.written += batch.lines as u64;
        }
        if state.bytes.capacity() == 0 {
            batch.bytes.clear();
            state.bytes = batch.bytes;
        }
        self.written.notify_all();
    }

    /// Counts a failed write. Returns true if the log closes.
    pub(crate) fn count_failure(&self) -> bool {
        let mut state = self.lock();
        state.counts.failures += 1;
        state.is_closing
    }

    /// Waits for a time, or until the log closes.
    pub(crate) fn pause(&self, time: Duration) {
        let is_open = |state: &mut State| !state.is_closing;
        drop(self.filled.wait_timeout_while(self.lock(), time, is_open));
    }

    /// Waits for a time, or until the lines are given up. Returns true in that case.
    pub(crate) fn pause_for_retry(&self, time: Duration) -> bool {
        let is_tried = |state: &mut State| !state.has_ended;
        let waited = self.filled.wait_timeout_while(self.lock(), time, is_tried);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.has_ended
    }

    /// Counts all lines as lost and ends the log.
    pub(crate) fn give_up(&self) {
        self.lock().give_up();
        self.filled.notify_all();
        self.written.notify_all();
    }

    pub(crate) fn begin_close(&self) {
        self.lock().is_closing = true;
        self.filled.notify_all();
    }

    /// Closes, and waits for the writer. Returns the number of lost lines.
    pub(crate) fn close(&self, timeout: Duration) -> u64 {
        self.begin_close();
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        while !state.has_ended {
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                state.give_up();
                self.filled.notify_all();
                break;
            }
            let waited = self.written.wait_timeout(state, rest);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.counts.lost
    }

    pub(crate) fn counts(&self) -> AuditCounts {
        self.lock().counts
    }

    // Each change is whole before anything can panic, so a poisoned lock guards a valid state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_beyond_the_limit_is_lost_and_counted() {
        let queue = Queue::new(2);
        for line in [b"a\n", b"b\n", b"c\n"] {
            queue.push(line, false);
        }
        let batch = queue.take().expect("two lines");
        assert_eq!((&batch.bytes[..], batch.lines), (&b"a\nb\n"[..], 2));
        queue.push(b"d\n", false);
        assert_eq!(queue.counts().lost, 2, "the batch is not yet written");
        queue.finish(batch);
        queue.push(b"e\n", false);
        assert_eq!(queue.counts().lost, 2);
        assert_eq!(queue.counts().written, 2);
    }

    #[test]
    fn a_place_is_reserved_until_its_line_comes() {
        let queue = Queue::new(1);
        assert!(queue.reserve());
        assert!(!queue.reserve(), "there is one place");
        queue.push(b"a\n", true);
        assert!(!queue.reserve(), "the line is there");
        let batch = queue.take().expect("a line");
        queue.finish(batch);
        assert!(queue.reserve());
        assert_eq!(queue.counts().refused, 2);
    }

    #[test]
    fn a_closed_queue_counts_the_lines_that_no_writer_took() {
        let queue = Queue::new(8);
        queue.push(b"a\n", false);
        assert_eq!(queue.close(Duration::ZERO), 1);
        queue.push(b"b\n", false);
        assert_eq!(queue.counts().lost, 2);
        assert!(!queue.reserve());
    }
}
