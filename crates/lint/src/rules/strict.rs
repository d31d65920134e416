//! Rules of strict functions of OpenAI.

use serde_json::{Map, Value};

use super::schemas::members;
use crate::hit::Hit;
use crate::subschema::{all_subschemas, escape, is_object};

const MAX_DEPTH: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
const MAX_ENUM_VALUES: usize = 1_000;
const MAX_TEXT_CHARS: usize = 120_000;

pub(crate) fn additional(tool: &Map<String, Value>) -> Vec<Hit> {
    let schemas = all_subschemas(tool).into_iter();
    let objects = schemas.filter(|schema| is_object(schema.members));
    objects
        .filter(|schema| schema.members.get("additionalProperties") != Some(&Value::Bool(false)))
        .map(|schema| match schema.members.get("additionalProperties") {
            Some(value) => Hit::new(
                format!("{}/additionalProperties", schema.pointer),
                value.to_string(),
            ),
            None => Hit::new(schema.pointer, "no additionalProperties"),
        })
        .collect()
}

pub(crate) fn required(tool: &Map<String, Value>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for schema in all_subschemas(tool) {
        let required = schema.members.get("required").and_then(Value::as_array);
        let properties = schema.members.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flat_map(Map::keys) {
            let is_listed = |list: &Vec<Value>| list.iter().any(|one| one == name.as_str());
            if !required.is_some_and(is_listed) {
                let pointer = format!("{}/properties/{}", schema.pointer, escape(name));
                hits.push(Hit::new(pointer, "not required"));
            }
        }
    }
    hits
}

pub(crate) fn keyword(tool: &Map<String, Value>) -> Vec<Hit> {
    let names = [
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
    ];
    members(tool, &names)
}

pub(crate) fn depth(tool: &Map<String, Value>) -> Vec<Hit> {
    let deepest = all_subschemas(tool)
        .into_iter()
        .max_by_key(|schema| schema.objects);
    let deepest = deepest.filter(|schema| schema.objects > MAX_DEPTH);
    deepest
        .map(|schema| Hit::new(schema.pointer, format!("{} levels", schema.objects)))
        .into_iter()
        .collect()
}

pub(crate) fn properties(tool: &Map<String, Value>) -> Vec<Hit> {
    let count = sum(tool, |schema| keys(schema, "properties").count());
    above(count, MAX_PROPERTIES, "properties")
}

pub(crate) fn enum_values(tool: &Map<String, Value>) -> Vec<Hit> {
    let count = sum(tool, |schema| list(schema, "enum").count());
    above(count, MAX_ENUM_VALUES, "values")
}

pub(crate) fn text(tool: &Map<String, Value>) -> Vec<Hit> {
    let count = sum(tool, |schema| {
        let names = ["properties", "$defs", "definitions"];
        let names = names.into_iter().flat_map(|name| keys(schema, name));
        let names: usize = names.map(|name| name.chars().count()).sum();
        let values = list(schema, "enum").chain(schema.get("const"));
        let values: usize = values.map(|value| text_of(value).chars().count()).sum();
        names + values
    });
    above(count, MAX_TEXT_CHARS, "characters")
}

fn sum(tool: &Map<String, Value>, count: impl Fn(&Map<String, Value>) -> usize) -> usize {
    let schemas = all_subschemas(tool).into_iter();
    schemas.map(|schema| count(schema.members)).sum()
}

fn above(count: usize, most: usize, noun: &str) -> Vec<Hit> {
    match count > most {
        true => vec![Hit::new("/inputSchema", format!("{count} {noun}"))],
        false => Vec::new(),
    }
}

fn keys<'s>(schema: &'s Map<String, Value>, name: &str) -> impl Iterator<Item = &'s String> {
    let map = schema.get(name).and_then(Value::as_object);
    map.into_iter().flat_map(Map::keys)
}

fn list<'s>(schema: &'s Map<String, Value>, name: &str) -> impl Iterator<Item = &'s Value> {
    schema
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
