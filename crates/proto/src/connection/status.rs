//! What can be asked of a conversation without changing it.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::RequestId;
use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_model::method::{Cancelled, Notice};

use super::{Connection, Negotiation, Side, cancelled};
use crate::io::RequestKey;
use crate::terms::Terms;

/// How many times as many values a client takes as a server.
const FROM_SERVERS: usize = 10;

impl Connection {
    /// The instant at which [`Input::Timeout`](crate::Input::Timeout) is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        let handshake = match &self.side {
            Side::Server(server) => server.handshake_deadline,
            Side::Client(_) => None,
        };
        self.outbound
            .next_deadline()
            .into_iter()
            .chain(handshake)
            .min()
    }

    /// Whether a request is neither answered nor cancelled.
    #[inline]
    pub fn is_open(&self, key: RequestKey) -> bool {
        self.inbound.contains(key)
    }

    /// Returns true if the peer has not answered one of our calls.
    pub fn has_open_calls(&self) -> bool {
        !self.outbound.is_empty()
    }

    /// Returns the id of a request that is neither answered nor cancelled.
    pub fn request_id(&self, key: RequestKey) -> Option<&RequestId> {
        self.inbound.id(key)
    }

    /// How many requests of the peer are neither answered nor cancelled, listeners included.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.inbound.len()
    }

    /// Returns how many values one message of the peer may have: more for servers, because their
    /// messages are mostly answers.
    pub(super) fn most_values(&self) -> usize {
        match self.side {
            Side::Client(_) => self
                .limits
                .max_values_per_message
                .saturating_mul(FROM_SERVERS),
            Side::Server(_) => self.limits.max_values_per_message,
        }
    }

    /// Whether another request exceeds the limit where the peer can be refused and retry: the
    /// running requests are at the limit, or their bytes are.
    #[inline]
    pub fn is_at_request_limit(&self) -> bool {
        self.inbound.is_crowded(&self.limits)
    }

    /// Whether another message should be read. It is false while waiting requests exceed their
    /// number or their bytes, or while too many messages wait to be written.
    ///
    /// While one of our calls is open this stays true, because its answer may release the waiting
    /// requests. Requests beyond a multiple of the limit are refused then. A waiting request can
    /// still be cancelled, so a reader should stop late.
    pub fn can_read(&self) -> bool {
        let limits = &*self.limits;
        let messages =
            limits.max_running_requests + limits.max_waiting_requests + limits.max_queued_notices;
        let is_read =
            self.outbox.len() < messages && self.outbox.bytes() < limits.max_outgoing_bytes;
        is_read && (self.inbound.has_room(limits) || !self.outbound.is_empty())
    }

    /// Whether a message is accepted even while there is no room: answers to our calls, and
    /// cancellations of accepted requests. A reader may look for these ahead of the others.
    pub fn is_urgent(&self, message: &Message<'_>) -> bool {
        match message {
            Message::Response(_) => true,
            Message::Notification(notification) if notification.method == Cancelled::NAME => {
                let id = cancelled(notification).and_then(|cancelled| cancelled.request_id);
                id.is_some_and(|id| self.inbound.has_id(&id))
            }
            _ => false,
        }
    }

    /// Whether a malformed text carries the id of an open call, which it ends.
    pub fn ends_call(&self, malformed: &InvalidMessage) -> bool {
        let answered = malformed.answered.as_ref();
        answered.is_some_and(|id| self.outbound.named(id).is_some())
    }

    /// Whether anything waits to be polled.
    #[inline]
    pub fn has_output(&self) -> bool {
        !self.events.is_empty() || !self.outbox.is_empty()
    }

    /// Whether the conversation has ended.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether events wait to be polled.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// How many messages wait to be sent.
    #[inline]
    pub fn queued(&self) -> usize {
        self.outbox.len()
    }

    /// Whether the peer reads so slowly that notices are about to be merged or dropped.
    #[inline]
    pub fn is_peer_slow(&self) -> bool {
        self.outbox.is_full(&self.limits)
    }

    /// How many notices were dropped because the peer does not read.
    pub fn dropped_notices(&self) -> u64 {
        self.outbox.dropped()
    }

    /// How many answers of the peer found no call.
    pub fn late_answers(&self) -> u64 {
        self.outbound.late()
    }

    /// The terms of the session, once agreed.
    #[inline]
    pub fn session_terms(&self) -> Option<&Arc<Terms>> {
        match &self.side {
            Side::Server(server) => match &server.negotiation {
                Negotiation::Session { terms, .. } | Negotiation::Fixed(terms) => Some(terms),
                Negotiation::Open { .. } => None,
            },
            Side::Client(client) => client.terms.as_ref(),
        }
    }
}
