//! The events of an endpoint, for the test to read.

use std::collections::BTreeMap;

use pintle_proto::{CallId, Event, PeerCallError, RequestKey, Terms};
use serde_json::Value;

use super::Endpoint;

/// The events of an endpoint that do not belong to its handlers.
#[derive(Debug, Default)]
pub(super) struct Seen {
    settled: BTreeMap<CallId, Vec<Result<Value, PeerCallError>>>,
    notified: Vec<(String, Value)>,
    cancelled: Vec<RequestKey>,
    opened: bool,
    abandoned: bool,
}

impl Seen {
    pub(super) fn note(&mut self, event: Event) {
        match event {
            Event::Notification(notified) => {
                let params = serde_json::from_str(notified.params.text()).unwrap_or_default();
                self.notified.push((notified.method.to_string(), params));
            }
            Event::Cancelled(key) => self.cancelled.push(key),
            Event::Settled(call, outcome) => {
                let outcome =
                    outcome.map(|raw| serde_json::from_str(raw.get()).unwrap_or_default());
                self.settled.entry(call).or_default().push(outcome);
            }
            Event::Opened(_) => self.opened = true,
            Event::Abandoned => self.abandoned = true,
            _ => {}
        }
    }
}

impl Endpoint {
    /// The open requests, oldest first.
    pub fn open(&self) -> Vec<RequestKey> {
        self.pending.keys()
    }

    /// The method and the parameters of an open request.
    pub fn opened_request(&self, key: RequestKey) -> Option<(String, Value)> {
        let incoming = self.pending.request(key)?;
        let params = serde_json::from_str(incoming.params.text()).unwrap_or_default();
        Some((incoming.method.to_string(), params))
    }

    /// The terms of an open request.
    pub fn terms(&self, key: RequestKey) -> Option<&Terms> {
        self.pending.request(key).map(|incoming| &*incoming.terms)
    }

    /// The requests that were cancelled, in order.
    pub fn cancelled(&self) -> &[RequestKey] {
        &self.seen.cancelled
    }

    /// Returns the result of a call.
    ///
    /// # Panics
    ///
    /// If the call has not ended, or has ended twice.
    pub fn settled(&self, call: CallId) -> Result<Value, PeerCallError> {
        match self.outcomes(call) {
            [outcome] => outcome.clone(),
            outcomes => panic!("{call:?} has ended {} times", outcomes.len()),
        }
    }

    /// Every end of a call: one, or none while it is open; more only for a fault of the engine.
    pub fn outcomes(&self, call: CallId) -> &[Result<Value, PeerCallError>] {
        self.seen.settled.get(&call).map_or(&[], Vec::as_slice)
    }

    /// The notifications for the owner of the engine: method and parameters.
    pub fn notified(&self) -> &[(String, Value)] {
        &self.seen.notified
    }

    /// Whether the handshake has been completed.
    pub fn is_opened(&self) -> bool {
        self.seen.opened
    }

    /// Whether the engine has given up the handshake.
    pub fn is_abandoned(&self) -> bool {
        self.seen.abandoned
    }
}
