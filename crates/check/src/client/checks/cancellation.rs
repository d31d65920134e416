//! Cancellation, and notifications of the client.

use std::time::Duration;

use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::{Entry, Talk};
use super::super::seen::{Seen, every, fault_of, is_request, name, not_seen};
use crate::check::must;
use crate::checks::{LEGACY, MODERN};
use crate::finding::Judgement;

/// How long a message can be on its way.
const RACE: Duration = Duration::from_secs(2);

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-cancel-params",
        "A cancellation names a request, and its reason is a text.",
        "Cancellation",
        &[
            must(LEGACY, &["CANC-01", "CANC-05"]),
            must(MODERN, &["N-CANC-02"]).stdio(),
        ],
        params,
    ),
    ClientCheck::new(
        "client-cancel-running",
        "A cancellation names a request of the client that is not answered.",
        "Cancellation",
        &[
            must(LEGACY, &["CANC-02", "CANC-10"]),
            must(MODERN, &["N-CANC-06", "N-CANC-10"]).stdio(),
        ],
        running,
    ),
    ClientCheck::new(
        "client-cancel-initialize",
        "`initialize` is not cancelled.",
        "Cancellation",
        &[must(LEGACY, &["CANC-03"])],
        initialize,
    ),
    ClientCheck::new(
        "client-notifications",
        "The only notification of a client is a cancellation.",
        "Overview: Message patterns",
        &[must(MODERN, &["N-PROG-09"])],
        notifications,
    ),
];

fn cancellations<'r>(seen: &Seen<'r>) -> impl Iterator<Item = (&'r Entry, &'r Value)> {
    seen.messages()
        .filter(|(_, message)| name(message) == Some("notifications/cancelled"))
}

fn target(message: &Value) -> Option<&Value> {
    message.get("params")?.get("requestId")
}

fn params(seen: &Seen<'_>) -> Judgement {
    every(cancellations(seen), "no cancellation", |_, message| {
        let is_named = target(message).is_some_and(|id| id.is_string() || id.is_number());
        let reason = message
            .get("params")
            .and_then(|params| params.get("reason"));
        let is_text = reason.is_none_or(Value::is_string);
        (!is_named || !is_text)
            .then(|| "`requestId` is missing, or `reason` is not a text".to_owned())
    })
}

fn request<'t>(talk: &'t Talk, id: &Value) -> Option<(&'t Entry, &'t Value)> {
    let mut requests = talk.messages().filter(|(_, message)| is_request(message));
    requests.find(|(_, request)| request.get("id") == Some(id))
}

fn running(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let cancelled = talk
            .messages()
            .filter(|(_, message)| name(message) == Some("notifications/cancelled"));
        for (entry, message) in cancelled {
            is_seen = true;
            let id = target(message).unwrap_or(&Value::Null);
            if request(talk, id).is_none_or(|(sent, _)| sent.at > entry.at) {
                return Err(fault_of(message, "no request has this id"));
            }
            // The answer can be on its way while the client cancels.
            if talk
                .answered(id)
                .is_some_and(|answer| answer.at + RACE < entry.at)
            {
                return Err(fault_of(message, "the request was answered before"));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no cancellation")),
    }
}

fn initialize(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        for (_, message) in talk.messages() {
            let Some(id) =
                target(message).filter(|_| name(message) == Some("notifications/cancelled"))
            else {
                continue;
            };
            is_seen = true;
            if request(talk, id).is_some_and(|(_, request)| name(request) == Some("initialize")) {
                return Err(fault_of(message, "the id is the one of `initialize`"));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no cancellation")),
    }
}

fn notifications(seen: &Seen<'_>) -> Judgement {
    let notices = seen.messages().filter(|(_, message)| {
        name(message).is_some_and(|name| name.starts_with("notifications/"))
    });
    every(notices, "no notification", |_, message| {
        (name(message) != Some("notifications/cancelled"))
            .then(|| "the revision has no such notification".to_owned())
    })
}
