//! When sessions want to hear of time: calls run out of patience, handshakes are not confirmed.
//!
//! One task looks after all sessions. A session has one alarm at most, so that many questions of
//! one do not make many alarms.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use super::session_id::SessionId;

/// The alarms of all sessions of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    heap: Mutex<BinaryHeap<Reverse<(Instant, SessionId)>>>,
    sooner: Notify,
}

impl Alarms {
    /// Lets a session hear of an instant.
    pub(super) fn set(&self, at: Instant, id: SessionId) {
        let mut heap = self.lock();
        let is_first = heap.peek().is_none_or(|Reverse((first, _))| at < *first);
        heap.push(Reverse((at, id)));
        drop(heap);
        if is_first {
            self.sooner.notify_one();
        }
    }

    /// Waits until a sooner alarm than all others was set.
    pub(super) async fn sooner(&self) {
        self.sooner.notified().await;
    }

    /// The first alarm.
    pub(super) fn next(&self) -> Option<Instant> {
        self.lock().peek().map(|Reverse((at, _))| *at)
    }

    /// Takes a session whose alarm has come.
    pub(super) fn take(&self, now: Instant) -> Option<SessionId> {
        let mut heap = self.lock();
        let has_come = heap.peek().is_some_and(|Reverse((at, _))| *at <= now);
        let Reverse((_, id)) = has_come.then(|| heap.pop()).flatten()?;
        Some(id)
    }

    // Every change is one call on the heap, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Reverse<(Instant, SessionId)>>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
