//! The metadata of messages: keys, tokens for progress, and trace contexts.

use std::time::Duration;

use serde_json::{Map, Value};

use super::super::check::ClientCheck;
use super::super::record::Entry;
use super::super::seen::{Seen, every, fault_of, is_request, not_seen};
use crate::check::must;
use crate::checks::{LEGACY, LEGACY_06, LEGACY_11, MODERN};
use crate::finding::Judgement;

const PAGE: &str = "Overview: _meta";

/// Keys with a reserved prefix that are defined.
const DEFINED: &[&str] = &[
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/subscriptionId",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/model-immediate-response",
];

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-meta-object",
        "`_meta` is an object.",
        PAGE,
        &[must(LEGACY, &["META-02"]), must(MODERN, &["N-BASE-12"])],
        object,
    ),
    ClientCheck::new(
        "client-meta-keys",
        "Each key of `_meta` has an optional prefix of labels, and a name.",
        PAGE,
        &[
            must(LEGACY_06, &["META-03", "META-04", "META-07"]),
            must(MODERN, &["N-META-08"]),
        ],
        keys,
    ),
    ClientCheck::new(
        "client-meta-reserved",
        "Reserved prefixes have defined names only.",
        PAGE,
        &[must(LEGACY_11, &["META-06"]), must(MODERN, &["N-META-09"])],
        reserved,
    ),
    ClientCheck::new(
        "client-progress-token",
        "A token for progress is a text or an integer.",
        "Progress",
        &[
            must(LEGACY, &["PROG-01", "PROG-02"]),
            must(MODERN, &["N-PROG-01", "N-META-12"]),
        ],
        token,
    ),
    ClientCheck::new(
        "client-progress-token-unique",
        "A token for progress belongs to one active request.",
        "Progress",
        &[must(LEGACY, &["PROG-03"]), must(MODERN, &["N-PROG-02"])],
        unique,
    ),
    ClientCheck::new(
        "client-trace-context",
        "`traceparent` has the form of W3C Trace Context.",
        PAGE,
        &[must(MODERN, &["N-TRACE-01"])],
        trace,
    ),
];

fn meta(message: &Value) -> Option<&Value> {
    message.get("params")?.get("_meta")
}

fn metas<'r>(seen: &Seen<'r>) -> impl Iterator<Item = (&'r Entry, &'r Value)> {
    seen.messages()
        .filter(|(_, message)| meta(message).is_some())
}

fn members(message: &Value) -> impl Iterator<Item = &String> {
    meta(message)
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
}

fn object(seen: &Seen<'_>) -> Judgement {
    every(metas(seen), "no message with `_meta`", |_, message| {
        (!meta(message)?.is_object()).then(|| "`_meta` is not an object".to_owned())
    })
}

fn keys(seen: &Seen<'_>) -> Judgement {
    every(metas(seen), "no message with `_meta`", |_, message| {
        let mut keys = members(message);
        let bad = keys.find(|key| !is_key(key))?;
        Some(format!("the key {bad:?} has another form"))
    })
}

fn is_key(key: &str) -> bool {
    let (prefix, name) = match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let is_name = name.is_empty()
        || (is_edge(name.chars().next())
            && is_edge(name.chars().last())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let is_label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic())
            && is_edge(label.chars().last())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    is_name && prefix.is_none_or(|prefix| prefix.split('.').all(is_label))
}

fn reserved(seen: &Seen<'_>) -> Judgement {
    every(metas(seen), "no message with `_meta`", |_, message| {
        let is_reserved = |key: &&String| {
            let prefix = key.rsplit_once('/').map_or("", |(prefix, _)| prefix);
            matches!(
                prefix.split('.').nth(1),
                Some("modelcontextprotocol" | "mcp")
            )
        };
        let mut keys = members(message);
        let bad = keys.find(|key| is_reserved(key) && !DEFINED.contains(&key.as_str()))?;
        Some(format!("the key {bad:?} is reserved"))
    })
}

fn tokens<'r>(seen: &Seen<'r>) -> impl Iterator<Item = (&'r Entry, &'r Value)> {
    metas(seen).filter(|(_, message)| {
        meta(message).is_some_and(|meta| meta.get("progressToken").is_some())
    })
}

fn token(seen: &Seen<'_>) -> Judgement {
    every(tokens(seen), "no request with a token", |_, message| {
        let token = meta(message)?.get("progressToken")?;
        let is_integer = token.as_f64().is_some_and(|token| token.fract() == 0.0);
        (!token.is_string() && !is_integer)
            .then(|| "the token is not a text or an integer".to_owned())
    })
}

fn unique(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let mut active: Vec<(String, Duration)> = Vec::new();
        for (entry, message) in talk.messages().filter(|(_, message)| is_request(message)) {
            let token = meta(message).and_then(|meta| meta.get("progressToken"));
            let (Some(token), Some(id)) = (token, message.get("id")) else {
                continue;
            };
            is_seen = true;
            let token = token.to_string();
            if active
                .iter()
                .any(|(own, end)| *own == token && *end > entry.at)
            {
                return Err(fault_of(
                    message,
                    "the token belongs to a request that is not answered yet",
                ));
            }
            let end = talk.answered(id).map_or(Duration::MAX, |answer| answer.at);
            active.push((token, end));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no request with a token")),
    }
}

fn trace(seen: &Seen<'_>) -> Judgement {
    let traced = metas(seen)
        .filter(|(_, message)| meta(message).is_some_and(|meta| meta.get("traceparent").is_some()));
    every(traced, "no message with a trace context", |_, message| {
        let parent = meta(message)?
            .get("traceparent")?
            .as_str()
            .unwrap_or_default();
        let parts: Vec<&str> = parent.split('-').collect();
        let is_hex = |text: &str| text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        let is_right = lengths == [2, 32, 16, 2] && parts.iter().all(|part| is_hex(part));
        (!is_right).then(|| "`traceparent` has another form".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::is_key;

    #[test]
    fn keys_have_labels_and_a_name() {
        for good in [
            "a",
            "progressToken",
            "com.example/a-b",
            "io.m-x.y/",
            "",
            "a.b/c_d.e",
        ] {
            assert!(is_key(good), "{good:?}");
        }
        for bad in ["-a", "a b", "1.a/b", "a-/b", "a./b", "a/b/c", "a/-b", "ä"] {
            assert!(!is_key(bad), "{bad:?}");
        }
    }
}
