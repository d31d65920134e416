//! Text as the value that a schema wants.
//!
//! The most specific reading wins: `5` is a number where a number or a text will do. What has no
//! reading stays text, and the validator says what is wrong with it.

use serde_json::{Number, Value};

use super::guide::{Guide, Kinds};

/// How many lists within lists are made of plain text. A schema may say that the items of a list are
/// lists like itself, and the text does not grow shorter on the way; deeper ones are written as JSON.
const DEEPEST: usize = 8;

/// Reads a text as what is wanted.
pub(super) fn coerce(text: &str, guide: &Guide<'_>) -> Value {
    coerce_within(text, guide, 0)
}

fn coerce_within(text: &str, guide: &Guide<'_>, depth: usize) -> Value {
    if let Some(value) = guide.values().find(|value| is_shown_as(value, text)) {
        return value.clone();
    }
    let kinds = guide.kinds();
    if kinds.is_any() {
        return serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    }
    scalar(text, kinds)
        .or_else(|| container(text, kinds))
        .unwrap_or_else(|| match is_list(kinds) && depth < DEEPEST {
            true => list(text, guide, depth),
            false => Value::from(text),
        })
}

fn is_list(kinds: Kinds) -> bool {
    kinds.array && !kinds.string
}

fn is_shown_as(value: &Value, text: &str) -> bool {
    match value {
        Value::String(word) => word == text,
        other => serde_json::to_string(other).is_ok_and(|shown| shown == text),
    }
}

fn scalar(text: &str, kinds: Kinds) -> Option<Value> {
    let number = (kinds.number || kinds.integer)
        .then(|| number(text))
        .flatten();
    let boolean = kinds.boolean.then(|| boolean(text)).flatten();
    let null = (kinds.null && text == "null").then_some(Value::Null);
    number
        .map(Value::Number)
        .or(boolean.map(Value::Bool))
        .or(null)
}

/// A number as JSON writes them.
fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    serde_json::from_str(text).ok()
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// A list or an object written as JSON.
fn container(text: &str, kinds: Kinds) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    match &value {
        Value::Array(_) if kinds.array => Some(value),
        Value::Object(_) if kinds.object => Some(value),
        _ => None,
    }
}

/// A list written as text: separated by commas, unless its items may contain them.
fn list(text: &str, guide: &Guide<'_>, depth: usize) -> Value {
    let items = guide.item(0).kinds();
    let is_listed = guide.item(0).values().next().is_some();
    let may_have_commas =
        !is_listed && (items.is_any() || items.string || items.object || items.array);
    if text.is_empty() {
        return Value::Array(Vec::new());
    }
    let texts: Vec<&str> = match may_have_commas {
        true => vec![text],
        false => text.split(',').map(str::trim).collect(),
    };
    let texts = texts.into_iter().enumerate();
    texts
        .map(|(index, text)| coerce_within(text, &guide.item(index), depth + 1))
        .collect()
}
