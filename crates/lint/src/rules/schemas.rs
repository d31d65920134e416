//! Rules for schemas that several hosts share.

use serde_json::{Map, Value};

use crate::hit::Hit;
use crate::subschema::{all_subschemas, has_type};

pub(crate) fn root_object(tool: &Map<String, Value>) -> Vec<Hit> {
    match root(tool).and_then(|schema| schema.get("type")) {
        Some(Value::String(name)) if name == "object" => Vec::new(),
        Some(other) => vec![Hit::new("/inputSchema/type", other.to_string())],
        None => vec![Hit::new("/inputSchema", "no type")],
    }
}

pub(crate) fn root_combination(tool: &Map<String, Value>) -> Vec<Hit> {
    root_members(tool, &["oneOf", "anyOf", "allOf"])
}

pub(crate) fn root_keyword(tool: &Map<String, Value>) -> Vec<Hit> {
    root_members(tool, &["oneOf", "anyOf", "allOf", "enum", "not"])
}

/// Finds forms of older drafts: a list of schemas in `items`, and exclusive bounds that are not numbers.
pub(crate) fn older_draft(tool: &Map<String, Value>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for schema in all_subschemas(tool) {
        if schema.members.get("items").is_some_and(Value::is_array) {
            hits.push(Hit::new(format!("{}/items", schema.pointer), "a list"));
        }
        for name in ["exclusiveMinimum", "exclusiveMaximum"] {
            if let Some(Value::Bool(bound)) = schema.members.get(name) {
                hits.push(Hit::new(
                    format!("{}/{name}", schema.pointer),
                    bound.to_string(),
                ));
            }
        }
    }
    hits
}

pub(crate) fn items(tool: &Map<String, Value>) -> Vec<Hit> {
    let schemas = all_subschemas(tool).into_iter();
    let lacking = schemas.filter(|schema| {
        has_type(schema.members, "array") && !schema.members.contains_key("items")
    });
    lacking
        .map(|schema| Hit::new(schema.pointer, "no items"))
        .collect()
}

/// Finds members with these names in all schemas of a tool.
pub(crate) fn members(tool: &Map<String, Value>, names: &[&str]) -> Vec<Hit> {
    let schemas = all_subschemas(tool).into_iter();
    schemas
        .flat_map(|schema| {
            let found = names
                .iter()
                .filter(|name| schema.members.contains_key(**name));
            let hits = found.map(|name| Hit::new(format!("{}/{name}", schema.pointer), *name));
            hits.collect::<Vec<_>>()
        })
        .collect()
}

fn root(tool: &Map<String, Value>) -> Option<&Map<String, Value>> {
    tool.get("inputSchema")?.as_object()
}

fn root_members(tool: &Map<String, Value>, names: &[&str]) -> Vec<Hit> {
    let found = names
        .iter()
        .filter(|name| root(tool).is_some_and(|schema| schema.contains_key(**name)));
    found
        .map(|name| Hit::new(format!("/inputSchema/{name}"), *name))
        .collect()
}
