//! Rules for names of tools and arguments.

use std::collections::BTreeMap;

use pintle_model::names::check_tool_name;
use pintle_surface::{EntryKind, Surface};
use serde_json::{Map, Value};

use crate::hit::Hit;
use crate::subschema::escape;

/// Length of the names of a server and a tool together from which Cursor drops the tool, in characters.
const CURSOR_NAMES: usize = 60;

pub(crate) fn name(tool: &Map<String, Value>) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn duplicate(surface: &Surface) -> Vec<Hit> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in surface.definitions(EntryKind::Tool) {
        *counts.entry(name(tool)).or_default() += 1;
    }
    let repeated = counts.into_iter().filter(|(_, count)| *count > 1);
    repeated
        .map(|(name, count)| Hit {
            tool: name.to_owned(),
            ..Hit::new("/name", format!("{count} tools"))
        })
        .collect()
}

pub(crate) fn mcp(tool: &Map<String, Value>) -> Vec<Hit> {
    unless(tool, |name| check_tool_name(name).is_ok())
}

pub(crate) fn letters_64(tool: &Map<String, Value>) -> Vec<Hit> {
    unless(tool, |name| has_only(name, 64, "_-"))
}

pub(crate) fn letters_128(tool: &Map<String, Value>) -> Vec<Hit> {
    unless(tool, |name| has_only(name, 128, "_-"))
}

pub(crate) fn gemini(tool: &Map<String, Value>) -> Vec<Hit> {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    unless(tool, |name| {
        name.starts_with(begins) && has_only(name, 64, "_.:-")
    })
}

pub(crate) fn properties(tool: &Map<String, Value>) -> Vec<Hit> {
    let schema = tool.get("inputSchema").and_then(Value::as_object);
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let names = properties
        .into_iter()
        .flat_map(|properties| properties.keys());
    names
        .filter(|name| !has_only(name, 64, "_.-"))
        .map(|name| {
            Hit::new(
                format!("/inputSchema/properties/{}", escape(name)),
                quoted(name),
            )
        })
        .collect()
}

pub(crate) fn cursor(surface: &Surface) -> Vec<Hit> {
    let server = surface.name().chars().count();
    let tools = surface.definitions(EntryKind::Tool).iter();
    let lengths = tools.map(|tool| (name(tool), server + name(tool).chars().count()));
    lengths
        .filter(|(_, length)| *length >= CURSOR_NAMES)
        .map(|(name, length)| Hit {
            tool: name.to_owned(),
            ..Hit::new(
                "/name",
                format!("{length} characters with the server's name"),
            )
        })
        .collect()
}

fn unless(tool: &Map<String, Value>, is_valid: impl Fn(&str) -> bool) -> Vec<Hit> {
    let name = name(tool);
    match is_valid(name) {
        true => Vec::new(),
        false => vec![Hit::new("/name", quoted(name))],
    }
}

fn has_only(name: &str, most: usize, others: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    (1..=most).contains(&name.chars().count()) && name.chars().all(is_allowed)
}

fn quoted(name: &str) -> String {
    format!("`{name}` ({} characters)", name.chars().count())
}
