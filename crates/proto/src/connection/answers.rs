//! Ending requests of the peer: by an answer, or by a cancellation.

use pintle_model::jsonrpc::write_error;
use pintle_model::{Error, RequestId};

use super::{Connection, Side};
use crate::error::PeerCallError;
use crate::io::{AnswerStatus, Event, Frame, Lane, RequestKey, Ticket, TransmitKind};
use crate::limits::Limits;
use crate::profile::ServerProfile;
use crate::reply::Reply;
use crate::terms::Terms;

impl Connection {
    /// Answers a request. A request that was cancelled meanwhile is not answered.
    pub fn answer(&mut self, ticket: Ticket, reply: Result<Reply, Error>) {
        let Ticket { key } = ticket;
        self.abandon_calls_of(key);
        let Some(mut row) = self.inbound.remove(key) else {
            return;
        };
        match reply {
            Ok(reply) => {
                self.transmit_reply(key, &row.id, &row.terms, reply);
                let status = row.task.as_mut().and_then(|task| task.unsent_status.take());
                if let Some(status) = status {
                    self.transmit_status(&status);
                }
                if row.task.is_some() && !row.is_task_over {
                    self.inbound.keep_task(row, &self.limits);
                }
            }
            Err(error) => {
                self.transmit_error(key, &row.id, &error, AnswerStatus::Failed(error.code))
            }
        }
        self.run_next();
    }

    /// Ends a request as a cancellation by its peer would: the questions of the request are
    /// cancelled, and nothing more is sent on its lane.
    pub fn cancel_request(&mut self, key: RequestKey) {
        if !self.inbound.contains(key) {
            return;
        }
        self.subscriptions.close(key);
        self.discard_unsent(Lane::Reply(key));
        // The cancellations of its questions leave on the lane where they were asked, as its last
        // messages.
        self.abandon_calls_of(key);
        self.inbound.remove(key);
        // An event that is still queued must not reach the driver.
        self.events
            .retain(|event| !matches!(event, Event::Request(ticket, _) if ticket.key == key));
        self.events.push_back(Event::Cancelled(key));
        self.forget_gathered(key);
        self.run_next();
    }

    /// Sends nothing of a lane that has not left yet; calls among it end here.
    pub(super) fn discard_unsent(&mut self, lane: Lane) {
        let mut unsent = Vec::new();
        self.outbox.discard(|of, kind| {
            let is_silenced = of == lane;
            if let (true, TransmitKind::Call(call)) = (is_silenced, kind) {
                unsent.push(call);
            }
            is_silenced
        });
        for call in unsent {
            if let Some(row) = self.outbound.close(call) {
                self.settle_call(call, row, Err(PeerCallError::Cancelled));
            }
        }
    }

    pub(super) fn run_next(&mut self) {
        while let Some(incoming) = self.inbound.next_to_run(&self.limits) {
            self.events
                .push_back(Event::Request(Ticket { key: incoming.key }, incoming));
        }
    }

    pub(super) fn reject(&mut self, key: RequestKey, id: &RequestId, error: &Error) {
        self.transmit_error(key, id, error, AnswerStatus::Rejected(error.code));
    }

    pub(super) fn transmit_error(
        &mut self,
        key: RequestKey,
        id: &RequestId,
        error: &Error,
        status: AnswerStatus,
    ) {
        let (kind, frame) = error_with_status(id, error, status, &self.limits);
        self.transmit(Lane::Reply(key), kind, frame);
    }

    pub(super) fn transmit_reply(
        &mut self,
        key: RequestKey,
        id: &RequestId,
        terms: &Terms,
        reply: Reply,
    ) {
        let frame = match &self.side {
            Side::Server(server) => server.profile.stamp(terms.revision, id, reply),
            Side::Client(_) => ServerProfile::bare(id, reply),
        };
        let (kind, frame) = reply_answer(id, frame, &self.limits);
        self.transmit(Lane::Reply(key), kind, frame);
    }
}

/// The answer with a rendered result; -32603 if the result is larger than a message may be.
pub(super) fn reply_answer(id: &RequestId, frame: Frame, limits: &Limits) -> (TransmitKind, Frame) {
    if frame.len() > limits.max_outgoing_bytes {
        tracing::warn!(
            bytes = frame.len(),
            "a result is larger than a message may be"
        );
        return error_answer(id, &Error::internal(), limits);
    }
    (TransmitKind::Answer(AnswerStatus::Result), frame)
}

/// The answer with an error of a handler; -32603 if the error is larger than a message may be.
pub(super) fn error_answer(
    id: &RequestId,
    error: &Error,
    limits: &Limits,
) -> (TransmitKind, Frame) {
    error_with_status(id, error, AnswerStatus::Failed(error.code), limits)
}

fn error_with_status(
    id: &RequestId,
    error: &Error,
    mut status: AnswerStatus,
    limits: &Limits,
) -> (TransmitKind, Frame) {
    let mut head = Vec::with_capacity(128);
    write_error(&mut head, Some(id), error);
    if head.len() > limits.max_outgoing_bytes {
        tracing::warn!(
            bytes = head.len(),
            "an error is larger than a message may be"
        );
        let error = Error::internal();
        head = Vec::new();
        write_error(&mut head, Some(id), &error);
        status = AnswerStatus::Failed(error.code);
    }
    (TransmitKind::Answer(status), Frame::whole(head))
}
