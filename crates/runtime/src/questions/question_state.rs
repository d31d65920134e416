//! The questions of one request, between its handler and its runner.
//!
//! The runner polls the handler. The calls of the runner choose the way of a question:
//!
//! ```text
//!        allow_replay() or resume()        begin_task()
//!  live ───────────────────────────► replay ────────────► task
//!    └───────────────────── begin_task() ────────────────►
//! ```
//!
//! - live: a question is a call to the client, and the handler waits for the response.
//! - replay: the handler is dropped at a question, and the retry runs it again over the journal.
//! - task: the question is saved with the task, and the handler waits for the answer.
//!
//! No call leads back. After [`QuestionState::allow_task`] the handler may request the change to a task;
//! `park.rs` has the stages of that.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use pintle_model::{InputRequest, InputRequests};

use super::journal::{Journal, StoredAnswer};
use super::park::{Park, Stage, TaskCheckpoint};
use super::replay::{Replay, ReplayResult};
use super::retry_input::RetryInput;
use super::waits::Waits;
use crate::sync::Mutex;

/// The questions of a request. The runner of the handler allows replay, and checks after every poll
/// if the handler is suspended. Then it drops the handler and takes the questions.
///
/// A request without questions allocates nothing here.
#[derive(Debug, Default)]
pub struct QuestionState {
    // Set by the runner before the handler runs, and never reset. Relaxed is enough, because the
    // runner polls the handler after it.
    may_replay: AtomicBool,
    // Set by the runner (`resume`) or by the first question. It is used only if `may_replay` is set.
    replay: OnceLock<Box<Replay>>,
    // Set by the runner; read by handlers that return their questions themselves.
    retry: Mutex<Option<Arc<RetryInput>>>,
    // The runner's: set before each check for a question, because another thread may ask between
    // the check and the wait. The handler takes it at a question or a change.
    waker: Mutex<Option<Waker>>,
    // Set by the runner if the request is or may become a task. Otherwise it stays empty, and the
    // handler never waits for a task or a saved draft.
    park: OnceLock<Box<Park>>,
    // Set by the first wait; written by open questions of the handler, read by its time limit.
    waits: OnceLock<Box<Waits>>,
}

impl QuestionState {
    /// Allows questions to suspend the handler.
    pub fn allow_replay(&self) {
        self.may_replay.store(true, Ordering::Relaxed);
    }

    /// Lets the handler find what earlier rounds brought; before it runs.
    pub fn resume(&self, journal: Journal) {
        self.allow_replay();
        let is_set = self.replay.set(Box::new(Replay::new(journal)));
        debug_assert!(is_set.is_ok(), "a handler has not asked before it runs");
    }

    /// Sets what the handler's next run finds.
    pub fn set_retry(&self, retry: RetryInput) {
        *self.retry.lock() = Some(Arc::new(retry));
    }

    /// Whether the handler cannot continue in this round.
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

    /// As [`QuestionState::is_suspended`]; if not yet, `waker` is woken once it is.
    pub fn is_suspended_or_wake(&self, waker: &Waker) -> bool {
        // The waker is set first, because a task that the handler has spawned may ask meanwhile.
        self.set_waker(waker);
        self.is_suspended()
    }

    /// Returns the result of the run; `None` without questions and stored actions.
    pub fn take(&self) -> Option<ReplayResult> {
        self.replay.get().map(|replay| replay.take())
    }

    /// Whether [`QuestionState::take`] returns a result.
    pub fn has_replay(&self) -> bool {
        self.replay.get().is_some()
    }

    /// Lets the handler run again with its questions and actions so far.
    pub fn run_again(&self) {
        if let Some(replay) = self.replay.get() {
            replay.rewind();
        }
    }

    /// Wakes `waker` at the next question.
    pub(crate) fn set_waker(&self, waker: &Waker) {
        *self.waker.lock() = Some(waker.clone());
    }

    /// Returns the state that the handler of a task shares with the runner of the task.
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

    pub(crate) fn retry(&self) -> Arc<RetryInput> {
        self.retry.lock().clone().unwrap_or_default()
    }

    /// The run, if the handler runs as a replay.
    pub(crate) fn replaying(&self) -> Option<&Replay> {
        let may_replay = self.may_replay.load(Ordering::Relaxed);
        may_replay.then(|| &**self.replay.get_or_init(Box::default))
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.lock().take() {
            waker.wake();
        }
    }
}

impl QuestionState {
    /// Lets the handler ask that its request becomes a task; before it runs.
    pub fn allow_task(&self) {
        self.allow_replay();
        self.park();
    }

    /// Whether the handler asked for that.
    pub fn wants_task(&self) -> bool {
        let park = self.parked();
        park.is_some_and(|park| park.lock().stage == Stage::Requested)
    }

    /// Makes the request a task: from now on questions wait in it.
    pub fn begin_task(&self) {
        self.allow_replay();
        self.park().set(Stage::Started);
    }

    /// Notes that the task has ended, for tasks that the handler has spawned.
    pub fn end_task(&self) {
        self.park().set(Stage::Ended);
    }

    /// Returns the journal of the earlier rounds and of the handler so far.
    pub fn journal(&self) -> Journal {
        self.replaying()
            .map(|replay| replay.journal())
            .unwrap_or_default()
    }

    /// Returns the retry that became a task, for handlers that return their questions.
    pub fn current_retry(&self) -> Arc<RetryInput> {
        self.retry()
    }

    /// Waits until there is something new to save.
    pub fn poll_draft(&self, task: &mut Context<'_>) -> Poll<TaskCheckpoint> {
        // The waker is set first, because a thread that the handler has started may ask meanwhile.
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

    /// Returns the state to save now, even if it is unchanged.
    pub fn current_draft(&self) -> TaskCheckpoint {
        let version = {
            let mut parked = self.park().lock();
            parked.drafted = parked.version;
            parked.version
        };
        self.draft(version)
    }

    fn draft(&self, version: u64) -> TaskCheckpoint {
        let mut draft = self.replaying().map_or_else(
            || TaskCheckpoint {
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

    /// Notes that a draft was saved, and wakes the handler that waits for it.
    pub fn saved(&self, version: u64) {
        self.park()
            .wake_after(|parked| parked.saved = parked.saved.max(version));
    }

    /// Stores the result of a question, by the name of the question in the handler.
    pub fn give(&self, name: &str, request: &InputRequest, given: StoredAnswer) {
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
                Stage::Possible | Stage::Requested => parked.stage = Stage::Requested,
                Stage::Started | Stage::Ended => return Poll::Ready(()),
            }
            parked.wait(waker);
        }
        self.wake();
        Poll::Pending
    }

    /// Waits until the actions of a task are saved; returns at once for other requests.
    pub(crate) fn poll_saved(&self, version: u64, waker: &Waker) -> Poll<()> {
        let Some(park) = self.parked() else {
            return Poll::Ready(());
        };
        let mut parked = park.lock();
        if parked.stage != Stage::Started || parked.saved >= version {
            return Poll::Ready(());
        }
        parked.wait(waker);
        Poll::Pending
    }

    /// Whether the questions of the handler wait in a task.
    pub(crate) fn is_parked(&self) -> bool {
        self.parked().is_some_and(Park::is_started)
    }

    /// Whether the task has ended; `None` if the request is not a task.
    pub(crate) fn is_task_over(&self) -> Option<bool> {
        match self.parked()?.lock().stage {
            Stage::Possible | Stage::Requested => None,
            Stage::Started => Some(false),
            Stage::Ended => Some(true),
        }
    }

    /// Notes a change that must be saved. Returns its version.
    pub(crate) fn change(&self) -> u64 {
        let version = self.parked().map_or(0, Park::change);
        self.wake();
        version
    }
}
