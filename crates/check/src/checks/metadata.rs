//! The metadata of all messages of a revision.

use pintle_model::Feature;
use serde_json::{Value, json};

use super::traffic::{each, unless};
use super::{LEGACY, LEGACY_11, MODERN, content, run};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, observed, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value::{self, Fault};

/// Those with rules about the keys of `_meta`.
const KEYS: &[Feature] = &[Feature::Handshake, Feature::ObjectMeta];

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "meta-keys",
        "Keys of `_meta` have the allowed form.",
        "Base protocol: `_meta`",
        &[
            must(KEYS, &["META-03", "META-04", "META-07"]),
            must(MODERN, &["N-META-08"]),
        ],
        run!(meta_keys),
    ),
    Check::new(
        "meta-reserved",
        "Keys of `_meta` have no prefix that is reserved and unknown.",
        "Base protocol: `_meta`",
        &[must(LEGACY_11, &["META-06"]), must(MODERN, &["N-META-09"])],
        run!(meta_reserved),
    ),
    Check::new(
        "meta-reverse-names",
        "The prefix of a key of `_meta` is a reversed name of a domain.",
        "Base protocol: `_meta`",
        &[
            should(LEGACY_11, &["META-05"]),
            should(MODERN, &["N-META-10"]),
        ],
        run!(meta_reverse_names),
    ),
    Check::new(
        "meta-trace-sent",
        "The trace context in `_meta` of the server has the form of the W3C.",
        "Base protocol: `_meta`",
        &[must(MODERN, &["N-TRACE-01"])],
        run!(meta_trace),
    ),
    Check::new(
        "meta-object",
        "`_meta` is an object.",
        "Base protocol: `_meta`",
        &[must(LEGACY, &["META-02"])],
        run!(meta_object),
    ),
];

/// Judges each `_meta` object of the results: of the result, and of the entries of its lists.
fn each_meta(peer: &Peer, judge: impl Fn(&Value) -> Fault) -> Judgement {
    each(peer, |message| {
        let parts = [message.get("result"), message.get("params")];
        let parts = parts.into_iter().flatten().flat_map(Value::as_object);
        for part in parts {
            let own = part.get("_meta");
            let lists = part.values().filter_map(Value::as_array).flatten();
            let inner = lists.filter_map(|entry| entry.get("_meta"));
            if let Some(fault) = own.into_iter().chain(inner).find_map(&judge) {
                return Some(fault);
            }
        }
        None
    })
}

/// Judges each key of `_meta`. The check is skipped without a key that is `relevant`.
fn each_key(peer: &Peer, relevant: fn(&str) -> bool, judge: fn(&str) -> bool) -> Judgement {
    let odd = |meta: &Value, is_odd: &dyn Fn(&str) -> bool| {
        let mut keys = meta.as_object()?.keys();
        let odd = keys.find(|key| is_odd(key))?;
        Some(format!("the key {odd:?}"))
    };
    if each_meta(peer, |meta| odd(meta, &relevant)).is_ok() {
        return Err(skipped("no message has such a key in `_meta`"));
    }
    each_meta(peer, |meta| odd(meta, &|key| relevant(key) && !judge(key)))
}

async fn meta_keys(peer: &mut Peer) -> Judgement {
    each_key(peer, |_| true, content::is_key)
}

/// Returns the labels of the prefix of a key.
fn labels(key: &str) -> Vec<&str> {
    let prefix = key.split_once('/').map(|(prefix, _)| prefix);
    prefix.map_or_else(Vec::new, |prefix| prefix.split('.').collect())
}

async fn meta_reserved(peer: &mut Peer) -> Judgement {
    // Extensions of the protocol have the one prefix that the protocol uses.
    each_key(
        peer,
        |key| !labels(key).is_empty(),
        |key| match labels(key)[..] {
            ["io", "modelcontextprotocol"] => true,
            [_, second, ..] => !matches!(second, "modelcontextprotocol" | "mcp"),
            _ => true,
        },
    )
}

async fn meta_reverse_names(peer: &mut Peer) -> Judgement {
    each_key(
        peer,
        |key| !labels(key).is_empty(),
        |key| labels(key).len() > 1,
    )
}

async fn meta_trace(peer: &mut Peer) -> Judgement {
    let traced = |meta: &Value| meta.get("traceparent").map(shown);
    if each_meta(peer, traced).is_ok() {
        return Err(skipped("no message of the server has a trace context"));
    }
    each_meta(peer, |meta| {
        let parent = meta.get("traceparent")?;
        let is_valid = parent.as_str().is_some_and(is_trace_parent);
        (!is_valid).then(|| format!("`traceparent` is {}", shown(parent)))
    })
}

/// Returns true for version, trace, parent and flags in hexadecimal digits, with a dash between them.
fn is_trace_parent(text: &str) -> bool {
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let parts: Vec<&str> = text.split('-').collect();
    let sizes = [2, 32, 16, 2];
    // A later version may have more parts.
    parts.len() >= sizes.len()
        && parts
            .iter()
            .zip(sizes)
            .all(|(part, size)| part.len() == size && part.chars().all(is_hex))
}

async fn meta_object(peer: &mut Peer) -> Judgement {
    each_meta(peer, |meta| unless(meta.is_object(), meta))?;
    // The survey has a result, so that at least one message was judged.
    match value::object(&json!({ "opening": peer.survey.opening }), "opening") {
        None => Ok(()),
        Some(fault) => Err(observed(fault)),
    }
}
