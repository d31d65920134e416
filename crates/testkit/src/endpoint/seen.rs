//! What an endpoint has seen, for the test to ask.

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
    /// The requests that wait for an answer, oldest first.
    pub fn open(&self) -> Vec<RequestKey> {
        self.desk.keys()
    }

    /// The method and the parameters of a request that waits for an answer.
    pub fn opened_request(&self, key: RequestKey) -> Option<(String, Value)> {
        let incoming = self.desk.request(key)?;
        let params = serde_json::from_str(incoming.params.text()).unwrap_or_default();
        Some((incoming.method.to_string(), params))
    }

    /// The terms of a request that waits for an answer.
    pub fn terms(&self, key: RequestKey) -> Option<&Terms> {
        self.desk.request(key).map(|incoming| &*incoming.terms)
    }

    /// The requests that were cancelled, in order.
    pub fn cancelled(&self) -> &[RequestKey] {
        &self.seen.cancelled
    }

    /// How a call ended.
    ///
    /// # Panics
    ///
    /// If it has not ended, or has ended twice.
    pub fn settled(&self, call: CallId) -> Result<Value, PeerCallError> {
        match self.outcomes(call) {
            [outcome] => outcome.clone(),
            outcomes => panic!("{call:?} has ended {} times", outcomes.len()),
        }
    }

    /// Every end of a call: one, unless something is wrong or it still goes on.
    pub fn outcomes(&self, call: CallId) -> &[Result<Value, PeerCallError>] {
        self.seen.settled.get(&call).map_or(&[], Vec::as_slice)
    }

    /// The notifications that reached the owner of the engine: method and parameters.
    pub fn notified(&self) -> &[(String, Value)] {
        &self.seen.notified
    }

    /// Whether the handshake has been completed.
    pub fn is_opened(&self) -> bool {
        self.seen.opened
    }

    /// Whether the engine gave the handshake up.
    pub fn is_abandoned(&self) -> bool {
        self.seen.abandoned
    }
}
