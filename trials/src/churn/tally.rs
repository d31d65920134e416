//! What happened in a trial, counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many faults are kept in words.
const KEPT: usize = 20;

/// Counts what happened. All clients of a trial share one.
#[derive(Debug, Default)]
pub struct Tally {
    clients: AtomicU64,
    calls: AtomicU64,
    given_up: AtomicU64,
    tasks: AtomicU64,
    changes: AtomicU64,
    rude: AtomicU64,
    faults: AtomicU64,
    words: Mutex<Vec<String>>,
}

/// Values of a [`Tally`] at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Clients that have left.
    pub clients: u64,
    /// Calls that were answered rightly.
    pub calls: u64,
    /// Calls that were given up on the way.
    pub given_up: u64,
    /// Calls that were begun as tasks.
    pub tasks: u64,
    /// Changes that clients received.
    pub changes: u64,
    /// Peers that broke off in the middle.
    pub rude: u64,
    /// Whatever should not have happened: wrong answers, and calls that failed without need.
    pub faults: u64,
}

impl Tally {
    /// Returns the current values.
    pub fn figures(&self) -> Figures {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Figures {
            clients: of(&self.clients),
            calls: of(&self.calls),
            given_up: of(&self.given_up),
            tasks: of(&self.tasks),
            changes: of(&self.changes),
            rude: of(&self.rude),
            faults: of(&self.faults),
        }
    }

    /// The first faults, in words.
    pub fn faults(&self) -> Vec<String> {
        self.words().clone()
    }

    pub(super) fn left(&self) {
        self.clients.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn answered(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn gave_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn began_task(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn heard_change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn broke_off(&self) {
        self.rude.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes what should not have happened.
    pub fn fault(&self, what: impl Into<String>) {
        self.faults.fetch_add(1, Ordering::Relaxed);
        let mut words = self.words();
        if words.len() < KEPT {
            words.push(what.into());
        }
    }

    fn words(&self) -> MutexGuard<'_, Vec<String>> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
