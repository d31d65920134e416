//! The third way of a question: a task keeps it until it is answered.
//!
//! The handler of a task waits, as one of a request does whose client can be asked; but the
//! question stands where the task is kept, and so does the answer, so that whoever takes the task
//! over runs the handler again and comes to the same place. Whoever keeps the task saves what
//! [`Desk::poll_draft`] gives, and hands over answers with [`Desk::give`].

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use pintle_model::{Error, InputRequest, InputRequests, JsonObject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::desk::Desk;
use super::journal::Journal;

/// What came of a question. Closed: it was answered, or it was not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Given {
    /// The answer, as the client sent it.
    Answer(JsonObject),
    /// The client could not answer: up to 2025-11-25 it may say so.
    Failure(Error),
}

/// What must be saved of a task before its handler goes on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Draft {
    /// Which draft it is, for [`Desk::saved`].
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
struct Parked {
    stage: Stage,
    /// Parts of the handler that wait for the task to begin, for an answer, or to be saved.
    waiting: Vec<Waker>,
    /// How often there was something new to save; the last time it was given out, and saved.
    version: u64,
    drafted: u64,
    saved: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
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

    fn set(&self, stage: Stage) {
        self.wake_after(|parked| parked.stage = stage);
    }

    fn wake_after(&self, change: impl FnOnce(&mut Parked)) {
        let waiting = {
            let mut parked = self.lock();
            change(&mut parked);
            std::mem::take(&mut parked.waiting)
        };
        // Outside of the lock: who is woken may look at once.
        waiting.into_iter().for_each(Waker::wake);
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Parked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parked {
    fn wait(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|other| other.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}

impl Desk {
    /// Lets the handler ask that its request becomes a task; before it runs.
    pub fn allow_task(&self) {
        self.allow_replay();
        self.park();
    }

    /// Whether the handler asked for that.
    pub fn wants_task(&self) -> bool {
        let park = self.parked();
        park.is_some_and(|park| park.lock().stage == Stage::Wanted)
    }

    /// Makes the request a task: from now on questions wait in it.
    pub fn begin_task(&self) {
        self.allow_replay();
        self.park().set(Stage::Begun);
    }

    /// Notes that the task has ended, for whatever the handler has spawned.
    pub fn end_task(&self) {
        self.park().set(Stage::Over);
    }

    /// What earlier rounds and the handler so far have brought.
    pub fn journal(&self) -> Journal {
        self.replaying()
            .map(|replay| replay.journal())
            .unwrap_or_default()
    }

    /// What a retry that became a task carried, for handlers that return their questions.
    pub fn current_retry(&self) -> std::sync::Arc<super::Retry> {
        self.retry()
    }

    /// Waits until there is something new to save.
    pub fn poll_draft(&self, task: &mut Context<'_>) -> Poll<Draft> {
        // First the waker: a question may come from a thread that the handler has started.
        self.set_waker(task.waker());
        let version = {
            let mut parked = self.park().lock();
            if parked.drafted == parked.version {
                return Poll::Pending;
            }
            parked.drafted = parked.version;
            parked.version
        };
        Poll::Ready(self.draft(version))
    }

    /// What is to be saved now, new or not.
    pub fn current_draft(&self) -> Draft {
        let version = {
            let mut parked = self.park().lock();
            parked.drafted = parked.version;
            parked.version
        };
        self.draft(version)
    }

    fn draft(&self, version: u64) -> Draft {
        let mut draft = self.replaying().map_or_else(
            || Draft {
                version,
                asked: InputRequests::default(),
                broken: None,
                values: BTreeMap::new(),
                unfit: BTreeMap::new(),
            },
            |replay| replay.draft(),
        );
        draft.version = version;
        draft
    }

    /// Notes that a draft was saved: what waited for it goes on.
    pub fn saved(&self, version: u64) {
        self.park()
            .wake_after(|parked| parked.saved = parked.saved.max(version));
    }

    /// Hands over what came of a question, by the name that the handler knows it by.
    pub fn give(&self, name: &str, request: &InputRequest, given: Given) {
        if let Some(replay) = self.replaying() {
            replay.give(name, request, given);
        }
        self.park().wake_after(|_| ());
    }

    /// Waits until the request is a task; at once where it cannot be one, or is one already.
    pub(crate) fn poll_task(&self, waker: &Waker) -> Poll<()> {
        let Some(park) = self.parked() else {
            return Poll::Ready(());
        };
        {
            let mut parked = park.lock();
            match parked.stage {
                Stage::Possible | Stage::Wanted => parked.stage = Stage::Wanted,
                Stage::Begun | Stage::Over => return Poll::Ready(()),
            }
            parked.wait(waker);
        }
        self.wake();
        Poll::Pending
    }

    /// Waits until what was done in a task is saved; at once in anything else.
    pub(crate) fn poll_saved(&self, version: u64, waker: &Waker) -> Poll<()> {
        let Some(park) = self.parked() else {
            return Poll::Ready(());
        };
        let mut parked = park.lock();
        if parked.stage != Stage::Begun || parked.saved >= version {
            return Poll::Ready(());
        }
        parked.wait(waker);
        Poll::Pending
    }

    /// Whether the questions of the handler wait in a task.
    pub(crate) fn is_parked(&self) -> bool {
        self.parked().is_some_and(Park::is_begun)
    }

    /// Whether the task has ended; none if the request is no task.
    pub(crate) fn is_task_over(&self) -> Option<bool> {
        match self.parked()?.lock().stage {
            Stage::Possible | Stage::Wanted => None,
            Stage::Begun => Some(false),
            Stage::Over => Some(true),
        }
    }

    /// Notes that there is something new to save; gives its version.
    pub(crate) fn change(&self) -> u64 {
        let version = self.parked().map_or(0, Park::change);
        self.wake();
        version
    }
}
