//! Where the questions of one request lie, between its handler and whoever runs it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use pintle_model::InputResponses;

use super::journal::Journal;
use super::park::Park;
use super::replay::{Replay, Replayed};
use super::waits::Waits;

/// Where the questions of a request lie. Whoever runs the handler allows replay, looks after every
/// poll whether the handler is suspended, and then drops it and takes what was asked.
///
/// A request that asks nothing pays nothing.
#[derive(Debug, Default)]
pub struct Desk {
    may_replay: AtomicBool,
    replay: OnceLock<Box<Replay>>,
    retry: Mutex<Option<Arc<Retry>>>,
    waker: Mutex<Option<Waker>>,
    park: OnceLock<Box<Park>>,
    waits: OnceLock<Box<Waits>>,
}

/// What a retry carries, for handlers that return their questions themselves.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Retry {
    /// The answers.
    pub responses: InputResponses,
    /// What the handler let the client carry back.
    pub state: Option<String>,
}

impl Retry {
    /// The answers, and what is carried.
    pub fn new(responses: InputResponses, state: Option<String>) -> Self {
        Self { responses, state }
    }
}

impl Desk {
    /// Allows questions to suspend the handler.
    pub fn allow_replay(&self) {
        self.may_replay.store(true, Ordering::Relaxed);
    }

    /// Lets the handler find what earlier rounds brought; before it runs.
    pub fn resume(&self, journal: Journal) {
        self.allow_replay();
        let fresh = self.replay.set(Box::new(Replay::new(journal)));
        debug_assert!(fresh.is_ok(), "a handler has not asked before it runs");
    }

    /// Sets what the handler's next run finds.
    pub fn set_retry(&self, retry: Retry) {
        *lock(&self.retry) = Some(Arc::new(retry));
    }

    /// Whether the handler cannot go on in this round.
    pub fn is_suspended(&self) -> bool {
        self.replay
            .get()
            .is_some_and(|replay| replay.is_suspended())
    }

    /// Whether the handler is dropped because of its questions, and runs again once they are answered. In a task
    /// it waits instead.
    pub(crate) fn runs_again(&self) -> bool {
        let replay = self.replay.get().filter(|_| self.is_task_over().is_none());
        replay.is_some_and(|replay| replay.is_asking())
    }

    /// Wakes `waker` at the next event of the task that the request is, or may become.
    pub(crate) fn wait_for_task(&self, waker: &Waker) {
        if let Some(park) = self.parked() {
            park.wait(waker);
        }
    }

    /// As [`Desk::is_suspended`]; if not yet, `waker` is woken once it is.
    pub fn is_suspended_or_wake(&self, waker: &Waker) -> bool {
        // First the waker: a question may come from a task that the handler has spawned.
        self.set_waker(waker);
        self.is_suspended()
    }

    /// What became of the run; none if nothing was asked or remembered.
    pub fn take(&self) -> Option<Replayed> {
        self.replay.get().map(|replay| replay.take())
    }

    /// Lets the handler run again over what it has asked and done so far.
    pub fn run_again(&self) {
        if let Some(replay) = self.replay.get() {
            replay.rewind();
        }
    }

    /// Wakes `waker` at the next question.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        *lock(&self.waker) = Some(waker.clone());
    }

    /// Where the handler of a task meets whoever keeps the task.
    pub(crate) fn park(&self) -> &Park {
        self.park.get_or_init(Box::default)
    }

    /// The same, if the request is or may become a task.
    pub(crate) fn parked(&self) -> Option<&Park> {
        self.park.get().map(|park| &**park)
    }

    /// How long the handler has waited for answers.
    pub(crate) fn waits(&self) -> &Waits {
        self.waits.get_or_init(Box::default)
    }

    pub(crate) fn retry(&self) -> Arc<Retry> {
        lock(&self.retry).clone().unwrap_or_default()
    }

    /// The run, if the handler runs as a replay.
    pub(crate) fn replaying(&self) -> Option<&Replay> {
        let may_replay = self.may_replay.load(Ordering::Relaxed);
        may_replay.then(|| &**self.replay.get_or_init(Box::default))
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = lock(&self.waker).take() {
            waker.wake();
        }
    }
}

// Every change is one statement, so what a poisoned lock guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
