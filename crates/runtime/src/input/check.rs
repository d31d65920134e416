//! Whether a form was filled in as it asks.
//!
//! Clients should check it, and servers must not count on that.

use pintle_model::{ElicitParams, InputRequest, JsonObject, Timestamp};
use serde_json::{Value, json};

use crate::validate::Validator;

/// Checks what was filled in against the form that was asked for. What is no form is not checked.
///
/// # Errors
///
/// What is wrong, in words.
pub fn check(request: &InputRequest, content: &Value) -> Result<(), String> {
    let InputRequest::Elicit(params) = request else {
        return Ok(());
    };
    let ElicitParams::Form(form) = &**params else {
        return Ok(());
    };
    let schema = json!(form.requested_schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        match content.get(name) {
            Some(value) if !is_valid(field, value) => {
                return Err(format!("the field {name:?} is not as it was asked for"));
            }
            None if form.requested_schema.is_required(name) => {
                return Err(format!("the field {name:?} is missing"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_valid(field: &Value, value: &Value) -> bool {
    match value {
        Value::String(text) => {
            is_type(field, &["string"])
                && is_within(field, text.chars().count() as f64, "minLength", "maxLength")
                && is_choice(field, text)
                && is_format(field, text)
                && is_pattern(field, text)
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let fits = is_type(field, &["number"])
                || (is_type(field, &["integer"]) && number.fract() == 0.0);
            fits && is_within(field, number, "minimum", "maximum")
        }
        Value::Bool(_) => is_type(field, &["boolean"]),
        Value::Array(items) => {
            is_type(field, &["array"])
                && is_within(field, items.len() as f64, "minItems", "maxItems")
                && items.iter().all(|item| is_item(&field["items"], item))
        }
        Value::Null | Value::Object(_) => false,
    }
}

fn is_item(items: &Value, item: &Value) -> bool {
    item.as_str().is_some_and(|word| is_choice(items, word))
}

fn is_type(field: &Value, names: &[&str]) -> bool {
    // A shape that is unknown here is the client's to check.
    field["type"]
        .as_str()
        .is_none_or(|name| names.contains(&name))
}

fn is_within(field: &Value, measure: f64, least: &str, most: &str) -> bool {
    let bound = |name: &str| field[name].as_f64();
    bound(least).is_none_or(|least| measure >= least)
        && bound(most).is_none_or(|most| measure <= most)
}

/// Whether a text has the form that the field names, if it names one of those that forms have.
fn is_format(field: &Value, text: &str) -> bool {
    match field["format"].as_str() {
        Some("email") => {
            let parts = text.rsplit_once('@');
            parts.is_some_and(|(name, host)| !name.is_empty() && is_word(host))
        }
        Some("uri") => text
            .split_once(':')
            .is_some_and(|(scheme, rest)| is_scheme(scheme) && is_word(rest)),
        Some("date") => is_instant(&format!("{text}T00:00:00Z")),
        Some("date-time") => is_instant(text),
        _ => true,
    }
}

/// Whether a text matches the pattern of its field. One that cannot be matched in linear time is the
/// client's to check.
fn is_pattern(field: &Value, text: &str) -> bool {
    let Some(pattern) = field.get("pattern") else {
        return true;
    };
    let schema = JsonObject::from_iter([("pattern".to_owned(), pattern.clone())]);
    match Validator::compile_foreign(&schema) {
        Ok(validator) => validator.validate(&text.into()).is_ok(),
        Err(_) => true,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn is_instant(text: &str) -> bool {
    Timestamp::new(text).to_system_time().is_some()
}

/// Whether a word is among the choices, if there are any.
fn is_choice(field: &Value, word: &str) -> bool {
    if let Some(words) = field["enum"].as_array() {
        return words.iter().any(|choice| choice == word);
    }
    let titled = field["oneOf"].as_array().or(field["anyOf"].as_array());
    titled.is_none_or(|choices| choices.iter().any(|choice| choice["const"] == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(properties: Value) -> InputRequest {
        let schema = json!({ "type": "object", "properties": properties, "required": ["a"] });
        let schema = serde_json::from_value(schema).expect("a form");
        ElicitParams::form("?", schema).into()
    }

    #[test]
    fn a_pattern_that_cannot_be_matched_in_linear_time_is_left_to_the_client() {
        let request = ask(json!({ "a": { "type": "string", "pattern": "^(?!x)" } }));
        assert_eq!(check(&request, &json!({ "a": "x" })), Ok(()));
    }

    // spec: 2025-11-25 ELIC-69
    // spec: 2026-07-28 N-ELIC-19
    #[test]
    fn a_form_is_checked_again() {
        let titled = json!([{ "const": "x", "title": "X" }]);
        for (field, good, bad) in [
            (
                json!({ "type": "string", "maxLength": 2 }),
                json!("ab"),
                json!("abc"),
            ),
            (
                json!({ "type": "string", "pattern": "^[a-z]+$" }),
                json!("ada"),
                json!("Ada"),
            ),
            (
                json!({ "type": "string", "format": "email" }),
                json!("ada@example.com"),
                json!("ada"),
            ),
            (
                json!({ "type": "string", "format": "uri" }),
                json!("urn:a"),
                json!("a b:c"),
            ),
            (
                json!({ "type": "string", "format": "date" }),
                json!("2026-07-28"),
                json!("28.07.2026"),
            ),
            (
                json!({ "type": "string", "format": "date-time" }),
                json!("2026-07-28T10:00:00+02:00"),
                json!("2026-07-28"),
            ),
            (
                json!({ "type": "integer", "minimum": 1 }),
                json!(1),
                json!(0),
            ),
            (json!({ "type": "integer" }), json!(2.0), json!(2.5)),
            (
                json!({ "type": "number", "maximum": 1 }),
                json!(0.5),
                json!(1.5),
            ),
            (json!({ "type": "boolean" }), json!(true), json!("true")),
            (
                json!({ "type": "string", "enum": ["x"] }),
                json!("x"),
                json!("y"),
            ),
            (
                json!({ "type": "string", "oneOf": titled }),
                json!("x"),
                json!("y"),
            ),
            (
                json!({ "type": "array", "items": { "type": "string", "enum": ["x"] } }),
                json!(["x"]),
                json!(["y"]),
            ),
            (
                json!({ "type": "array", "items": { "anyOf": titled }, "minItems": 1 }),
                json!(["x"]),
                json!([]),
            ),
        ] {
            let request = ask(json!({ "a": field }));
            assert_eq!(check(&request, &json!({ "a": good })), Ok(()), "{field}");
            assert!(check(&request, &json!({ "a": bad })).is_err(), "{field}");
            assert!(check(&request, &json!({})).is_err(), "it is required");
        }
    }
}
