//! Goes through the schemas inside of a schema.

use pintle_schema::{Subschemas, subschemas};
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

/// Returns the input schema of a tool and all schemas inside of it.
pub(crate) fn all_subschemas(tool: &Map<String, Value>) -> Vec<Subschema<'_>> {
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
    for (name, value) in members {
        let pointer = format!("{pointer}/{}", escape(name));
        match subschemas(name, value) {
            Some(Subschemas::One(inner)) => visit(pointer, inner, objects, found),
            Some(Subschemas::List(list)) => {
                for (index, inner) in list.iter().enumerate() {
                    visit(format!("{pointer}/{index}"), inner, objects, found);
                }
            }
            Some(Subschemas::Map(map)) => {
                for (key, inner) in map {
                    visit(format!("{pointer}/{}", escape(key)), inner, objects, found);
                }
            }
            None => {}
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
