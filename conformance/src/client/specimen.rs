//! Values that fit a schema, for answers without a user.

use pintle::model::JsonObject;
use serde_json::{Value, json};

/// An object with every property that has no default.
pub(crate) fn object(schema: &Value) -> JsonObject {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| schema.get("default").is_none())
        .map(|(name, schema)| (name.clone(), value(schema)))
        .collect()
}

fn value(schema: &Value) -> Value {
    let named = schema.get("const").or_else(|| schema.get("enum")?.get(0));
    if let Some(value) = named {
        return value.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!(object(schema)),
        Some("null") => Value::Null,
        _ => json!("knot"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_with_a_default_are_left_out() {
        let schema = json!({ "properties": {
            "a": { "type": "number" },
            "b": { "enum": ["x", "y"] },
            "c": { "type": "string", "default": "z" },
            "d": { "type": "object", "properties": { "e": { "type": "boolean" } } },
        }});
        let fits = json!({ "a": 1, "b": "x", "d": { "e": true } });
        assert_eq!(Value::Object(object(&schema)), fits);
    }
}
