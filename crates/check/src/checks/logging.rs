//! Log messages and their level.

use pintle_model::Feature;
use serde_json::{Value, json};

use super::{LEGACY, MODERN, run, without_fault};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, ensure, observed, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value::{self, Fault};

const SET_LEVEL: &[Feature] = &[Feature::SetLevel];
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "log-level",
        "Each of the eight levels can be set, with an empty result.",
        "Logging: Setting log level",
        &[must(SET_LEVEL, &["LOG-02", "LOG-03"])],
        run!(level),
    ),
    Check::new(
        "log-level-unknown",
        "An unknown level is answered with error -32602.",
        "Logging: Error handling",
        &[should(SET_LEVEL, &["LOG-07"])],
        run!(unknown_level),
    ),
    Check::new(
        "log-level-of-request-unknown",
        "A request for logs of an unknown level is answered with error -32602.",
        "Logging: Error handling",
        &[should(MODERN, &["N-LOG-05"])],
        run!(unknown_level_of_request),
    ),
    Check::new(
        "log-declared",
        "A server that sends log messages declares `logging`.",
        "Logging: Capabilities",
        &[must(LEGACY, &["LOG-01"]), must(MODERN, &["N-LOG-01"])],
        run!(declared),
    ),
    Check::new(
        "log-message",
        "A log message has a known level and data.",
        "Logging: Log message notifications",
        &[must(LEGACY, &["LOG-06"])],
        run!(message),
    ),
    Check::new(
        "log-without-request",
        "Without a requested level a server sends no log messages.",
        "Logging: Log level",
        &[must(MODERN, &["N-LOG-02"])],
        run!(without_request),
    ),
];

fn needs_logging(peer: &Peer) -> Judgement {
    match peer.survey.capability("logging") {
        Some(_) => Ok(()),
        None => Err(skipped("the server declares no logging")),
    }
}

async fn level(peer: &mut Peer) -> Judgement {
    needs_logging(peer)?;
    for level in LEVELS {
        let answer = peer
            .ask("logging/setLevel", json!({ "level": level }))
            .await?;
        let result = answer.result()?.as_object();
        ensure(result.is_some_and(|result| result.keys().all(|key| key == "_meta")))?;
    }
    Ok(())
}

async fn unknown_level(peer: &mut Peer) -> Judgement {
    needs_logging(peer)?;
    let answer = peer
        .ask("logging/setLevel", json!({ "level": "loud" }))
        .await?;
    answer.has_code(&[-32602])
}

async fn unknown_level_of_request(peer: &mut Peer) -> Judgement {
    needs_logging(peer)?;
    let meta = json!({ "io.modelcontextprotocol/logLevel": "loud" });
    let answer = peer
        .ask("server/discover", json!({ "_meta": meta }))
        .await?;
    answer.has_code(&[-32602])
}

/// Returns the log messages of the revision so far.
fn messages(peer: &Peer) -> Vec<Value> {
    let exchanges = peer.exchanges().into_iter();
    let messages = exchanges.flat_map(|exchange| exchange.reply.messages);
    messages
        .filter(|message| message.get("method") == Some(&json!("notifications/message")))
        .collect()
}

async fn declared(peer: &mut Peer) -> Judgement {
    if peer.survey.capability("logging").is_some() {
        return Ok(());
    }
    match messages(peer).first() {
        None => Ok(()),
        Some(message) => Err(observed(shown(message))),
    }
}

async fn message(peer: &mut Peer) -> Judgement {
    let messages = messages(peer);
    match messages.is_empty() {
        true => Err(skipped("the server sent no log message")),
        false => without_fault("any request", messages.iter().find_map(fault)),
    }
}

fn fault(message: &Value) -> Fault {
    let empty = Value::Null;
    let params = message.get("params").unwrap_or(&empty);
    let level = params.get("level").and_then(Value::as_str);
    match level.is_some_and(|level| LEVELS.contains(&level)) && params.get("data").is_some() {
        true => value::optional_text(params, "logger"),
        false => Some(shown(message)),
    }
}

async fn without_request(peer: &mut Peer) -> Judgement {
    match messages(peer).first() {
        None => Ok(()),
        Some(message) => Err(observed(shown(message))),
    }
}
