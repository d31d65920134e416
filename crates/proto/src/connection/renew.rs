//! A second handshake on one connection: a new session in place of the one before.
//!
//! A program that connects several clients to one process sends the handshake of each of them.

use pintle_model::jsonrpc::Request;
use pintle_model::method::{Initialize, Method};

use super::reported_visits::ReportedVisits;
use super::{Connection, Negotiation, Side};
use crate::io::Lane;

impl Connection {
    /// Whether a request begins a new session, and no request outside of the old one has its id.
    pub(super) fn is_renewed_by(&self, request: &Request<'_>) -> bool {
        let has_session = match &self.side {
            Side::Server(server) => matches!(server.negotiation, Negotiation::Session { .. }),
            Side::Client(_) => false,
        };
        let is_handshake = request.method == Initialize::NAME;
        has_session && is_handshake && !self.inbound.has_enveloped(&request.id)
    }

    /// Cancels what the session left open: requests, calls, subscriptions, tasks and visits.
    /// Requests that state their own terms are not part of it.
    pub(super) fn end_session(&mut self) {
        let Side::Server(server) = &self.side else {
            return;
        };
        if !matches!(server.negotiation, Negotiation::Session { .. }) {
            return;
        }
        // The calls end without a word, because the client that was asked may be another one.
        self.settle_all_closed();
        for key in self.inbound.of_session() {
            self.cancel_request(key);
        }
        self.discard_unsent(Lane::Session);
        self.subscriptions.unsubscribe_all();
        self.inbound.end_tasks();
        self.visits = ReportedVisits::default();
    }
}
