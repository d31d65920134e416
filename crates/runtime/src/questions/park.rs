//! The third way of a question: a task keeps it until it is answered.
//!
//! The handler of a task waits, as one of a request does whose client can be asked; but the
//! question stands where the task is kept, and so does the answer, so that whoever takes the task
//! over runs the handler again and comes to the same place. Whoever keeps the task saves what
//! [`Desk::poll_draft`](super::Desk::poll_draft) gives, and hands over answers with [`Desk::give`](super::Desk::give).

use std::collections::BTreeMap;
use std::task::Waker;

use pintle_model::{Error, InputRequests};
use serde_json::Value;

use super::journal::Journal;
use crate::sync::{Mutex, MutexGuard};

/// What must be saved of a task before its handler goes on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Draft {
    /// Which draft it is, for [`Desk::saved`](super::Desk::saved).
    pub version: u64,
    /// The open questions, by the names that the handler knows them by.
    pub asked: InputRequests,
    /// How the handler broke the rules of replay; the task ends with it.
    pub broken: Option<Error>,
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) unfit: BTreeMap<String, u32>,
}

impl Draft {
    /// Takes over what was done once; whether that was anything new.
    pub fn write(&self, journal: &mut Journal) -> bool {
        let is_new = journal.values != self.values || journal.unfit != self.unfit;
        journal.values.clone_from(&self.values);
        journal.unfit.clone_from(&self.unfit);
        is_new
    }
}

/// Where the handler of a task and whoever keeps the task meet.
#[derive(Debug, Default)]
pub(crate) struct Park(Mutex<Parked>);

#[derive(Debug, Default)]
pub(super) struct Parked {
    pub(super) stage: Stage,
    /// Parts of the handler that wait for the task to begin, for an answer, or to be saved.
    waiting: Vec<Waker>,
    /// How often there was something new to save; the last time it was given out, and saved.
    pub(super) version: u64,
    pub(super) drafted: u64,
    pub(super) saved: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The request may become a task.
    #[default]
    Possible,
    /// Its handler would like that now.
    Wanted,
    Begun,
    Over,
}

impl Park {
    pub(crate) fn is_begun(&self) -> bool {
        self.lock().stage == Stage::Begun
    }

    /// Wakes `waker` at the next thing that happens to the task.
    pub(crate) fn wait(&self, waker: &Waker) {
        self.lock().wait(waker);
    }

    /// Notes that there is something new to save; gives its version.
    pub(crate) fn change(&self) -> u64 {
        let mut parked = self.lock();
        parked.version += 1;
        parked.version
    }

    pub(super) fn set(&self, stage: Stage) {
        self.wake_after(|parked| parked.stage = stage);
    }

    pub(super) fn wake_after(&self, change: impl FnOnce(&mut Parked)) {
        let waiting = {
            let mut parked = self.lock();
            change(&mut parked);
            std::mem::take(&mut parked.waiting)
        };
        // Outside of the lock: who is woken may look at once.
        waiting.into_iter().for_each(Waker::wake);
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    pub(super) fn lock(&self) -> MutexGuard<'_, Parked> {
        self.0.lock()
    }
}

impl Parked {
    pub(super) fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|other| other.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}
