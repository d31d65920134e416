//! Rules for schemas of Gemini.

use serde_json::{Map, Value};

use super::schemas::members;
use crate::hit::Hit;
use crate::subschema::{all_subschemas, has_type};

pub(crate) fn reference(tool: &Map<String, Value>) -> Vec<Hit> {
    let beside = ["$ref", "description", "default"];
    let schemas = all_subschemas(tool).into_iter();
    let references = schemas.filter(|schema| schema.members.contains_key("$ref"));
    references
        .filter_map(|schema| {
            let mut names = schema.members.keys();
            let other = names.find(|name| !beside.contains(&name.as_str()))?;
            Some(Hit::new(
                format!("{}/$ref", schema.pointer),
                format!("{other} beside $ref"),
            ))
        })
        .collect()
}

pub(crate) fn required(tool: &Map<String, Value>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for schema in all_subschemas(tool) {
        let properties = schema.members.get("properties").and_then(Value::as_object);
        let required = schema.members.get("required").and_then(Value::as_array);
        for (index, name) in required.into_iter().flatten().enumerate() {
            let is_known = |properties: &Map<String, Value>| {
                name.as_str()
                    .is_some_and(|name| properties.contains_key(name))
            };
            if !properties.is_some_and(is_known) {
                let pointer = format!("{}/required/{index}", schema.pointer);
                hits.push(Hit::new(pointer, name.to_string()));
            }
        }
    }
    hits
}

pub(crate) fn enum_texts(tool: &Map<String, Value>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for schema in all_subschemas(tool) {
        let values = schema.members.get("enum").and_then(Value::as_array);
        let other = values
            .into_iter()
            .flatten()
            .find(|value| !value.is_string());
        if let Some(other) = other {
            hits.push(Hit::new(
                format!("{}/enum", schema.pointer),
                other.to_string(),
            ));
        }
    }
    hits
}

pub(crate) fn keyword(tool: &Map<String, Value>) -> Vec<Hit> {
    let names = [
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "const",
        "patternProperties",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ];
    members(tool, &names)
}

pub(crate) fn type_list(tool: &Map<String, Value>) -> Vec<Hit> {
    let schemas = all_subschemas(tool).into_iter();
    schemas
        .filter_map(|schema| {
            let types = schema
                .members
                .get("type")
                .filter(|types| types.is_array())?;
            Some(Hit::new(
                format!("{}/type", schema.pointer),
                types.to_string(),
            ))
        })
        .collect()
}

pub(crate) fn format(tool: &Map<String, Value>) -> Vec<Hit> {
    let schemas = all_subschemas(tool).into_iter();
    schemas
        .filter(|schema| has_type(schema.members, "string"))
        .filter_map(|schema| {
            let format = schema.members.get("format")?.as_str()?;
            let is_known = ["enum", "date-time"].contains(&format);
            (!is_known).then(|| Hit::new(format!("{}/format", schema.pointer), format))
        })
        .collect()
}
