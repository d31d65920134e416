//! All messages of a revision.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{LEGACY, LEGACY_03, LEGACY_06, MODERN, run};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, observed, observed_after, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value::Fault;
use crate::wire::{is_response, is_server_request};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "message-jsonrpc",
        "Each message is an object with `jsonrpc` \"2.0\".",
        "Base protocol: Messages",
        &[must(LEGACY, &["MSG-01"]), must(MODERN, &["N-BASE-01"])],
        run!(jsonrpc),
    ),
    Check::new(
        "message-utf8",
        "Each message is JSON in UTF-8.",
        "Transports",
        &[must(LEGACY_03, &["MSG-16"]), must(MODERN, &["N-TRAN-05"])],
        run!(utf8),
    ),
    Check::new(
        "response-one-of",
        "A response has a result or an error, and not both.",
        "Base protocol: Responses",
        &[must(LEGACY, &["MSG-13"]), must(MODERN, &["N-BASE-05"])],
        run!(one_of),
    ),
    Check::new(
        "response-result-object",
        "A result is an object.",
        "Base protocol: Responses",
        &[must(LEGACY, &["MSG-06"]), must(MODERN, &["N-BASE-05"])],
        run!(result_object),
    ),
    Check::new(
        "error-shape",
        "An error has a code, which is an integer, and a message.",
        "Base protocol: Error responses",
        &[
            must(LEGACY, &["MSG-09", "MSG-10"]),
            must(MODERN, &["N-BASE-05"]),
        ],
        run!(error_shape),
    ),
    Check::new(
        "error-message-short",
        "The message of an error is one line.",
        "Base protocol: Error responses",
        &[should(LEGACY, &["MSG-11"])],
        run!(error_short),
    ),
    Check::new(
        "response-once",
        "A request has one response.",
        "Base protocol: Responses",
        &[must(LEGACY, &["MSG-06"]), must(MODERN, &["N-BASE-04"])],
        run!(once),
    ),
    Check::new(
        "notification-without-id",
        "A notification of the server has no id.",
        "Base protocol: Notifications",
        &[must(LEGACY, &["MSG-14"]), must(MODERN, &["N-BASE-08"])],
        run!(without_id),
    ),
    Check::new(
        "request-of-server",
        "A request of the server has a text or an integer as its id, and no id twice.",
        "Base protocol: Requests",
        &[must(LEGACY, &["MSG-02", "MSG-03", "MSG-04"])],
        run!(server_request),
    ),
    Check::new(
        "request-undeclared",
        "The server sends no request that needs a capability of the client.",
        "Lifecycle: Operation",
        &[should(LEGACY, &["GEN-05"]), must(LEGACY_06, &["LIFE-17"])],
        run!(undeclared),
    ),
    Check::new(
        "batch-not-sent",
        "The server sends no list of messages.",
        "Base protocol: Messages",
        &[must(LEGACY_06, &["MSG-18"])],
        run!(no_batch),
    ),
    Check::new(
        "progress-token",
        "Progress has the token of a request that runs.",
        "Progress: Behavior requirements",
        &[
            must(LEGACY, &["PROG-08", "PROG-15"]),
            must(MODERN, &["N-PROG-05"]),
        ],
        run!(progress_token),
    ),
    Check::new(
        "progress-grows",
        "Progress grows with each notification.",
        "Progress: Behavior requirements",
        &[must(LEGACY, &["PROG-05"]), must(MODERN, &["N-PROG-04"])],
        run!(progress_grows),
    ),
];

/// Judges each message; those in lists as well.
pub(super) fn each(peer: &Peer, judge: impl Fn(&Value) -> Fault) -> Judgement {
    for exchange in peer.exchanges() {
        let sent = exchange.request.as_ref().map(shown).unwrap_or_default();
        for message in &exchange.reply.messages {
            let fault = match message {
                Value::Array(list) => list.iter().find_map(&judge),
                message => judge(message),
            };
            if let Some(fault) = fault {
                return Err(observed_after(sent, fault));
            }
        }
    }
    Ok(())
}

/// Returns the message as a fault if a condition does not hold.
pub(super) fn unless(holds: bool, message: &Value) -> Fault {
    (!holds).then(|| shown(message))
}

async fn jsonrpc(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        unless(message.get("jsonrpc") == Some(&json!("2.0")), message)
    })
}

async fn utf8(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        // A body that is not a message, such as a page of a proxy, is judged by other checks.
        let is_body = exchange.reply.status.is_some() && !exchange.reply.is_stream;
        if let Some(junk) = exchange.reply.junk.first().filter(|_| !is_body) {
            return Err(observed(junk.clone()));
        }
    }
    Ok(())
}

async fn one_of(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        let has_both = message.get("result").is_some() && message.get("error").is_some();
        let has_one = message.get("method").is_some() || is_response(message);
        unless(has_one && !has_both, message)
    })
}

async fn result_object(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        unless(message.get("result").is_none_or(Value::is_object), message)
    })
}

async fn error_shape(peer: &mut Peer) -> Judgement {
    each(peer, |message| {
        let error = message.get("error")?;
        let code = error
            .get("code")
            .is_some_and(|code| code.is_i64() || code.is_u64());
        unless(
            code && error.get("message").is_some_and(Value::is_string),
            message,
        )
    })
}

async fn error_short(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        // An error may quote the method.
        let method = exchange.method().unwrap_or_default();
        let quotes = method.contains(char::is_control);
        for message in exchange.reply.messages.iter().filter(|_| !quotes) {
            let text = message.pointer("/error/message").and_then(Value::as_str);
            if text.is_some_and(|text| text.trim_end().contains('\n')) {
                let sent = exchange.request.as_ref().map(shown).unwrap_or_default();
                return Err(observed_after(sent, shown(message)));
            }
        }
    }
    Ok(())
}

async fn once(peer: &mut Peer) -> Judgement {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for exchange in peer.exchanges() {
        for message in exchange.reply.messages.iter().filter(|it| is_response(it)) {
            // These ids are unique over all conversations.
            let id = message.get("id").and_then(Value::as_str);
            if let Some(id) = id.filter(|id| id.starts_with("sample-")) {
                *counts.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
    match counts.iter().find(|(_, count)| **count > 1) {
        None if counts.is_empty() => Err(skipped("no tool, resource or prompt was used")),
        None => Ok(()),
        Some((id, count)) => Err(observed(format!("{count} responses to the id {id:?}"))),
    }
}

async fn without_id(peer: &mut Peer) -> Judgement {
    let is_notification = |message: &Value| message.get("method").map(|_| String::new());
    if each(peer, is_notification).is_ok() {
        return Err(skipped("the server sent no notification"));
    }
    each(peer, |message| {
        let method = message.get("method")?.as_str()?;
        unless(
            !method.starts_with("notifications/") || message.get("id").is_none(),
            message,
        )
    })
}

/// Returns the requests of the server.
fn requests(peer: &Peer) -> Vec<Value> {
    let exchanges = peer.exchanges().into_iter();
    let messages = exchanges.flat_map(|exchange| exchange.reply.messages);
    messages.filter(is_server_request).collect()
}

async fn server_request(peer: &mut Peer) -> Judgement {
    let requests = requests(peer);
    if requests.is_empty() {
        return Err(skipped("the server sent no request"));
    }
    let mut odd = requests.iter().filter(|request| {
        let id = request.get("id").unwrap_or(&Value::Null);
        !(id.is_string() || id.is_i64() || id.is_u64())
    });
    match odd.next() {
        None => Ok(()),
        Some(request) => Err(observed(shown(request))),
    }
}

async fn undeclared(peer: &mut Peer) -> Judgement {
    let requests = requests(peer);
    let mut others = requests
        .iter()
        .filter(|request| request.get("method") != Some(&json!("ping")));
    match others.next() {
        None => Ok(()),
        Some(request) => Err(observed(shown(request))),
    }
}

async fn no_batch(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        if let Some(list) = exchange
            .reply
            .messages
            .iter()
            .find(|message| message.is_array())
        {
            return Err(observed(shown(list)));
        }
    }
    Ok(())
}

/// Progress, and whether its token was that of a running request.
struct Progress {
    token: Value,
    value: f64,
    is_active: bool,
}

/// Returns the progress of all exchanges. Ids of requests with a token are unique.
fn progress(peer: &Peer) -> Vec<Progress> {
    let mut found = Vec::new();
    let mut active: Vec<(Value, Value)> = Vec::new();
    for exchange in peer.exchanges() {
        let request = exchange.request.as_ref();
        let token = request.and_then(|request| request.pointer("/params/_meta/progressToken"));
        let id = request.and_then(|request| request.get("id"));
        active.extend(id.cloned().zip(token.cloned()));
        for message in &exchange.reply.messages {
            if is_response(message) {
                active.retain(|(id, _)| message.get("id") != Some(id));
            }
            if message.get("method") == Some(&json!("notifications/progress")) {
                let params = message.get("params").unwrap_or(&Value::Null);
                let token = params.get("progressToken").cloned().unwrap_or_default();
                let value = params.get("progress").and_then(Value::as_f64);
                found.push(Progress {
                    is_active: active.iter().any(|(_, given)| *given == token),
                    token,
                    value: value.unwrap_or(f64::NAN),
                });
            }
        }
    }
    found
}

async fn progress_token(peer: &mut Peer) -> Judgement {
    let progress = progress(peer);
    if progress.is_empty() {
        return Err(skipped("the server sent no progress"));
    }
    match progress.iter().find(|progress| !progress.is_active) {
        None => Ok(()),
        Some(Progress { token, .. }) => Err(observed(format!(
            "progress with the token {}",
            shown(token)
        ))),
    }
}

async fn progress_grows(peer: &mut Peer) -> Judgement {
    let progress = progress(peer);
    if progress.is_empty() {
        return Err(skipped("the server sent no progress"));
    }
    let mut last: BTreeMap<String, f64> = BTreeMap::new();
    for Progress { token, value, .. } in progress {
        let token = token.to_string();
        let before = last
            .insert(token.clone(), value)
            .unwrap_or(f64::NEG_INFINITY);
        // A value that is not a number does not grow.
        if value.is_nan() || value <= before {
            return Err(observed(format!("token {token}: {before}, then {value}")));
        }
    }
    Ok(())
}
