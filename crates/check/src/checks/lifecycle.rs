//! The handshake and `ping`.

use pintle_model::Revision;
use serde_json::{Value, json};

use super::{LEGACY, LEGACY_11, run, without_fault};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, ensure, observed, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value;
use crate::wire::{Wait, is_server_request};

/// A revision that does not exist.
const NO_REVISION: &str = "1999-01-01";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "initialize-result",
        "The result of `initialize` has a revision, capabilities, and the name and version of the server.",
        "Lifecycle: Initialization",
        &[must(LEGACY, &["LIFE-03"])],
        run!(result),
    ),
    Check::new(
        "initialize-version",
        "A served revision is answered with the same revision.",
        "Lifecycle: Version negotiation",
        &[must(LEGACY, &["LIFE-09"])],
        run!(version),
    ),
    Check::new(
        "initialize-unknown-version",
        "A revision that is not served is answered with one that is served.",
        "Lifecycle: Version negotiation",
        &[must(LEGACY, &["LIFE-10"]), robust(LEGACY, &["H-149"])],
        run!(unknown_version),
    ),
    Check::new(
        "initialize-latest",
        "A revision that is not served is answered with the latest one that is served.",
        "Lifecycle: Version negotiation",
        &[should(LEGACY_11, &["LIFE-11"])],
        run!(latest),
    ),
    Check::new(
        "initialize-alone",
        "Before `notifications/initialized` the server sends no request except `ping`.",
        "Lifecycle: Initialization",
        &[should(LEGACY, &["LIFE-06"])],
        run!(alone),
    ),
    Check::new(
        "initialize-after-request",
        "A request before `initialize` does not prevent the handshake.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["H-127"])],
        run!(after_request),
    ),
    Check::new(
        "initialize-twice",
        "A second `initialize` does not end the conversation.",
        "SECURITY: messages of a peer",
        &[robust(LEGACY, &["AMB-20"])],
        run!(twice),
    ),
    Check::new(
        "operation",
        "After the handshake the server answers requests.",
        "Base protocol: Overview",
        &[must(LEGACY, &["GEN-02"])],
        run!(operation),
    ),
    Check::new(
        "ping",
        "`ping` has an empty result.",
        "Utilities: Ping",
        &[must(LEGACY, &["PING-02"])],
        run!(ping),
    ),
];

async fn result(peer: &mut Peer) -> Judgement {
    let opening = &peer.survey.opening;
    let empty = Value::Null;
    let info = opening.get("serverInfo").unwrap_or(&empty);
    let fault = value::text(opening, "protocolVersion")
        .or_else(|| value::object(opening, "capabilities"))
        .or_else(|| value::object(opening, "serverInfo"))
        .or_else(|| value::text(info, "name"))
        .or_else(|| value::text(info, "version"))
        .or_else(|| value::optional_text(opening, "instructions"));
    without_fault("initialize", fault)
}

async fn version(peer: &mut Peer) -> Judgement {
    let mut other = peer.unopened().await?;
    let request = other.initialize(peer.revision.as_str());
    let answer = other.ask_message(&request).await?;
    let version = answer.result()?.get("protocolVersion");
    ensure(version == Some(&json!(peer.revision.as_str())))
}

async fn unknown_version(peer: &mut Peer) -> Judgement {
    let mut other = peer.unopened().await?;
    let request = other.initialize(NO_REVISION);
    let answer = other.ask_message(&request).await?;
    // An example of the specification is an error that lists the revisions.
    let listed = answer.response.pointer("/error/data/supported");
    if listed.is_some_and(Value::is_array) {
        return Ok(());
    }
    match answer.result()?.get("protocolVersion") {
        Some(Value::String(version)) if version != NO_REVISION && is_date(version) => Ok(()),
        found => Err(observed(format!("`protocolVersion` is {found:?}"))),
    }
}

fn is_date(text: &str) -> bool {
    let mut parts = text
        .split('-')
        .map(|part| (part.len(), part.parse::<u32>().is_ok()));
    parts.next() == Some((4, true))
        && parts.next() == Some((2, true))
        && parts.next() == Some((2, true))
}

async fn latest(peer: &mut Peer) -> Judgement {
    let mut other = peer.unopened().await?;
    let request = other.initialize("9999-12-31");
    let answer = other.ask_message(&request).await?;
    let Some(chosen) = answer.response.pointer("/result/protocolVersion") else {
        return Err(skipped("the answer is an error"));
    };
    let chosen = chosen.as_str().unwrap_or_default().to_owned();
    let newer = Revision::legacy().filter(|revision| revision.as_str() > chosen.as_str());
    for revision in newer {
        let mut other = peer.unopened().await?;
        let request = other.initialize(revision.as_str());
        let answer = other.ask_message(&request).await?;
        let version = answer.response.pointer("/result/protocolVersion");
        if version == Some(&json!(revision.as_str())) {
            return Err(observed(format!("{chosen}, although {revision} is served")));
        }
    }
    Ok(())
}

async fn alone(peer: &mut Peer) -> Judgement {
    let mut other = peer.unopened().await?;
    let request = other.initialize(peer.revision.as_str());
    let opened = other.ask_message(&request).await?;
    other.session = opened.reply.headers.get(crate::peer::SESSION_ID).cloned();
    let ping = other.request("ping", Value::Null);
    let id = ping.get("id").cloned().unwrap_or_default();
    let pinged = other.send(&ping, Wait::Answer(id)).await;
    let messages = opened.reply.messages.iter().chain(&pinged.messages);
    let mut early = messages.filter(|message| {
        is_server_request(message) && message.get("method") != Some(&json!("ping"))
    });
    match early.next() {
        None => Ok(()),
        Some(message) => Err(observed(shown(message))),
    }
}

async fn after_request(peer: &mut Peer) -> Judgement {
    let mut other = peer.unopened().await?;
    let request = other.request("tools/list", Value::Null);
    let id = request.get("id").cloned().unwrap_or_default();
    if other.is_http() {
        other.send(&request, Wait::Answer(id)).await;
    } else {
        // Some servers never answer this request, so its answer is not awaited.
        other.send(&request, Wait::Response).await;
    }
    match other.open().await {
        Ok(_) => Ok(()),
        Err(reason) => Err(observed(reason.0)),
    }
}

async fn twice(peer: &mut Peer) -> Judgement {
    let mut other = peer.another().await?;
    let request = other.initialize(peer.revision.as_str());
    other.probe_message(&request).await?;
    other.is_alive().await
}

async fn operation(peer: &mut Peer) -> Judgement {
    let answer = peer.ask("ping", Value::Null).await?;
    answer.result().map(|_| ())
}

async fn ping(peer: &mut Peer) -> Judgement {
    let answer = peer.ask("ping", Value::Null).await?;
    let result = answer.result()?.as_object();
    let is_empty = result.is_some_and(|result| result.keys().all(|key| key == "_meta"));
    ensure(is_empty)
}
