//! Headers and methods of HTTP, and sessions.

use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::{Entry, Head, Kind, Talk};
use super::super::scene::Scene;
use super::super::seen::{Seen, fault_of, name, not_seen};
use crate::check::{must, robust, should};
use crate::checks::{LEGACY_03, LEGACY_06, MODERN};
use crate::finding::{Judgement, Stop, observed};
use crate::value::Fault;

const PAGE: &str = "Streamable HTTP: Sending messages";
const SESSIONS: &str = "Streamable HTTP: Session management";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-accept",
        "`Accept` of a POST lists application/json and text/event-stream.",
        PAGE,
        &[
            must(LEGACY_03, &["TRANS-HTTP-07", "TRANS-HTTP-08"]).http(),
            must(MODERN, &["N-HTTP-06"]).http(),
        ],
        |seen| {
            posts(seen, |head, _| {
                accept_fault(head, &["application/json", "text/event-stream"])
            })
        },
    ),
    ClientCheck::new(
        "client-content-type",
        "`Content-Type` of a POST is application/json.",
        PAGE,
        &[
            robust(LEGACY_03, &["TRANS-HTTP-07"]).http(),
            must(MODERN, &["N-HTTP-05"]).http(),
        ],
        |seen| {
            posts(seen, |head, _| {
                let value = head.get("content-type").unwrap_or_default();
                let essence = value.split(';').next().unwrap_or_default().trim();
                (!essence.eq_ignore_ascii_case("application/json"))
                    .then(|| format!("`Content-Type` is {value:?}"))
            })
        },
    ),
    ClientCheck::new(
        "client-get-accept",
        "`Accept` of a GET lists text/event-stream.",
        "Streamable HTTP: Listening for messages",
        &[must(LEGACY_03, &["TRANS-HTTP-30"]).http()],
        |seen| {
            bare(seen, "GET", |head| {
                accept_fault(head, &["text/event-stream"])
            })
        },
    ),
    ClientCheck::new(
        "client-version-header",
        "Each request after the handshake has `MCP-Protocol-Version`.",
        "Streamable HTTP: Protocol version header",
        &[must(LEGACY_06, &["TRANS-VER-01", "LIFE-13"]).http()],
        |seen| {
            heads(seen, |head, _| {
                head.get("mcp-protocol-version")
                    .is_none()
                    .then(|| "no `MCP-Protocol-Version`".to_owned())
            })
        },
    ),
    ClientCheck::new(
        "client-version-header-value",
        "`MCP-Protocol-Version` is the negotiated revision.",
        "Streamable HTTP: Protocol version header",
        &[should(LEGACY_06, &["TRANS-VER-02"]).http()],
        |seen| {
            let revision = seen.revision.as_str();
            heads(seen, move |head, _| {
                let value = head.get("mcp-protocol-version")?;
                (value != revision).then(|| format!("`MCP-Protocol-Version` is {value:?}"))
            })
        },
    ),
    ClientCheck::new(
        "client-session-id",
        "Each request after the handshake has the session id of the server, byte for byte.",
        SESSIONS,
        &[must(LEGACY_03, &["TRANS-SESS-05"]).http()],
        session,
    ),
    ClientCheck::new(
        "client-session-opening",
        "`initialize` has no session id.",
        SESSIONS,
        &[must(LEGACY_03, &["TRANS-SESS-09"]).http()],
        |seen| {
            posts(seen, |head, message| {
                let is_opening = name(message) == Some("initialize");
                (is_opening && head.get("mcp-session-id").is_some())
                    .then(|| "`initialize` has a session id".to_owned())
            })
        },
    ),
    ClientCheck::new(
        "client-session-lost",
        "After status 404 the client opens another session.",
        SESSIONS,
        &[must(LEGACY_03, &["TRANS-SESS-09"]).http()],
        lost,
    )
    .of(Scene::SessionLost),
    ClientCheck::new(
        "client-session-end",
        "The client ends the session with DELETE.",
        SESSIONS,
        &[should(LEGACY_03, &["TRANS-SESS-10"]).http()],
        deleted,
    ),
];

fn accept_fault(head: &Head, types: &[&str]) -> Fault {
    let accept: Vec<&str> = head
        .headers
        .iter()
        .filter(|(name, _)| name == "accept")
        .map(|(_, value)| value.as_str())
        .collect();
    let accept = accept.join(",").to_ascii_lowercase();
    let listed: Vec<&str> = accept
        .split(',')
        .map(|entry| entry.split(';').next().unwrap_or_default().trim())
        .collect();
    let missing = types.iter().find(|media| !listed.contains(*media))?;
    Some(format!("`Accept` is {accept:?}, without {missing}"))
}

/// Judges each request with a message.
fn posts(seen: &Seen<'_>, fault: impl Fn(&Head, &Value) -> Fault) -> Judgement {
    let posts = seen
        .messages()
        .filter_map(|(entry, message)| Some((entry.head()?, message)));
    judged(posts, "no POST", fault)
}

/// Judges each GET or DELETE.
fn bare(seen: &Seen<'_>, method: &str, fault: impl Fn(&Head) -> Fault) -> Judgement {
    let heads = seen
        .talks()
        .flat_map(|talk| &talk.entries)
        .filter_map(|entry| match &entry.kind {
            Kind::Bare(head) if head.method == method => Some((head, &Value::Null)),
            _ => None,
        });
    judged(heads, "no such request", |head, _| fault(head))
}

/// Judges each request after the handshake, with a message or without one.
fn heads(seen: &Seen<'_>, fault: impl Fn(&Head, &Value) -> Fault) -> Judgement {
    let heads = seen.talks().flat_map(after_handshake);
    judged(heads, "no request after the handshake", fault)
}

/// Returns the requests from the end of the handshake on. A client that cannot read its result knows no revision.
fn after_handshake(talk: &Talk) -> impl Iterator<Item = (&Head, &Value)> {
    let ends = |entry: &&Entry| entry.came().and_then(name) == Some("notifications/initialized");
    talk.entries
        .iter()
        .skip_while(move |entry| !ends(entry))
        .filter_map(|entry| Some((entry.head()?, entry.came().unwrap_or(&Value::Null))))
        .filter(|(_, message)| !matches!(name(message), Some("initialize" | "server/discover")))
}

pub(super) fn judged<'r>(
    heads: impl Iterator<Item = (&'r Head, &'r Value)>,
    reason: &str,
    fault: impl Fn(&Head, &Value) -> Fault,
) -> Judgement {
    let mut is_seen = false;
    for (head, message) in heads {
        is_seen = true;
        if let Some(fault) = fault(head, message) {
            return Err(fault_of_head(head, message, &fault));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen(reason)),
    }
}

fn fault_of_head(head: &Head, message: &Value, fault: &str) -> Stop {
    match message {
        Value::Null => observed(format!("{fault}: {}", head.method)),
        message => fault_of(message, fault),
    }
}

fn session(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        for (head, message) in after_handshake(talk) {
            is_seen = true;
            let is_own = head
                .get("mcp-session-id")
                .is_some_and(|id| id.starts_with("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~Pintle"));
            if !is_own {
                let found = head.get("mcp-session-id");
                return Err(fault_of_head(
                    head,
                    message,
                    &format!("the session id is {found:?}"),
                ));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no request after the handshake")),
    }
}

fn lost(seen: &Seen<'_>) -> Judgement {
    let talks: Vec<&Talk> = seen.scene(Scene::SessionLost).collect();
    let forgotten = talks
        .iter()
        .flat_map(|talk| &talk.entries)
        .find(|entry| matches!(entry.kind, Kind::Forgotten));
    let Some(forgotten) = forgotten else {
        return Err(not_seen(
            "the scene was not visited, or the client has sent no request",
        ));
    };
    let mut later = talks
        .iter()
        .flat_map(|talk| talk.messages())
        .filter(|(entry, _)| entry.at > forgotten.at);
    match later.any(|(_, message)| name(message) == Some("initialize")) {
        true => Ok(()),
        // The client can end instead, because the session is gone.
        false if !seen.plain_succeeds() => Err(not_seen("the client has ended")),
        false => Err(observed("no `initialize` followed the status 404")),
    }
}

fn deleted(seen: &Seen<'_>) -> Judgement {
    let ended = seen
        .talks()
        .filter(|talk| talk.is_in(Scene::Plain) && talk.visit.succeeded == Some(true));
    let mut is_seen = false;
    for talk in ended.filter(|talk| after_handshake(talk).next().is_some()) {
        is_seen = true;
        let is_delete =
            |entry: &Entry| matches!(&entry.kind, Kind::Bare(head) if head.method == "DELETE");
        if !talk.entries.iter().any(is_delete) {
            return Err(observed("the client has ended without DELETE"));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("the end of the client is unknown")),
    }
}
