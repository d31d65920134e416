//! From `oneOf` to `anyOf`, where both accept the same values.
//!
//! Strict modes of hosts refuse `oneOf`. A derived enum has one branch per variant, and no value fits
//! two of them. Where that cannot be shown, `oneOf` stays.

use std::mem::discriminant;

use pintle_model::JsonObject;
use serde_json::Value;

/// Limit on how deep members are compared, in levels: a tag is at the first.
const MAX_DEPTH: usize = 4;

/// Renames `oneOf` to `anyOf` if no value fits two branches.
pub(super) fn prefer_any_of(schema: &mut JsonObject) {
    let Some(Value::Array(branches)) = schema.get("oneOf") else {
        return;
    };
    if schema.contains_key("anyOf") || !are_disjoint(branches) {
        return;
    }
    for (keyword, value) in std::mem::take(schema) {
        let keyword = match keyword.as_str() {
            "oneOf" => "anyOf".to_owned(),
            _ => keyword,
        };
        schema.insert(keyword, value);
    }
}

fn are_disjoint(branches: &[Value]) -> bool {
    let mut numbered = branches.iter().enumerate();
    numbered.all(|(at, branch)| {
        let mut later = branches.iter().skip(at + 1);
        later.all(|other| excludes(branch, other, 0))
    })
}

/// Returns true if types, constants and required members show that no value fits both schemas.
fn excludes(first: &Value, second: &Value, depth: usize) -> bool {
    let (Value::Object(first), Value::Object(second)) = (first, second) else {
        return false;
    };
    has_other_type(first, second)
        || has_other_constant(first, second)
        || [(first, second), (second, first)].iter().any(|(one, two)| {
            lacks_required(one, two) || (depth < MAX_DEPTH && differs_in_member(one, two, depth))
        })
}

fn has_other_type(first: &JsonObject, second: &JsonObject) -> bool {
    let (first, second) = (kinds(first), kinds(second));
    let is_shared = |kind: &&str| second.contains(kind);
    !first.is_empty() && !second.is_empty() && !first.iter().any(is_shared)
}

/// The types that a schema names. An integer is a number.
fn kinds(schema: &JsonObject) -> Vec<&str> {
    let named: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let general = |kind| if kind == "integer" { "number" } else { kind };
    named.into_iter().map(general).collect()
}

fn has_other_constant(first: &JsonObject, second: &JsonObject) -> bool {
    let (Some(first), Some(second)) = (constants(first), constants(second)) else {
        return false;
    };
    !first
        .iter()
        .any(|one| second.iter().any(|two| may_equal(one, two)))
}

fn constants(schema: &JsonObject) -> Option<&[Value]> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values),
        (_, Some(value)) => Some(std::slice::from_ref(value)),
        _ => None,
    }
}

/// Numbers of different spelling are equal, also inside of lists and objects.
fn may_equal(first: &Value, second: &Value) -> bool {
    match first {
        Value::String(_) | Value::Bool(_) => first == second,
        _ => discriminant(first) == discriminant(second),
    }
}

/// Returns true if `second` requires a member that `first` does not allow.
fn lacks_required(first: &JsonObject, second: &JsonObject) -> bool {
    let is_closed = first.get("additionalProperties") == Some(&Value::Bool(false))
        && !first.contains_key("patternProperties");
    is_closed && required(second).any(|name| member(first, name).is_none())
}

/// Returns true if a member that `first` requires cannot fit both.
fn differs_in_member(first: &JsonObject, second: &JsonObject, depth: usize) -> bool {
    required(first).any(|name| {
        let both = member(first, name).zip(member(second, name));
        both.is_some_and(|(one, two)| excludes(one, two, depth + 1))
    })
}

/// The members that a value must have. Only objects have to have any.
fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    let names = schema.get("required").filter(|_| is_object);
    let names = names.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str)
}

fn member<'s>(schema: &'s JsonObject, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn becomes_any_of(branches: Value) -> bool {
        let mut schema = JsonObject::new();
        schema.insert("oneOf".to_owned(), branches);
        prefer_any_of(&mut schema);
        schema.contains_key("anyOf")
    }

    fn tagged(tag: Value) -> Value {
        json!({ "type": "object", "properties": { "kind": { "enum": [tag] } }, "required": ["kind"] })
    }

    #[test]
    fn branches_that_exclude_each_other_become_any_of() {
        let open = |name: &str| json!({ "type": "object", "properties": { name: {} }, "required": [name] });
        let closed = |name: &str| {
            let mut schema = open(name);
            schema["additionalProperties"] = json!(false);
            schema
        };
        for branches in [
            json!([{ "type": "string" }, { "type": ["object", "null"] }]),
            json!([{ "enum": ["a", "b"] }, { "const": "c" }, { "enum": [null] }]),
            json!([tagged(json!("a")), tagged(json!("b")), { "type": "null" }]),
            json!([closed("a"), closed("b"), { "type": "string", "enum": ["c"] }]),
            json!([closed("a"), open("b")]),
        ] {
            assert!(becomes_any_of(branches.clone()), "{branches}");
        }
    }

    #[test]
    fn branches_that_may_both_fit_stay_one_of() {
        for branches in [
            json!([{ "type": "integer" }, { "type": "number" }]),
            json!([{ "minimum": 1 }, { "maximum": 2 }]),
            json!([{ "enum": [1] }, { "enum": [1.0] }]),
            json!([tagged(json!(1)), tagged(json!(1.0))]),
            json!([tagged(json!("a")), { "type": "object" }]),
            json!([tagged(json!("a")), { "required": ["other"] }]),
            json!([{ "required": ["a"] }, { "additionalProperties": false }]),
            json!([{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/B" }]),
            json!([true, { "type": "string" }]),
        ] {
            assert!(!becomes_any_of(branches.clone()), "{branches}");
        }
    }

    #[test]
    fn one_of_stays_beside_any_of() {
        let mut schema = JsonObject::new();
        schema.insert("anyOf".to_owned(), json!([{ "minLength": 1 }]));
        schema.insert(
            "oneOf".to_owned(),
            json!([{ "enum": ["a"] }, { "enum": ["b"] }]),
        );
        let before = schema.clone();
        prefer_any_of(&mut schema);
        assert_eq!(schema, before);
    }
}
