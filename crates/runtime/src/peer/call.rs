//! A call that a caller waits for.

use std::future::poll_fn;
use std::task::{Context, Poll};

use pintle_model::ProgressParams;
use pintle_proto::{CallId, PeerCallError};
use serde_json::value::RawValue;

use super::Peer;

/// A call in flight. Dropping it cancels it, and the server is notified in the way of its revision.
#[derive(Debug)]
#[must_use = "a call that is dropped is given up"]
pub struct PeerCall {
    peer: Peer,
    id: CallId,
    is_done: bool,
}

/// Step of a call, in order. Closed: a call has no other steps.
#[derive(Debug)]
pub enum Step {
    /// The call has made progress; more steps follow.
    Progress(ProgressParams),
    /// The call has ended with this outcome.
    Done(Result<Box<RawValue>, PeerCallError>),
}

impl PeerCall {
    pub(super) fn new(peer: Peer, id: CallId) -> Self {
        Self {
            peer,
            id,
            is_done: false,
        }
    }

    /// The call's name among the calls of its conversation.
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Polls the next step of the call: all progress before the end. A driver handles the notifications before the
    /// end, too.
    ///
    /// # Panics
    ///
    /// After [`Step::Done`].
    pub fn poll_step(&mut self, task: &mut Context<'_>) -> Poll<Step> {
        assert!(!self.is_done, "a call was polled after its end");
        let step = self.peer.poll_step(self.id, task);
        self.is_done = matches!(step, Poll::Ready(Step::Done(_)));
        step
    }

    /// Waits for the end; progress on the way is dropped.
    ///
    /// # Errors
    ///
    /// Why there is no result.
    ///
    /// # Cancellation
    ///
    /// Dropping the future cancels the call.
    pub async fn outcome(mut self) -> Result<Box<RawValue>, PeerCallError> {
        loop {
            if let Step::Done(outcome) = poll_fn(|task| self.poll_step(task)).await {
                return outcome;
            }
        }
    }
}

impl Drop for PeerCall {
    fn drop(&mut self) {
        if !self.is_done {
            self.peer
                .with_engine_mut(|engine| engine.forget_call(self.id));
        }
    }
}
