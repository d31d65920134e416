//! Questions of a task: the task stores them until they are answered.
//!
//! The handler of a task waits for answers. The questions and the answers are stored with the task,
//! so another process can take over. It runs the handler again and reaches the same place.
//! The runner of the task saves the drafts of [`QuestionState::poll_draft`](super::QuestionState::poll_draft), and
//! passes answers to [`QuestionState::give`](super::QuestionState::give).
//!
//! ```text
//!             handler: begin_task()          runner: begin_task()
//!  Possible ────────────────────► Requested ─────────────────────► Started ──► Ended
//!     └─────────────── runner: begin_task() ──────────────────────►  runner: end_task()
//! ```
//!
//! The runner sets `Started` and `Ended`, the handler sets `Requested`. Each of these changes wakes all
//! waiting parts of the handler, and so do a saved draft and an answer.

use std::collections::BTreeMap;
use std::task::Waker;

use pintle_model::{Error, InputRequests};
use serde_json::Value;

use super::journal::Journal;
use crate::sync::{Mutex, MutexGuard};

/// State of a task that must be saved before its handler continues.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskCheckpoint {
    /// Which draft it is, for [`QuestionState::saved`](super::QuestionState::saved).
    pub version: u64,
    /// The open questions, by the names that the handler knows them by.
    pub asked: InputRequests,
    /// How the handler broke the rules of replay; the task ends with it.
    pub broken: Option<Error>,
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) unfit: BTreeMap<String, u64>,
}

impl TaskCheckpoint {
    /// Copies the stored actions into a journal. Returns true if any was new.
    pub fn write(&self, journal: &mut Journal) -> bool {
        let is_new = journal.values != self.values || journal.unfit != self.unfit;
        journal.values.clone_from(&self.values);
        journal.unfit.clone_from(&self.unfit);
        is_new
    }
}

/// State that the handler of a task shares with the runner of the task.
#[derive(Debug, Default)]
pub(crate) struct Park(Mutex<Parked>);

#[derive(Debug, Default)]
pub(super) struct Parked {
    pub(super) stage: Stage,
    // Parts of the handler that wait for the task to begin, for an answer, or for a saved draft. A
    // waker is in the list once.
    waiting: Vec<Waker>,
    // saved <= drafted <= version, because the runner saves only drafts that it received. `version`
    // counts the changes of the handler; the other two are the version of the last draft that the
    // runner received, and of the last draft that it saved.
    pub(super) version: u64,
    pub(super) drafted: u64,
    pub(super) saved: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The request may become a task.
    #[default]
    Possible,
    /// The handler waits until the request is a task.
    Requested,
    /// The request is a task; its questions wait in the task.
    Started,
    /// The task has ended; no draft is saved any more, so no part of the handler waits for one.
    Ended,
}

impl Park {
    pub(crate) fn is_started(&self) -> bool {
        self.lock().stage == Stage::Started
    }

    /// Wakes `waker` at the next thing that happens to the task.
    pub(crate) fn wait(&self, waker: &Waker) {
        self.lock().wait(waker);
    }

    /// Notes a change that must be saved. Returns its version.
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
        // The lock is released first, because a woken part may lock it at once.
        waiting.into_iter().for_each(Waker::wake);
    }

    // Ignoring poison is safe, because each change under the lock is one statement.
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
