//! Requests without a handshake: their metadata, discovery and subscriptions.

use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::{Entry, Kind, Talk};
use super::super::scene::Scene;
use super::super::script::{CAPABILITIES_KEY, VERSION_KEY, claimed};
use super::super::seen::{Seen, every, fault_of, is_request, name, not_seen};
use super::lifecycle::capability_fault;
use crate::check::{must, robust, should};
use crate::checks::{LEGACY, MODERN};
use crate::finding::{Judgement, observed_after};
use crate::value::{object, text};

const PAGE: &str = "Versioning";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-envelope",
        "The metadata of each request has the revision and the capabilities of the client.",
        "Overview: _meta",
        &[must(MODERN, &["N-META-01", "N-VER-01", "N-BASE-12"])],
        envelope,
    ),
    ClientCheck::new(
        "client-envelope-identity",
        "The metadata of each request has the name and version of the client.",
        "Overview: _meta",
        &[should(MODERN, &["N-META-03"])],
        identity,
    ),
    ClientCheck::new(
        "client-envelope-capabilities",
        "Each known capability is an object.",
        "Overview: _meta",
        &[must(
            MODERN,
            &[
                "N-ELIC-01",
                "N-ROOT-01",
                "N-SAMP-01",
                "N-EXT-01",
                "N-EXT-03",
            ],
        )],
        capabilities,
    ),
    ClientCheck::new(
        "client-envelope-roots",
        "The capability `roots` has no member of earlier revisions.",
        "Roots: Capabilities",
        &[robust(MODERN, &["N-ROOT-01"])],
        roots,
    ),
    ClientCheck::new(
        "client-extension-ids",
        "The id of an extension has a prefix.",
        "Versioning: Extensions",
        &[must(MODERN, &["N-EXT-02"])],
        extensions,
    ),
    ClientCheck::new(
        "client-discover-first",
        "On stdio the first request is `server/discover`.",
        "Transports: stdio",
        &[should(MODERN, &["N-ERA-03", "N-ERA-08"]).stdio()],
        discover_first,
    ),
    ClientCheck::new(
        "client-discover-result",
        "After the result of `server/discover` the client goes on in one of its revisions, without a handshake.",
        PAGE,
        &[
            must(MODERN, &["N-ERA-04"]).stdio(),
            must(MODERN, &["N-ERA-11"]).http(),
            should(MODERN, &["N-DISC-04"]),
        ],
        discovered,
    ),
    ClientCheck::new(
        "client-discover-unsupported",
        "No `initialize` follows the error -32022.",
        PAGE,
        &[
            must(MODERN, &["N-ERA-05"]).stdio(),
            must(MODERN, &["N-ERA-11"]).http(),
            should(MODERN, &["N-VER-03"]),
        ],
        unsupported,
    )
    .of(Scene::UnknownVersion),
    ClientCheck::new(
        "client-discover-error",
        "An error without a meaning leads to `initialize`.",
        PAGE,
        &[
            must(LEGACY, &["N-ERA-06", "N-ERA-07"]).stdio(),
            must(LEGACY, &["N-ERA-12"]).http(),
        ],
        |seen| falls_back(seen, Scene::DiscoverError),
    )
    .of(Scene::DiscoverError),
    ClientCheck::new(
        "client-discover-silence",
        "A missing answer leads to `initialize`.",
        PAGE,
        &[must(LEGACY, &["N-ERA-06"]).stdio()],
        |seen| falls_back(seen, Scene::DiscoverSilence),
    )
    .of(Scene::DiscoverSilence),
    ClientCheck::new(
        "client-listen-params",
        "A subscription has the kinds of notifications.",
        "Subscriptions",
        &[must(MODERN, &["N-SUBS-01"])],
        |seen| {
            every(
                seen.requests("subscriptions/listen"),
                "no subscription",
                |_, message| {
                    object(
                        message.get("params").unwrap_or(&Value::Null),
                        "notifications",
                    )
                },
            )
        },
    ),
];

fn meta(message: &Value) -> &Value {
    let params = message.get("params").unwrap_or(&Value::Null);
    params.get("_meta").unwrap_or(&Value::Null)
}

fn requests<'r>(seen: &Seen<'r>) -> impl Iterator<Item = (&'r Entry, &'r Value)> {
    // A client of both eras can open with a handshake.
    seen.messages()
        .filter(|(_, message)| is_request(message) && name(message) != Some("initialize"))
}

fn envelope(seen: &Seen<'_>) -> Judgement {
    let revision = seen.revision.as_str();
    every(requests(seen), "no request", |_, message| {
        let meta = meta(message);
        if meta.get(VERSION_KEY).and_then(Value::as_str) != Some(revision) {
            return Some(format!("the revision of the metadata is not {revision}"));
        }
        object(meta, CAPABILITIES_KEY)
    })
}

fn identity(seen: &Seen<'_>) -> Judgement {
    every(requests(seen), "no request", |_, message| {
        let key = "io.modelcontextprotocol/clientInfo";
        let info = meta(message).get(key).unwrap_or(&Value::Null);
        text(info, "name").or_else(|| text(info, "version"))
    })
}

fn capabilities(seen: &Seen<'_>) -> Judgement {
    every(requests(seen), "no request", |_, message| {
        capability_fault(meta(message).get(CAPABILITIES_KEY)?)
    })
}

fn roots(seen: &Seen<'_>) -> Judgement {
    every(requests(seen), "no request", |_, message| {
        let roots = meta(message).get(CAPABILITIES_KEY)?.get("roots")?;
        let member = roots.get("listChanged");
        member.map(|_| "`roots.listChanged` is a member of earlier revisions".to_owned())
    })
}

fn extensions(seen: &Seen<'_>) -> Judgement {
    let has_extensions = |message: &Value| {
        meta(message)
            .get(CAPABILITIES_KEY)
            .is_some_and(|all| all.get("extensions").is_some())
    };
    let with = requests(seen).filter(|(_, message)| has_extensions(message));
    every(with, "the client declares no extension", |_, message| {
        let all = meta(message)
            .get(CAPABILITIES_KEY)?
            .get("extensions")?
            .as_object()?;
        let bad = all.keys().find(|id| !id.contains('/'))?;
        Some(format!("the id {bad:?} has no prefix"))
    })
}

fn discover_first(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    let mut probed = Vec::new();
    for talk in seen.talks() {
        let mut requests = talk.messages().filter(|(_, message)| is_request(message));
        let Some((_, first)) = requests.next() else {
            continue;
        };
        is_seen = true;
        // A client may start a process for the probe alone, and another one for its requests.
        match name(first) {
            Some("server/discover") => probed.push(talk.visit.play),
            _ if probed.contains(&talk.visit.play) => {}
            _ => return Err(fault_of(first, "the first request is another one")),
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no request")),
    }
}

/// Returns the position of the answer to the first `server/discover`.
fn discovery(talk: &Talk) -> Option<usize> {
    let (_, request) = talk
        .messages()
        .find(|(_, message)| name(message) == Some("server/discover"))?;
    let answer = talk.answered(request.get("id")?)?;
    talk.entries
        .iter()
        .position(|entry| std::ptr::eq(entry, answer))
}

/// Returns the first `initialize` after a position.
fn handshake(talk: &Talk, position: usize) -> Option<&Value> {
    let mut later = talk
        .entries
        .iter()
        .skip(position)
        .filter_map(|entry| entry.came());
    later.find(|message| name(message) == Some("initialize"))
}

fn discovered(seen: &Seen<'_>) -> Judgement {
    let mut reason = "no discovery";
    for talk in seen.talks() {
        let Some(position) = discovery(talk) else {
            continue;
        };
        // A client that cannot read an unusual result does not know the era of the server.
        let mut before = talk.entries.iter().take(position);
        if before.any(|entry| matches!(entry.kind, Kind::Unusual(_))) {
            continue;
        }
        if let Some(message) = handshake(talk, position) {
            return Err(fault_of(
                message,
                "a handshake after the result of `server/discover`",
            ));
        }
        let mut later = talk.entries.iter().skip(position).filter_map(Entry::came);
        match later.any(|message| message.get("params").and_then(claimed).is_some()) {
            true => reason = "",
            false if reason.is_empty() => {}
            false => reason = "no request followed the discovery",
        }
    }
    match reason {
        "" => Ok(()),
        reason => Err(not_seen(reason)),
    }
}

fn unsupported(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.scene(Scene::UnknownVersion) {
        let error = talk.entries.iter().position(|entry| {
            entry
                .sent()
                .is_some_and(|sent| sent["error"]["code"] == -32022)
        });
        let Some(position) = error else { continue };
        is_seen = true;
        if let Some(message) = handshake(talk, position) {
            return Err(observed_after(
                "the error -32022",
                format!("a handshake follows: {message}"),
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("the scene was not visited")),
    }
}

fn falls_back(seen: &Seen<'_>, scene: Scene) -> Judgement {
    let is_discovery = |talk: &Talk| {
        talk.messages()
            .any(|(_, message)| name(message) == Some("server/discover"))
    };
    if !seen.scene(scene).any(is_discovery) {
        return Err(not_seen(
            "the client does not discover, so that it has nothing to fall back from",
        ));
    }
    // The handshake can use another connection.
    let mut talks = seen.scene(scene);
    match talks.any(|talk| {
        talk.messages()
            .any(|(_, message)| name(message) == Some("initialize"))
    }) {
        true => Ok(()),
        false => Err(observed_after(
            "no result for server/discover",
            "no `initialize` came",
        )),
    }
}
