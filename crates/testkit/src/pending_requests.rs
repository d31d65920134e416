//! Handlers that exist only in a test: they answer at once, later, or on demand.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pintle_model::Error;
use pintle_proto::{IncomingRequest, Rendered, Reply, RequestKey, Ticket};
use serde_json::{Value, json};

/// The time at which an endpoint answers its requests. Exhaustive: an answer has no other setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyPolicy {
    /// Answers at once.
    #[default]
    AtOnce,
    /// Answers this long after the request.
    After(Duration),
    /// Answers when the test calls for it.
    ByHand,
}

/// The requests that wait for a handler that does not exist.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    pub(crate) policy: ReplyPolicy,
    open: BTreeMap<RequestKey, Case>,
}

#[derive(Debug)]
struct Case {
    ticket: Ticket,
    incoming: Box<IncomingRequest>,
    due: Option<Instant>,
}

impl PendingRequests {
    /// Accepts a request.
    pub(crate) fn open(&mut self, now: Instant, ticket: Ticket, incoming: Box<IncomingRequest>) {
        let due = match self.policy {
            ReplyPolicy::AtOnce => Some(now),
            ReplyPolicy::After(wait) => Some(now + wait),
            ReplyPolicy::ByHand => None,
        };
        let case = Case {
            ticket,
            incoming,
            due,
        };
        self.open.insert(case.ticket.key(), case);
    }

    /// Closes a request and returns its ticket.
    pub(crate) fn close(&mut self, key: RequestKey) -> Option<(Ticket, Box<IncomingRequest>)> {
        let case = self.open.remove(&key)?;
        Some((case.ticket, case.incoming))
    }

    /// The next request that is answered automatically.
    pub(crate) fn next_due(&self) -> Option<(Instant, RequestKey)> {
        let due = |(key, case): (&RequestKey, &Case)| Some((case.due?, *key));
        self.open.iter().filter_map(due).min()
    }

    /// The requests that are open, oldest first.
    pub(crate) fn keys(&self) -> Vec<RequestKey> {
        self.open.keys().copied().collect()
    }

    /// The open request of this key.
    pub(crate) fn request(&self, key: RequestKey) -> Option<&IncomingRequest> {
        self.open.get(&key).map(|case| &*case.incoming)
    }
}

/// The smallest valid result of `method`.
pub(crate) fn usual_result(method: &str) -> Value {
    match method {
        "tools/call" => json!({ "content": [] }),
        "tools/list" => json!({ "tools": [] }),
        "resources/list" => json!({ "resources": [] }),
        "resources/read" => json!({ "contents": [] }),
        "prompts/list" => json!({ "prompts": [] }),
        "prompts/get" => json!({ "messages": [] }),
        "roots/list" => json!({ "roots": [] }),
        _ => json!({}),
    }
}

/// A result, rendered as it stands.
pub(crate) fn complete(result: &Value) -> Result<Reply, Error> {
    let json = Bytes::from(result.to_string());
    Ok(Reply::Complete(Rendered::from_object(json, None)))
}
