//! Goes through the schemas inside of a schema.

use serde_json::{Map, Value};

/// A schema inside of the input schema of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Subschema<'s> {
    /// JSON pointer into the definition of the tool.
    pub(crate) pointer: String,
    pub(crate) members: &'s Map<String, Value>,
    /// Number of objects around this schema, and itself if it is one.
    pub(crate) objects: usize,
}

/// Members whose value is a schema.
const ONE: [&str; 12] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// Members whose value is a list of schemas.
const LISTS: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];

/// Members whose value is an object of schemas.
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Returns the input schema of a tool and all schemas inside of it.
pub(crate) fn subschemas(tool: &Map<String, Value>) -> Vec<Subschema<'_>> {
    let mut found = Vec::new();
    if let Some(root) = tool.get("inputSchema") {
        visit("/inputSchema".to_owned(), root, 0, &mut found);
    }
    found
}

/// Adds a schema and those inside. The depth of JSON is limited where it is read.
fn visit<'s>(pointer: String, schema: &'s Value, objects: usize, found: &mut Vec<Subschema<'s>>) {
    let Value::Object(members) = schema else {
        return;
    };
    let objects = objects + usize::from(is_object(members));
    for name in ONE {
        if let Some(inner) = members.get(name) {
            visit(format!("{pointer}/{name}"), inner, objects, found);
        }
    }
    for name in LISTS {
        let list = members.get(name).and_then(Value::as_array);
        for (index, inner) in list.into_iter().flatten().enumerate() {
            visit(format!("{pointer}/{name}/{index}"), inner, objects, found);
        }
    }
    for name in MAPS {
        let map = members.get(name).and_then(Value::as_object);
        for (key, inner) in map.into_iter().flatten() {
            let key = escape(key);
            visit(format!("{pointer}/{name}/{key}"), inner, objects, found);
        }
    }
    found.push(Subschema {
        pointer,
        members,
        objects,
    });
}

/// Returns true for a schema of objects.
pub(crate) fn is_object(members: &Map<String, Value>) -> bool {
    has_type(members, "object") || members.contains_key("properties")
}

/// Returns true if the schema has this type, alone or in a list.
pub(crate) fn has_type(members: &Map<String, Value>, name: &str) -> bool {
    match members.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(list)) => list.iter().any(|one| one == name),
        _ => false,
    }
}

/// Returns the name as a part of a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
