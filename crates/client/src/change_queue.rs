//! The queue of changes of one listener: bounded, without equal entries.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use pintle_model::SubscriptionFilter;
use pintle_proto::{Change, PeerCallError};
use pintle_runtime::sync::{Mutex, MutexGuard};

/// The unread changes of one listener.
#[derive(Debug)]
pub(crate) struct ChangeQueue {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    changes: VecDeque<Change>,
    missed: u64,
    /// The filter that the server acknowledged, and whether it exceeds the requested one.
    granted: Option<(SubscriptionFilter, bool)>,
    ended: Option<Ended>,
    waker: Option<Waker>,
}

/// The reason why listening ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    /// The server ended the subscription.
    ByServer,
    Failed(PeerCallError),
}

impl ChangeQueue {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    pub(crate) fn push(&self, change: Change) {
        let mut state = self.lock();
        if state.ended.is_some() || state.changes.contains(&change) {
            return;
        }
        if state.changes.len() >= self.limit {
            state.missed += 1;
            return;
        }
        state.changes.push_back(change);
        state.wake();
    }

    /// Stores the first acknowledgement and ignores any other.
    pub(crate) fn acknowledge(&self, granted: SubscriptionFilter, is_excessive: bool) {
        let mut state = self.lock();
        state.granted.get_or_insert((granted, is_excessive));
        state.wake();
    }

    pub(crate) fn end(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        state.wake();
    }

    /// Waits for the acknowledgement, or an end before it.
    pub(crate) fn poll_granted(
        &self,
        task: &Context<'_>,
    ) -> Poll<Result<(SubscriptionFilter, bool), Ended>> {
        let mut state = self.lock();
        match (&state.granted, &state.ended) {
            (Some(granted), _) => Poll::Ready(Ok(granted.clone())),
            (None, Some(ended)) => Poll::Ready(Err(ended.clone())),
            (None, None) => {
                state.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Waits for the next change. The end follows the last change.
    pub(crate) fn poll_next(&self, task: &Context<'_>) -> Poll<Result<Change, Ended>> {
        let mut state = self.lock();
        if let Some(change) = state.changes.pop_front() {
            return Poll::Ready(Ok(change));
        }
        if let Some(ended) = &state.ended {
            return Poll::Ready(Err(ended.clone()));
        }
        state.waker = Some(task.waker().clone());
        Poll::Pending
    }

    /// Returns the number of changes that were dropped since the last call.
    pub(crate) fn take_missed(&self) -> u64 {
        std::mem::take(&mut self.lock().missed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(change_queue: &ChangeQueue) -> Poll<Result<Change, Ended>> {
        change_queue.poll_next(&Context::from_waker(Waker::noop()))
    }

    // hardening: H-166
    #[test]
    fn a_queue_merges_equal_changes_and_counts_missed_ones() {
        let change_queue = ChangeQueue::new(2);
        for uri in ["a:1", "a:1", "a:2", "a:3", "a:1"] {
            change_queue.push(Change::Resource(uri.to_owned()));
        }
        change_queue.end(Ended::ByServer);
        change_queue.push(Change::Tools);
        assert_eq!(
            next(&change_queue),
            Poll::Ready(Ok(Change::Resource("a:1".into())))
        );
        assert_eq!(
            next(&change_queue),
            Poll::Ready(Ok(Change::Resource("a:2".into())))
        );
        assert_eq!(next(&change_queue), Poll::Ready(Err(Ended::ByServer)));
        assert_eq!(
            (change_queue.take_missed(), change_queue.take_missed()),
            (1, 0)
        );
    }
}
