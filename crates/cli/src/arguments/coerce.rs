//! Conversion of text to a value of the type in a schema.
//!
//! The most specific type applies: `5` is a number if the schema permits a number or a string. Text
//! that has no such type stays a string, and the validator reports the fault.

use serde_json::{Number, Value};

use super::guide::{Guide, Kinds};

/// Maximum depth of lists in lists from plain text. A schema can define the items of a list as the
/// same kind of list, and the text never gets shorter. Deeper lists must be written as JSON.
const DEEPEST: usize = 8;

/// Converts a text to a value of the type that the guide describes.
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

/// Parses a number in the form of JSON, with an optional `+`.
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

/// Parses a list or an object in the form of JSON.
fn container(text: &str, kinds: Kinds) -> Option<Value> {
    let value = serde_json::from_str(text).ok()?;
    match &value {
        Value::Array(_) if kinds.array => Some(value),
        Value::Object(_) if kinds.object => Some(value),
        _ => None,
    }
}

/// Converts text to a list. Commas separate items, unless an item may contain a comma.
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
