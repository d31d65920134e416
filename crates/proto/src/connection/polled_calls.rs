//! Calls whose outcome the caller polls: questions of handlers to the client.
//!
//! Such a call belongs to the request that it was made for, and never outlives it. Its outcome is
//! not an event: it stays here until the caller takes it.

use std::task::{Context, Poll};
use std::time::Instant;

use serde_json::value::RawValue;

use super::{Connection, NewCall, Side};
use crate::error::{PeerCallError, SendError};
use crate::io::{CallId, Event, Lane, RequestKey};
use crate::limits::Limits;
use crate::outbound::{CallOutcome, OpenCall, Timeouts};

impl Connection {
    /// Makes a call whose outcome is taken with [`Connection::poll_call`]. The timeout is
    /// [`Limits::question_timeout`] unless the call has its own timeouts.
    ///
    /// A call on the lane of a request ends with the request, and the peer is notified.
    ///
    /// # Errors
    ///
    /// As [`Connection::call`], and [`SendError::ClientUnreachable`] where the client cannot answer.
    pub fn call_polled(&mut self, now: Instant, mut call: NewCall) -> Result<CallId, SendError> {
        self.terms_of_call(&call)?;
        if matches!(&self.side, Side::Server(_)) && self.is_fixed() {
            return Err(SendError::ClientUnreachable);
        }
        let timeouts = Timeouts::new(self.limits.question_timeout, self.limits.question_timeout);
        call.timeouts.get_or_insert(timeouts);
        let parent = match call.lane {
            Lane::Reply(key) => Some(key),
            Lane::Session => None,
        };
        let id = self.call(now, call)?;
        self.outbound.keep(id, parent);
        Ok(id)
    }

    /// Takes the outcome of a call made with [`Connection::call_polled`]; once.
    ///
    /// Until it is there, `task` is woken when it is. A waker is woken while the engine is being
    /// changed, so it must do no more than schedule.
    pub fn poll_call(
        &mut self,
        call: CallId,
        task: &Context<'_>,
    ) -> Poll<Result<Box<RawValue>, PeerCallError>> {
        if let Some(outcome) = self.outbound.take_kept(call) {
            return Poll::Ready(outcome);
        }
        if self.outbound.wait(call, task.waker()) {
            return Poll::Pending;
        }
        Poll::Ready(Err(PeerCallError::Cancelled))
    }

    /// Returns true if a caller was woken and has not taken its outcome with
    /// [`Connection::poll_call`] yet.
    pub fn has_outcomes(&self) -> bool {
        self.outbound.has_kept()
    }

    /// Cancels a call made with [`Connection::call_polled`], and drops its outcome if it has one.
    pub fn forget_call(&mut self, call: CallId) {
        self.cancel_call(call, None);
        self.outbound.take_kept(call);
    }

    /// The limits of this conversation.
    #[inline]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn settle_call(&mut self, call: CallId, row: OpenCall, outcome: CallOutcome) {
        match row.keep {
            Some(keep) => self.outbound.put_kept(call, keep, outcome),
            None => self.events.push_back(Event::Settled(call, outcome)),
        }
    }

    /// Ends the calls that were made for a request, because their caller ends with it.
    pub(super) fn abandon_calls_of(&mut self, key: RequestKey) {
        for call in self.outbound.made_for(key) {
            self.cancel_call(call, Some("the request it belongs to has ended".into()));
        }
    }

    /// Returns the lane for messages about work that began on `lane`: the same while its request is
    /// open, then the session's.
    pub(super) fn lane_while_open(&self, lane: Lane) -> Lane {
        match lane {
            Lane::Reply(key) if self.inbound.contains(key) => lane,
            _ => Lane::Session,
        }
    }

    /// Notes that nothing more will arrive. Our calls end, because no answer can arrive, and new
    /// calls are refused. Answers owed to the peer still leave.
    pub fn close_input(&mut self) {
        self.input_closed = true;
        for call in self.outbound.ids() {
            self.abandon(call, None, PeerCallError::Closed);
        }
    }
}
