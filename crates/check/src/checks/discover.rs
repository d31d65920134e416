//! `server/discover`, and the revision of each request.

use pintle_model::Revision;
use serde_json::{Value, json};

use super::{MODERN, run, without_fault};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, ensure, observed, skipped};
use crate::peer::{Answer, Peer};
use crate::text::shown;
use crate::value;

/// A revision that does not exist.
const NO_REVISION: &str = "1900-01-01";
/// Key of the revision in the metadata of a request.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "discover-result",
        "The result of `server/discover` lists revisions as texts, and has capabilities.",
        "Discovery: Data types",
        &[must(MODERN, &["N-DISC-01", "N-DISC-02"])],
        run!(result),
    ),
    Check::new(
        "discover-server-info",
        "The result of `server/discover` has the name and version of the server in its `_meta`.",
        "Discovery: Data types",
        &[should(MODERN, &["N-DISC-03"])],
        run!(server_info),
    ),
    Check::new(
        "discover-unsupported-version",
        "`server/discover` in an unknown revision is answered with error -32022.",
        "Versioning: Per-request version",
        &[must(MODERN, &["N-DISC-09"])],
        run!(discover_unsupported),
    ),
    Check::new(
        "version-unsupported",
        "A request in an unknown revision is answered with error -32022, which lists the served revisions.",
        "Versioning: Protocol version negotiation",
        &[must(MODERN, &["N-VER-02"])],
        run!(unsupported),
    ),
    Check::new(
        "version-unsupported-status",
        "A request in an unknown revision has status 400.",
        "Streamable HTTP: Protocol version header",
        &[must(MODERN, &["N-HTTP-22"]).http()],
        run!(unsupported_status),
    ),
    Check::new(
        "version-of-each-request",
        "A request without a revision is rejected, also after requests with one.",
        "Base protocol: Statelessness",
        &[must(MODERN, &["N-VER-10", "N-STATE-01"])],
        run!(each_request),
    ),
    Check::new(
        "version-after-rejection",
        "A rejected revision has no effect on later requests.",
        "Base protocol: Statelessness",
        &[must(MODERN, &["N-STATE-01"])],
        run!(after_rejection),
    ),
    Check::new(
        "initialize-is-legacy",
        "`initialize` never results in a revision without a handshake.",
        "Versioning: Servers for both eras",
        &[must(MODERN, &["N-ERA-16"])],
        run!(legacy_handshake),
    ),
    Check::new(
        "initialize-names-revisions",
        "A server without a handshake names its revisions in the error of `initialize`.",
        "Versioning: Servers for both eras",
        &[should(MODERN, &["N-VER-08"])],
        run!(names_revisions),
    ),
];

async fn result(peer: &mut Peer) -> Judgement {
    let opening = &peer.survey.opening;
    let fault = value::list(opening, "supportedVersions")
        .or_else(|| value::object(opening, "capabilities"))
        .or_else(|| value::optional_text(opening, "instructions"))
        .or_else(|| {
            let mut versions = value::entries(opening, "supportedVersions");
            let odd = versions.find(|version| !version.is_string())?;
            Some(format!("a revision is not a text: {}", shown(odd)))
        });
    without_fault("server/discover", fault)
}

async fn server_info(peer: &mut Peer) -> Judgement {
    let empty = Value::Null;
    let meta = peer.survey.opening.get("_meta").unwrap_or(&empty);
    let key = "io.modelcontextprotocol/serverInfo";
    let info = meta.get(key).unwrap_or(&empty);
    let fault = value::object(meta, key)
        .or_else(|| value::text(info, "name"))
        .or_else(|| value::text(info, "version"));
    without_fault("server/discover", fault)
}

async fn ask_in(
    peer: &mut Peer,
    method: &str,
    revision: &str,
) -> Result<Answer, crate::finding::Stop> {
    peer.ask(method, json!({ "_meta": { REVISION: revision } }))
        .await
}

async fn discover_unsupported(peer: &mut Peer) -> Judgement {
    let answer = ask_in(peer, "server/discover", NO_REVISION).await?;
    answer.has_code(&[-32022])
}

async fn unsupported(peer: &mut Peer) -> Judgement {
    let answer = ask_in(peer, "tools/list", NO_REVISION).await?;
    answer.has_code(&[-32022])?;
    let data = answer.response.pointer("/error/data");
    let supported = data
        .and_then(|data| data.get("supported"))
        .and_then(Value::as_array);
    let is_list =
        supported.is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_string));
    let requested = data.and_then(|data| data.get("requested"));
    ensure(is_list && requested == Some(&json!(NO_REVISION)))
}

async fn unsupported_status(peer: &mut Peer) -> Judgement {
    let answer = ask_in(peer, "tools/list", NO_REVISION).await?;
    ensure(answer.reply.status == Some(400))
}

async fn each_request(peer: &mut Peer) -> Judgement {
    peer.ask("server/discover", Value::Null).await?.result()?;
    let id = peer.next_id();
    let bare = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {} });
    let reply = peer.probe_message(&bare).await?;
    ensure(!reply.has_result())
}

async fn after_rejection(peer: &mut Peer) -> Judgement {
    ask_in(peer, "server/discover", NO_REVISION).await?;
    let answer = peer.ask("server/discover", Value::Null).await?;
    answer.result().map(|_| ())
}

async fn legacy_handshake(peer: &mut Peer) -> Judgement {
    let mut other = legacy_peer(peer).await?;
    let request = other.initialize(peer.revision.as_str());
    let answer = other.ask_message(&request).await?;
    let version = answer.response.pointer("/result/protocolVersion");
    ensure(version != Some(&json!(peer.revision.as_str())))
}

async fn names_revisions(peer: &mut Peer) -> Judgement {
    let mut other = legacy_peer(peer).await?;
    let request = other.initialize(Revision::LATEST_LEGACY.as_str());
    let answer = other.ask_message(&request).await?;
    if answer.response.get("result").is_some() {
        return Err(skipped("the server serves a revision with a handshake"));
    }
    let text = answer.response.to_string();
    match text.contains(peer.revision.as_str()) {
        true => Ok(()),
        false => Err(observed(shown(&answer.response))),
    }
}

/// Returns a peer that sends a handshake.
async fn legacy_peer(peer: &Peer) -> Result<Peer, crate::finding::Stop> {
    let mut other = peer.unopened().await?;
    other.revision = Revision::LATEST_LEGACY;
    Ok(other)
}
