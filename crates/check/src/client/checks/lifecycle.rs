//! The handshake, its revisions, and the capabilities behind methods.

use std::time::Duration;

use pintle_model::method::support_of;
use pintle_model::{Feature, Revision};
use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::Talk;
use super::super::scene::Scene;
use super::super::seen::{Seen, every, fault_of, is_request, name, not_seen};
use crate::check::{must, robust, should};
use crate::checks::{LEGACY, LEGACY_06, MODERN};
use crate::finding::Judgement;
use crate::value::{Fault, object, optional_bool, text};

const PAGE: &str = "Lifecycle: Initialization";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-initialize-first",
        "The first message, except for `server/discover` and pings, is `initialize`.",
        PAGE,
        &[must(LEGACY, &["LIFE-01", "LIFE-02"])],
        first,
    ),
    ClientCheck::new(
        "client-initialize-params",
        "`initialize` has a revision, capabilities, and the name and version of the client.",
        PAGE,
        &[must(LEGACY, &["LIFE-02"])],
        params,
    ),
    ClientCheck::new(
        "client-initialize-latest",
        "The offered revision is the latest one that the client speaks.",
        PAGE,
        &[should(LEGACY, &["LIFE-08"])],
        latest,
    ),
    ClientCheck::new(
        "client-initialize-date",
        "The offered revision is one of the protocol.",
        PAGE,
        &[must(LEGACY, &["LIFE-07"])],
        date,
    ),
    ClientCheck::new(
        "client-capabilities",
        "Each known capability is an object, and `roots.listChanged` is a boolean.",
        "Lifecycle: Capability negotiation",
        &[must(LEGACY, &["LIFE-14"])],
        capabilities,
    ),
    ClientCheck::new(
        "client-initialized",
        "`notifications/initialized` follows the answer to `initialize`.",
        PAGE,
        &[must(LEGACY, &["LIFE-04"])],
        initialized,
    ),
    ClientCheck::new(
        "client-initialize-wait",
        "Only pings are sent before the answer to `initialize`.",
        PAGE,
        &[should(LEGACY, &["LIFE-05"])],
        waits,
    ),
    ClientCheck::new(
        "client-version-unknown",
        "The client ends if it does not know the revision of the server.",
        "Lifecycle: Version negotiation",
        &[should(LEGACY, &["LIFE-12"])],
        unknown_version,
    )
    .of(Scene::UnknownVersion),
    ClientCheck::new(
        "client-method-known",
        "Each method is one of the negotiated revision.",
        "Lifecycle: Operation",
        &[
            must(LEGACY_06, &["LIFE-16"]),
            robust(MODERN, &["N-BASE-01"]),
        ],
        methods,
    ),
    ClientCheck::new(
        "client-capability-missing",
        "Features that the server has not declared are not used.",
        "Lifecycle: Operation",
        &[
            must(LEGACY_06, &["LIFE-17", "GEN-05"]),
            should(LEGACY, &["PROM-11"]),
            robust(MODERN, &["N-EXT-14"]),
        ],
        undeclared,
    )
    .of(Scene::Bare),
];

/// Returns true for requests that may stand before the handshake.
fn is_before(message: &Value) -> bool {
    matches!(name(message), Some("server/discover" | "ping"))
        || super::super::script::claimed(&message["params"]).is_some()
}

fn first(seen: &Seen<'_>) -> Judgement {
    for talk in seen.talks() {
        let mut rest = talk
            .messages()
            .map(|(_, message)| message)
            .filter(|message| !is_before(message));
        if let Some(message) = rest.next()
            && name(message) != Some("initialize")
        {
            return Err(fault_of(message, "it stands before `initialize`"));
        }
    }
    Ok(())
}

fn params(seen: &Seen<'_>) -> Judgement {
    every(seen.requests("initialize"), "no handshake", |_, message| {
        let params = message.get("params").unwrap_or(&Value::Null);
        let info = params.get("clientInfo").unwrap_or(&Value::Null);
        text(params, "protocolVersion")
            .or_else(|| object(params, "capabilities"))
            .or_else(|| object(params, "clientInfo"))
            .or_else(|| text(info, "name"))
            .or_else(|| text(info, "version"))
    })
}

fn offered(message: &Value) -> Option<Revision> {
    message
        .get("params")?
        .get("protocolVersion")?
        .as_str()?
        .parse()
        .ok()
}

fn date(seen: &Seen<'_>) -> Judgement {
    every(seen.requests("initialize"), "no handshake", |_, message| {
        let is_known = offered(message).is_some_and(|revision| revision.has(Feature::Handshake));
        (!is_known).then(|| "the revision has no handshake, or is unknown".to_owned())
    })
}

fn latest(seen: &Seen<'_>) -> Judgement {
    let spoken = seen.everything().iter().filter_map(|talk| {
        let initialized = talk
            .messages()
            .any(|(_, message)| name(message) == Some("notifications/initialized"));
        talk.revision.filter(|_| initialized)
    });
    let Some(latest) = spoken.max() else {
        return Err(not_seen("no handshake was completed"));
    };
    every(seen.requests("initialize"), "no handshake", |_, message| {
        let offered = offered(message)?;
        (offered < latest).then(|| format!("the client also speaks {latest}"))
    })
}

fn capabilities(seen: &Seen<'_>) -> Judgement {
    every(seen.requests("initialize"), "no handshake", |_, message| {
        let declared = message.get("params")?.get("capabilities")?;
        capability_fault(declared)
    })
}

/// Returns the first fault of declared capabilities.
pub(super) fn capability_fault(declared: &Value) -> Fault {
    let names = [
        "roots",
        "sampling",
        "elicitation",
        "tasks",
        "experimental",
        "extensions",
    ];
    let mut present = names
        .into_iter()
        .filter(|name| declared.get(name).is_some());
    present
        .find_map(|name| object(declared, name))
        .or_else(|| optional_bool(declared.get("roots")?, "listChanged"))
}

fn initialized(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let is_later = |message: &Value| {
            is_request(message) && !is_before(message) && name(message) != Some("initialize")
        };
        let mut names = talk.messages().map(|(_, message)| name(message));
        if names.any(|name| name == Some("notifications/initialized")) {
            is_seen = true;
        } else if let Some((_, message)) = talk.messages().find(|(_, message)| is_later(message)) {
            return Err(fault_of(
                message,
                "no `notifications/initialized` was sent, and then came",
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen(
            "the client has ended after the answer to `initialize`",
        )),
    }
}

fn waits(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let Some((opening, id)) = talk.messages().find_map(|(entry, message)| {
            let id = message
                .get("id")
                .filter(|_| name(message) == Some("initialize"))?;
            Some((entry.at, id))
        }) else {
            continue;
        };
        let end = talk.answered(id).map_or(Duration::MAX, |answer| answer.at);
        is_seen = true;
        let early = talk.messages().find(|(entry, message)| {
            entry.at > opening
                && entry.at < end
                && is_request(message)
                && !is_before(message)
                && name(message) != Some("initialize")
        });
        if let Some((_, message)) = early {
            return Err(fault_of(
                message,
                "it was sent before the answer to `initialize`",
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no handshake")),
    }
}

fn unknown_version(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen
        .scene(Scene::UnknownVersion)
        .filter(|talk| has_opening(talk))
    {
        is_seen = true;
        let goes_on = |message: &Value| {
            let is_other =
                is_request(message) && !is_before(message) && name(message) != Some("initialize");
            is_other || name(message) == Some("notifications/initialized")
        };
        if let Some((_, message)) = talk.messages().find(|(_, message)| goes_on(message)) {
            return Err(fault_of(
                message,
                "the client goes on in the revision 1999-12-31",
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("the scene was not visited")),
    }
}

fn has_opening(talk: &Talk) -> bool {
    talk.messages()
        .any(|(_, message)| name(message) == Some("initialize"))
}

fn methods(seen: &Seen<'_>) -> Judgement {
    every(seen.messages(), "no message", |_, message| {
        // Both find out the era of a server.
        let finds_out = |method: &&str| matches!(*method, "server/discover" | "initialize");
        let method = name(message).filter(|method| !finds_out(method))?;
        let has = support_of(method)?.met_by(seen.revision);
        (!has).then(|| format!("{} has no {method}", seen.revision))
    })
}

/// Returns the first message that needs more than tools.
fn beyond_tools(seen: &Seen<'_>, scene: Scene) -> Option<Value> {
    let needs = ["resources/", "prompts/", "completion/", "logging/"];
    let mut messages = seen.scene(scene).flat_map(Talk::messages);
    let found = messages.find(|(_, message)| {
        let method = name(message).unwrap_or_default();
        needs.iter().any(|prefix| method.starts_with(prefix))
    });
    found.map(|(_, message)| message.clone())
}

fn undeclared(seen: &Seen<'_>) -> Judgement {
    if let Some(message) = beyond_tools(seen, Scene::Bare) {
        return Err(fault_of(
            &message,
            "the server has declared tools only, and then came",
        ));
    }
    let is_visited = seen
        .scene(Scene::Bare)
        .any(|talk| talk.messages().next().is_some());
    match is_visited && beyond_tools(seen, Scene::Plain).is_some() {
        true => Ok(()),
        false => Err(not_seen(
            "the client has used tools only, or the scene was not visited",
        )),
    }
}
