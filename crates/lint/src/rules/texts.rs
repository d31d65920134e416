//! Rules for descriptions and other texts that a model reads.

use std::collections::BTreeMap;

use pintle_surface::{EntryKind, Surface, is_hidden};
use serde_json::{Map, Value};

use super::names::name;
use crate::hit::Hit;
use crate::subschema::escape;

/// Beginnings of commands to a model, in lower case with single blanks.
const COMMANDS: [&str; 16] = [
    "ignore previous",
    "ignore all previous",
    "ignore prior",
    "ignore the above",
    "ignore all other",
    "ignore any other",
    "ignore your instructions",
    "disregard previous",
    "disregard all",
    "do not tell the user",
    "don't tell the user",
    "without telling the user",
    "do not mention this",
    "do not inform the user",
    "<important>",
    "before using any other tool",
];

pub(crate) fn missing(tool: &Map<String, Value>) -> Vec<Hit> {
    match description(tool).trim().is_empty() {
        true => vec![Hit::new("/description", "no description")],
        false => Vec::new(),
    }
}

pub(crate) fn duplicate(surface: &Surface) -> Vec<Hit> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut hits = Vec::new();
    for tool in surface.definitions(EntryKind::Tool) {
        let (name, description) = (name(tool), description(tool).trim());
        match first.get(description) {
            _ if description.is_empty() => {}
            None => drop(first.insert(description, name)),
            Some(other) => hits.push(Hit {
                tool: name.to_owned(),
                ..Hit::new("/description", format!("the description of `{other}`"))
            }),
        }
    }
    hits
}

pub(crate) fn longer_than_1024(tool: &Map<String, Value>) -> Vec<Hit> {
    longer_than(tool, 1024)
}

pub(crate) fn longer_than_2048(tool: &Map<String, Value>) -> Vec<Hit> {
    longer_than(tool, 2048)
}

pub(crate) fn hidden(surface: &Surface) -> Vec<Hit> {
    each_text(surface, |text| {
        let shown = text
            .char_indices()
            .filter(|(at, c)| is_secret(&text[..*at], *c));
        let shown: String = shown.map(|(_, c)| c).take(8).collect();
        (!shown.is_empty()).then_some(shown)
    })
}

pub(crate) fn instruction(surface: &Surface) -> Vec<Hit> {
    each_text(surface, |text| {
        let text = text.to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let command = COMMANDS.iter().find(|command| text.contains(**command))?;
        Some((*command).to_owned())
    })
}

/// Returns true for a hidden character that is not a line end, a tab, or a part of a pictograph.
fn is_secret(before: &str, c: char) -> bool {
    let is_joined = matches!(c, '\u{fe0f}' | '\u{200d}')
        && before.chars().next_back().is_some_and(
            |c| matches!(c, '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'),
        );
    is_hidden(c) && !matches!(c, '\n' | '\r' | '\t') && !is_joined
}

/// Applies a check to the instructions, and to each text and name in the definitions.
fn each_text(surface: &Surface, check: impl Fn(&str) -> Option<String>) -> Vec<Hit> {
    let mut hits = Vec::new();
    if let Some(found) = surface.instructions().and_then(&check) {
        hits.push(Hit::new("/instructions", found));
    }
    let kinds = [
        EntryKind::Tool,
        EntryKind::Prompt,
        EntryKind::Resource,
        EntryKind::ResourceTemplate,
    ];
    for definition in kinds.iter().flat_map(|kind| surface.definitions(*kind)) {
        let mut inner = Vec::new();
        visit_members("", definition, &check, &mut inner);
        hits.extend(inner.into_iter().map(|hit| Hit {
            tool: name(definition).to_owned(),
            ..hit
        }));
    }
    hits
}

fn visit_members(
    pointer: &str,
    members: &Map<String, Value>,
    check: &impl Fn(&str) -> Option<String>,
    hits: &mut Vec<Hit>,
) {
    for (name, value) in members {
        let pointer = format!("{pointer}/{}", escape(name));
        if let Some(found) = check(name) {
            hits.push(Hit::new(pointer.clone(), found));
        }
        visit(pointer, value, check, hits);
    }
}

fn visit(
    pointer: String,
    value: &Value,
    check: &impl Fn(&str) -> Option<String>,
    hits: &mut Vec<Hit>,
) {
    match value {
        Value::String(text) => hits.extend(check(text).map(|found| Hit::new(pointer, found))),
        Value::Object(members) => visit_members(&pointer, members, check, hits),
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                visit(format!("{pointer}/{index}"), value, check, hits);
            }
        }
        _ => {}
    }
}

fn longer_than(tool: &Map<String, Value>, most: usize) -> Vec<Hit> {
    let length = description(tool).chars().count();
    match length > most {
        true => vec![Hit::new("/description", format!("{length} characters"))],
        false => Vec::new(),
    }
}

fn description(tool: &Map<String, Value>) -> &str {
    let description = tool.get("description").and_then(Value::as_str);
    description.unwrap_or_default()
}
