//! Output schemas of any type, for revisions that know only objects.
//!
//! A value becomes the one member of an object, and its schema the schema of that member.

use serde_json::{Value, json};

use crate::content::{WRAPPED, wrap_value};
use crate::{JsonObject, Schema};

/// Where the wrapped schema stands in the wrapper.
const INNER: &str = "/properties/result";

/// Members of a schema whose members are schemas.
const MAPS: &[&str] = &[
    "$defs",
    "definitions",
    "properties",
    "patternProperties",
    "dependentSchemas",
];

/// Members of a schema that hold values, not schemas.
const VALUES: &[&str] = &["const", "enum", "default", "examples"];

/// Members of a schema that break when it is moved.
const IMMOVABLE: &[&str] = &["$id", "$dynamicRef", "$recursiveRef"];

/// Returns true if a schema declares the type object.
pub(super) fn is_object_schema(schema: &JsonObject) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// Wraps a schema in that of an object, unless it is one. `None` if it cannot be moved.
pub(super) fn wrap_schema(schema: Schema) -> Option<Schema> {
    if is_object_schema(&schema) {
        return Some(schema);
    }
    let mut schema = schema.into_object();
    move_refs(&mut schema)?;
    let mut wrapper = JsonObject::new();
    if let Some(dialect) = schema.shift_remove("$schema") {
        wrapper.insert("$schema".to_owned(), dialect);
    }
    wrapper.insert("type".to_owned(), "object".into());
    wrapper.insert("properties".to_owned(), wrap_value(schema.into()));
    wrapper.insert("required".to_owned(), json!([WRAPPED]));
    Some(wrapper.into())
}

/// Writes boolean schemas of properties as the objects that mean the same.
pub(super) fn spell_out_properties(schema: &mut Schema) {
    // A shared schema is copied before it changes, and most schemas need no change.
    if !has_boolean_properties(schema) {
        return;
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for property in properties.values_mut() {
        match property {
            Value::Bool(true) => *property = json!({}),
            Value::Bool(false) => *property = json!({"not": {}}),
            _ => {}
        }
    }
}

fn has_boolean_properties(schema: &JsonObject) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|properties| properties.values().any(Value::is_boolean))
}

/// Lets references inside of a schema follow it to its new place.
fn move_refs(schema: &mut JsonObject) -> Option<()> {
    for (name, member) in schema.iter_mut() {
        match (name.as_str(), member) {
            (name, _) if IMMOVABLE.contains(&name) => return None,
            (name, _) if VALUES.contains(&name) => {}
            ("$ref", Value::String(target)) => move_ref(target),
            (name, Value::Object(schemas)) if MAPS.contains(&name) => {
                schemas.values_mut().try_for_each(move_refs_below)?;
            }
            (_, member) => move_refs_below(member)?,
        }
    }
    Some(())
}

fn move_refs_below(member: &mut Value) -> Option<()> {
    match member {
        Value::Object(schema) => move_refs(schema),
        Value::Array(schemas) => schemas.iter_mut().try_for_each(move_refs_below),
        _ => Some(()),
    }
}

/// Pointers move with the schema; anchors and other documents stay where they are.
fn move_ref(target: &mut String) {
    if target == "#" || target.starts_with("#/") {
        target.insert_str(1, INNER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(schema: Value) -> Option<Value> {
        let Value::Object(schema) = schema else {
            unreachable!("tests give objects");
        };
        wrap_schema(schema.into()).map(|schema| Value::Object(schema.into()))
    }

    #[test]
    fn a_schema_of_an_object_is_left_alone() {
        let schema = json!({"type": "object", "$id": "x:y"});
        assert_eq!(wrapped(schema.clone()), Some(schema));
    }

    #[test]
    fn references_follow_a_schema_into_its_wrapper() {
        let schema = json!({"$schema": "d", "type": "array",
            "items": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#"}, {"$ref": "#anchor"}, {"$ref": "x:y#/z"}]},
            "$defs": {"a": {"properties": {"$ref": {"$ref": "#/$defs/a"}}, "const": {"$ref": "#/no"}}}});

        assert_eq!(
            wrapped(schema),
            Some(
                json!({"$schema": "d", "type": "object", "required": ["result"],
                "properties": {"result": {"type": "array",
                    "items": {"anyOf": [{"$ref": "#/properties/result/$defs/a"},
                        {"$ref": "#/properties/result"}, {"$ref": "#anchor"}, {"$ref": "x:y#/z"}]},
                    "$defs": {"a": {"properties": {"$ref": {"$ref": "#/properties/result/$defs/a"}},
                        "const": {"$ref": "#/no"}}}}}})
            )
        );
    }

    #[test]
    fn a_schema_that_cannot_be_moved_is_left_out() {
        for name in IMMOVABLE {
            assert_eq!(
                wrapped(json!({"type": "array", "items": {*name: "a"}})),
                None,
                "{name}"
            );
        }
        let property = json!({"anyOf": [{"properties": {"$id": {}}}]});
        assert!(wrapped(property).is_some());
    }
}
