//! The bytes that wait to be observed.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::framing::Framing;
use crate::observer::Direction;

/// Size that an event without bytes counts for, in bytes.
const EVENT_BYTES: usize = 64;

/// Something that happened at a stream.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) stream: u64,
    pub(crate) direction: Direction,
    pub(crate) at: Duration,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    /// The framing of this direction is known.
    Begin(Framing),
    /// The id of the session is known.
    #[cfg(feature = "http")]
    Session(Box<str>),
    /// A header states this revision, or a request needs no handshake.
    #[cfg(feature = "http")]
    Revision(Option<pintle_model::Revision>),
    /// Requests and answers of the stream have different streams and no session.
    #[cfg(feature = "http")]
    Unrelated,
    /// Bytes were passed on.
    Bytes(Box<[u8]>),
    /// This direction has ended.
    End,
    /// The whole stream has ended.
    Close,
    /// A remark for the display.
    Note(Box<str>),
}

/// A bounded queue of events. Only the observing thread waits for it.
#[derive(Debug)]
pub(crate) struct Queue {
    max_bytes: usize,
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    bytes: usize,
    lost: Option<Lost>,
    is_closed: bool,
}

/// The events that waited.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: VecDeque<Event>,
    /// Bytes that found no room.
    pub(crate) lost: Option<Lost>,
}

/// Bytes that were passed on and not observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The number of events before the first loss. The events after it have no bytes.
    pub(crate) after: usize,
    /// The number of bytes.
    pub(crate) bytes: u64,
}

impl Queue {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            state: Mutex::default(),
            filled: Condvar::new(),
        }
    }

    /// Adds an event. Bytes without room are lost, and so are all bytes until the queue is read. Returns false if the
    /// event is lost.
    pub(crate) fn push(&self, event: Event) -> bool {
        let mut state = self.lock();
        let after = state.events.len();
        if let What::Bytes(bytes) = &event.what {
            let is_full = state.bytes + bytes.len() + EVENT_BYTES > self.max_bytes;
            if is_full || state.lost.is_some() || state.is_closed {
                let lost = state.lost.get_or_insert(Lost { after, bytes: 0 });
                lost.bytes += bytes.len() as u64;
                return false;
            }
            state.bytes += bytes.len();
        } else if state.is_closed || state.bytes > self.max_bytes.saturating_mul(2) {
            // Other events are small. Few of them wait, unless the observing thread has stopped.
            return false;
        }
        state.bytes += EVENT_BYTES;
        state.events.push_back(event);
        drop(state);
        self.filled.notify_one();
        true
    }

    /// Waits for events. `None` if the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<Batch> {
        let is_idle = |state: &mut State| state.events.is_empty() && !state.is_closed;
        let waited = self.filled.wait_while(self.lock(), is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.events.is_empty() && state.lost.is_none() {
            return None;
        }
        state.bytes = 0;
        Some(Batch {
            events: std::mem::take(&mut state.events),
            lost: state.lost.take(),
        })
    }

    /// Accepts no further events.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
    }

    // Each change is whole before anything can panic, so a poisoned lock guards a valid state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(what: What) -> Event {
        Event {
            stream: 0,
            direction: Direction::ToServer,
            at: Duration::ZERO,
            what,
        }
    }

    fn bytes(length: usize) -> Event {
        event(What::Bytes(vec![0; length].into()))
    }

    #[test]
    fn bytes_beyond_the_limit_are_lost_and_counted() {
        let queue = Queue::new(2 * (100 + EVENT_BYTES));
        assert!(queue.push(bytes(100)) && queue.push(bytes(99)));
        assert!(!queue.push(bytes(7)));
        assert!(!queue.push(bytes(1)), "the bytes before it are lost");
        assert!(queue.push(event(What::End)), "an end needs little room");
        let batch = queue.take().expect("a batch");
        assert_eq!(batch.events.len(), 3);
        assert_eq!(batch.lost, Some(Lost { after: 2, bytes: 8 }));
        assert!(queue.push(bytes(100)), "there is room again");
        queue.close();
        assert!(!queue.push(bytes(1)));
        assert_eq!(
            queue.take().expect("a batch").lost,
            Some(Lost { after: 1, bytes: 1 })
        );
        assert!(queue.take().is_none());
    }

    #[test]
    fn events_without_bytes_have_a_limit() {
        let queue = Queue::new(EVENT_BYTES);
        let count = (0..100).filter(|_| queue.push(event(What::End))).count();
        assert_eq!(count, 3);
    }
}
