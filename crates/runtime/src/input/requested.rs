//! Rules for the schema of a form: its dialect, and fields without fields of their own.
//!
//! A server sends fields of known shapes alone. A client accepts unknown shapes, because its handler
//! may know them, and rejects only fields that no flat form has.
//!
//! Spec: [2026-07-28, Elicitation, Requested schema][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema

use pintle_model::{ElicitSchema, JsonObject, PrimitiveSchema};
use serde_json::Value;

use pintle_schema::check_foreign_dialect;

/// How deep alternatives of a field are searched for nested fields.
const MAX_DEPTH: usize = 8;

/// Checks a form that a server sent: its dialect is supported, and no field is nested.
///
/// # Errors
///
/// The reason, which names the dialect or the field.
pub fn check_requested_schema(schema: &ElicitSchema) -> Result<(), String> {
    check_dialect(schema)?;
    for (name, field) in schema.properties.iter() {
        if let PrimitiveSchema::Unknown(members) = field
            && is_nested(members, MAX_DEPTH)
        {
            return Err(not_flat(name));
        }
    }
    Ok(())
}

/// Checks a form before a server sends it: every field has one of the shapes of the protocol.
pub(super) fn check_own_schema(schema: &ElicitSchema) -> Result<(), String> {
    check_dialect(schema)?;
    let mut fields = schema.properties.iter();
    match fields.find(|(_, field)| matches!(field, PrimitiveSchema::Unknown(_))) {
        Some((name, _)) => Err(not_flat(name)),
        None => Ok(()),
    }
}

/// The fault of a field that is not part of a flat form.
pub(super) fn not_flat(name: &str) -> String {
    format!("the field {name:?} is not a text, number, yes or no, choice, or list of choices")
}

fn check_dialect(schema: &ElicitSchema) -> Result<(), String> {
    let Some(dialect) = &schema.dialect else {
        return Ok(());
    };
    let named = JsonObject::from_iter([("$schema".to_owned(), dialect.as_str().into())]);
    check_foreign_dialect(&named).map_err(|error| error.to_string())
}

/// Whether a field accepts objects, or lists of anything but text.
fn is_nested(field: &JsonObject, depth: usize) -> bool {
    let is = |kind: &str| is_type(field, kind);
    let has_fields = is("object") || field.contains_key("properties");
    let has_deep_items = is("array")
        && field
            .get("items")
            .and_then(Value::as_object)
            .is_some_and(|items| is_type(items, "array") || is_nested(items, depth));
    has_fields || has_deep_items || has_nested_alternative(field, depth)
}

fn has_nested_alternative(field: &JsonObject, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    let keywords = ["anyOf", "oneOf", "allOf"].into_iter();
    let alternatives = keywords
        .filter_map(|keyword| field.get(keyword)?.as_array())
        .flatten();
    let mut alternatives = alternatives.filter_map(Value::as_object);
    alternatives.any(|alternative| is_nested(alternative, depth))
}

fn is_type(field: &JsonObject, kind: &str) -> bool {
    match field.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(field: &Value) -> ElicitSchema {
        let schema = json!({ "type": "object", "properties": { "a": field } });
        serde_json::from_value(schema).expect("a form")
    }

    // spec: 2025-11-25 ELIC-16
    // spec: 2026-07-28 N-ELIC-05
    #[test]
    fn a_nested_field_is_rejected_by_its_name() {
        let object = json!({ "type": "object", "properties": { "b": { "type": "string" } } });
        for nested in [
            object.clone(),
            json!({ "type": "object" }),
            json!({ "properties": {} }),
            json!({ "type": ["object", "null"] }),
            json!({ "type": "array", "items": object }),
            json!({ "type": "array", "items": { "type": "array" } }),
            json!({ "anyOf": [object, { "type": "null" }] }),
            json!({ "allOf": [{ "oneOf": [{ "type": "object" }] }] }),
        ] {
            let schema = form(&nested);
            for check in [check_requested_schema, check_own_schema] {
                assert_eq!(check(&schema), Err(not_flat("a")), "{nested}");
            }
        }
    }

    // spec: 2025-11-25 ELIC-16
    #[test]
    fn a_field_of_an_unknown_shape_is_read_and_never_sent() {
        for unknown in [
            json!({ "type": "colour" }),
            json!({}),
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            json!({ "type": ["string", "null"] }),
            json!({ "type": "array", "items": { "type": "string" } }),
        ] {
            let schema = form(&unknown);
            assert_eq!(check_requested_schema(&schema), Ok(()), "{unknown}");
            assert_eq!(check_own_schema(&schema), Err(not_flat("a")), "{unknown}");
        }
    }

    #[test]
    fn alternatives_are_searched_to_a_bounded_depth() {
        let deep = |levels: usize| {
            let text = json!({ "type": "string" });
            (0..levels).fold(text, |field, _| json!({ "anyOf": [field] }))
        };
        assert_eq!(check_requested_schema(&form(&deep(7))), Ok(()));
        let rejected = check_requested_schema(&form(&deep(8)));
        assert_eq!(rejected, Err(not_flat("a")));
    }

    // spec: 2025-11-25 JSCH-06, JSCH-07
    #[test]
    fn an_unknown_dialect_is_rejected_by_its_name() {
        let named = |dialect: &str| {
            let mut schema = form(&json!({ "type": "string" }));
            schema.dialect = Some(dialect.to_owned());
            schema
        };
        for supported in [
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            assert_eq!(
                check_requested_schema(&named(supported)),
                Ok(()),
                "{supported}"
            );
        }
        for unknown in ["urn:unknown:dialect", "", "2020-12"] {
            for check in [check_requested_schema, check_own_schema] {
                let reason = check(&named(unknown)).expect_err("it is unknown");
                assert!(reason.contains(&format!("{unknown:?}")), "{reason}");
            }
        }
    }
}
