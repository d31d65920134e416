//! What either side asks of the other.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use pintle_model::jsonrpc::{Notification, ResponseBody, write_notification};
use pintle_model::method::{Cancelled, Notice};
use pintle_model::{CancelledParams, ClientCapabilities, Feature, JsonObject, ProgressParams};

use super::write::{envelope_of, write_call};
use super::{Connection, NewCall, Side};
use crate::error::{PeerCallError, SendError};
use crate::io::{CallId, DropPolicy, Event, Frame, IncomingNotice, Lane, Params, TransmitKind};
use crate::outbound::{CallSpec, Stage, Timeouts};
use crate::terms::Terms;

impl Connection {
    /// Makes a call.
    ///
    /// # Errors
    ///
    /// [`SendError::HandshakePending`] before the handshake, [`SendError::Closed`] after the end,
    /// [`SendError::TooManyCalls`] and [`SendError::TooLarge`] at the limits; for a server also
    /// [`SendError::NoServerRequests`] where the terms of the lane allow no calls, and
    /// [`SendError::Settled`] when its request is; for a client [`SendError::NoSuchMethod`] and
    /// [`SendError::NotOffered`], as the revision and the server's capabilities have it.
    pub fn call(&mut self, now: Instant, call: NewCall) -> Result<CallId, SendError> {
        let terms = self.terms_of_call(&call)?;
        self.check_call(&call.method, terms.revision)?;
        let about = CallSpec {
            method: call.method,
            stage: Stage::Ordinary,
            revision: Some(terms.revision),
            routing: call.routing,
            wants_progress: call.wants_progress,
            lane: call.lane,
        };
        let id = self.open_call(now, call.timeouts, about)?;
        let mut head = Vec::with_capacity(512);
        write_call(
            &mut head,
            &self.outbound.wire_id(Stage::Ordinary, id),
            self.outbound.about(id).expect("the call was opened"),
            call.params,
            call.meta,
            &self.envelope(&terms, call.capabilities.as_deref()),
        );
        if let Err(refusal) = self.check_size(&head) {
            self.outbound.close(id);
            return Err(refusal);
        }
        self.transmit(call.lane, TransmitKind::Call(id), Frame::whole(head));
        Ok(id)
    }

    pub(super) fn terms_of_call(&self, call: &NewCall) -> Result<Arc<Terms>, SendError> {
        let terms = match (&self.side, call.lane) {
            _ if self.is_closed || self.input_closed => return Err(SendError::Closed),
            (Side::Server(_), Lane::Reply(key)) => {
                self.inbound.terms(key).ok_or(SendError::Settled)?
            }
            (Side::Server(server), Lane::Session) if !server.may_ask(&call.method) => {
                return Err(SendError::HandshakePending);
            }
            _ => self.session_terms().ok_or(SendError::HandshakePending)?,
        };
        if matches!(self.side, Side::Server(_)) && !terms.has(Feature::ServerRequests) {
            return Err(SendError::NoServerRequests {
                revision: terms.revision,
            });
        }
        Ok(Arc::clone(terms))
    }

    fn envelope(&self, terms: &Terms, own: Option<&ClientCapabilities>) -> Cow<'_, [u8]> {
        match (&self.side, own) {
            (Side::Client(client), Some(own)) if terms.has(Feature::Envelope) => {
                Cow::Owned(envelope_of(terms.revision, &client.identity, own).into_vec())
            }
            (Side::Client(client), None) if terms.has(Feature::Envelope) => {
                Cow::Borrowed(client.envelope())
            }
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Sends a notification to the peer on the session's lane.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] after the end, [`SendError::PeerTooSlow`] while
    /// [`Limits::max_queued_notices`](crate::Limits::max_queued_notices) wait to be sent, and
    /// [`SendError::TooLarge`].
    pub fn notify(&mut self, method: &str, params: Option<&JsonObject>) -> Result<(), SendError> {
        if self.is_closed {
            return Err(SendError::Closed);
        }
        if self.is_peer_slow() {
            return Err(SendError::PeerTooSlow);
        }
        let mut head = Vec::with_capacity(224);
        write_notification(&mut head, method, params);
        self.check_size(&head)?;
        let kind = TransmitKind::Notice(DropPolicy::RefuseNew);
        self.transmit(Lane::Session, kind, Frame::whole(head));
        Ok(())
    }

    fn check_size(&self, message: &[u8]) -> Result<(), SendError> {
        let limit = self.limits.max_outgoing_bytes;
        match message.len() > limit {
            true => Err(SendError::TooLarge { limit }),
            false => Ok(()),
        }
    }

    /// Cancels a call: it settles at once, and the peer is notified.
    pub fn cancel_call(&mut self, call: CallId, reason: Option<String>) {
        self.abandon(call, reason, PeerCallError::Cancelled);
    }

    pub(super) fn expire(&mut self, call: CallId) {
        self.abandon(
            call,
            Some("timed out".into()),
            PeerCallError::TimedOut(self.limits.call_idle_timeout),
        );
    }

    pub(super) fn abandon(&mut self, call: CallId, reason: Option<String>, failure: PeerCallError) {
        let Some(row) = self.outbound.close(call) else {
            return;
        };
        let failure = match failure {
            PeerCallError::TimedOut(_) => PeerCallError::TimedOut(row.timeouts.idle),
            other => other,
        };
        // Settle before notifying the peer, because a stuck peer must not block our caller.
        let (id, lane, stage) = (
            self.outbound.wire_id(row.about.stage, call),
            row.about.lane,
            row.about.stage,
        );
        self.settle_call(call, row, Err(failure));
        // A call that is still queued is removed from the queue, so there is nothing to cancel.
        let is_unsent = self
            .outbox
            .discard(|_, kind| kind == TransmitKind::Call(call));
        if is_unsent {
            return;
        }
        let mut head = Vec::new();
        if stage == Stage::Ordinary {
            let mut params = CancelledParams::default();
            params.request_id = Some(id);
            params.reason = reason;
            write_notification(&mut head, Cancelled::NAME, Some(&params));
        }
        let kind = match &self.side {
            Side::Server(_) => TransmitKind::Notice(DropPolicy::Never),
            Side::Client(_) => TransmitKind::Cancel(call),
        };
        if matches!(kind, TransmitKind::Cancel(_)) || !head.is_empty() {
            self.transmit(self.lane_while_open(lane), kind, Frame::whole(head));
        }
    }

    pub(super) fn settle_answered(&mut self, call: CallId, body: ResponseBody<'_>) {
        let Some(row) = self.outbound.close(call) else {
            return;
        };
        let mut outcome = match body {
            ResponseBody::Result(result) => Ok(result.to_owned()),
            ResponseBody::Error(error) => Err(PeerCallError::Answered(error)),
            ResponseBody::Contradiction => Err(PeerCallError::Contradiction),
        };
        if row.about.stage == Stage::Handshake
            && let Side::Client(client) = &self.side
        {
            let welcome = client.welcome;
            outcome = outcome.and_then(|result| welcome(self, result));
        }
        self.settle_call(call, row, outcome);
    }

    pub(super) fn settle_all_closed(&mut self) {
        for call in self.outbound.ids() {
            if let Some(row) = self.outbound.close(call) {
                self.settle_call(call, row, Err(PeerCallError::Closed));
            }
        }
    }

    pub(super) fn receive_progress(&mut self, now: Instant, notification: Notification<'_>) {
        let params: Params = notification.params.into();
        let Ok(progress) = params.read::<ProgressParams>() else {
            return;
        };
        let call = self.outbound.named(&progress.progress_token.0);
        let is_passed_on = match call.filter(|call| self.outbound.extend(now, *call)) {
            Some(call) => self.outbound.note_progress(call, &progress),
            // A call that became a task has ended, but progress of its task still arrives.
            None => {
                let meta = progress.meta.as_ref();
                let is_of_task = meta.is_some_and(|meta| meta.related_task().is_some());
                is_of_task && self.may_follow_tasks() && !self.drops_notice()
            }
        };
        if is_passed_on {
            let terms = self.session_terms().cloned();
            let notified = IncomingNotice {
                method: (&*notification.method).into(),
                params,
                terms,
            };
            self.events
                .push_back(Event::Notification(Box::new(notified)));
        }
    }

    /// Whether calls of ours may have become tasks of the core, whose progress still arrives.
    fn may_follow_tasks(&self) -> bool {
        let terms = match &self.side {
            Side::Client(client) => client.terms.as_ref(),
            Side::Server(_) => None,
        };
        terms.is_some_and(|terms| terms.has(Feature::CoreTasks))
    }

    pub(super) fn open_call(
        &mut self,
        now: Instant,
        timeouts: Option<Timeouts>,
        about: CallSpec,
    ) -> Result<CallId, SendError> {
        if self.is_closed {
            return Err(SendError::Closed);
        }
        let default = Timeouts::new(
            self.limits.call_idle_timeout,
            self.limits.call_total_timeout,
        );
        self.outbound
            .open(now, timeouts.unwrap_or(default), about, &self.limits)
    }
}
