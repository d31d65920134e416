//! From lists of types to alternatives.
//!
//! Strict readers warn about `"type": ["string", "null"]`; all of them read `anyOf`.

use pintle_model::JsonObject;
use serde_json::{Value, json};

use super::keywords::visit;

/// Keywords that constrain no value. They stay beside the alternatives.
const ANNOTATIONS: [&str; 12] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$defs",
];

/// Splits every list of types in `root` into alternatives, each with the keywords of its type.
pub(super) fn split_type_lists(root: &mut Value) {
    visit(root, &mut |schema| {
        if let Some(branches) = branches(schema) {
            schema.retain(|keyword, _| keyword == "type" || is_annotation(keyword));
            for (keyword, value) in std::mem::take(schema) {
                if keyword == "type" {
                    schema.insert("anyOf".to_owned(), branches.clone().into());
                } else {
                    schema.insert(keyword, value);
                }
            }
        }
    });
}

/// One schema per type; `None` if a keyword may apply to several types.
fn branches(schema: &JsonObject) -> Option<Vec<Value>> {
    let kinds = schema.get("type")?.as_array()?;
    let kinds: Vec<&str> = kinds.iter().map(Value::as_str).collect::<Option<_>>()?;
    let is_split = |keyword: &String| {
        let kind = kind_of_keyword(keyword);
        matches!(keyword.as_str(), "type" | "enum") || kind.is_some() || is_annotation(keyword)
    };
    let has_one_number = !(kinds.contains(&"integer") && kinds.contains(&"number"));
    if kinds.len() < 2 || !has_one_number || !schema.keys().all(is_split) {
        return None;
    }
    let branches: Vec<Value> = kinds
        .iter()
        .filter_map(|kind| branch(schema, kind))
        .collect();
    (branches.len() > 1).then_some(branches)
}

/// The alternative of one type; `None` if no listed value has this type.
fn branch(schema: &JsonObject, kind: &str) -> Option<Value> {
    let mut branch = JsonObject::new();
    branch.insert("type".to_owned(), json!(kind));
    for (keyword, value) in schema {
        if keyword == "enum" {
            let mut values = value.as_array()?.clone();
            values.retain(|value| kind_of_value(value) == general(kind));
            if values.is_empty() {
                return None;
            }
            if kind != "null" {
                branch.insert(keyword.clone(), values.into());
            }
        } else if kind_of_keyword(keyword) == Some(general(kind)) {
            branch.insert(keyword.clone(), value.clone());
        }
    }
    Some(Value::Object(branch))
}

fn general(kind: &str) -> &str {
    if kind == "integer" { "number" } else { kind }
}

fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

fn kind_of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The one type that a keyword constrains.
fn kind_of_keyword(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding"
        | "contentMediaType" => "string",
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
        | "minContains" | "maxContains" => "array",
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties" => "object",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(mut schema: Value) -> Value {
        split_type_lists(&mut schema);
        schema
    }

    #[test]
    fn each_type_has_its_own_keywords() {
        let list = json!({
            "description": "A name or a count.",
            "type": ["string", "integer", "null"],
            "minLength": 1, "minimum": 0, "default": null,
        });
        let split_up = json!({
            "description": "A name or a count.",
            "anyOf": [
                { "type": "string", "minLength": 1 },
                { "type": "integer", "minimum": 0 },
                { "type": "null" },
            ],
            "default": null,
        });
        assert_eq!(split(list), split_up);
    }

    #[test]
    fn listed_values_stand_beside_their_type() {
        let list = json!({ "type": ["string", "null"], "enum": ["a", "b", null] });
        let split_up =
            json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] });
        assert_eq!(split(list), split_up);
    }

    #[test]
    fn a_keyword_of_several_types_keeps_the_list() {
        for schema in [
            json!({ "type": ["string", "null"], "not": { "const": "a" } }),
            json!({ "type": ["string", "null"], "enum": ["a"] }),
            json!({ "type": ["integer", "number"], "minimum": 0 }),
            json!({ "type": ["string"] }),
        ] {
            assert_eq!(split(schema.clone()), schema);
        }
    }
}
