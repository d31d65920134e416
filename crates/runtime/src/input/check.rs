//! Whether a form was filled in as it asks.
//!
//! Clients should check it, and servers must not count on that.

use pintle_model::{ElicitFormParams, ElicitParams, InputRequest, JsonObject, Timestamp};
use serde_json::{Value, json};

use pintle_schema::{Validator, write_as_integer};

/// How many choices an error names.
const NAMED_CHOICES: usize = 10;

/// Checks an answer against the form that was asked for. Answers to other questions are not checked.
///
/// # Errors
///
/// The reason, which names the field.
pub fn check(request: &InputRequest, content: &Value) -> Result<(), String> {
    let Some(form) = form_of(request) else {
        return Ok(());
    };
    let schema = json!(form.requested_schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        match content.get(name) {
            Some(value) => {
                check_field(field, value).map_err(|fault| format!("the field {name:?} {fault}"))?;
            }
            None if form.requested_schema.is_required(name) => {
                return Err(format!("the field {name:?} is missing"));
            }
            None => {}
        }
    }
    Ok(())
}

/// Writes the integers of an answer without a fraction: `3.0` is an integer, and no Rust integer is
/// decoded from it.
pub(super) fn write_integers(request: &InputRequest, content: &mut Value) {
    let Some(form) = form_of(request) else {
        return;
    };
    let schema = json!(form.requested_schema);
    for (name, value) in content.as_object_mut().into_iter().flatten() {
        if schema["properties"][name]["type"] == "integer" {
            write_as_integer(value);
        }
    }
}

fn form_of(request: &InputRequest) -> Option<&ElicitFormParams> {
    match request {
        InputRequest::Elicit(params) => match &**params {
            ElicitParams::Form(form) => Some(form),
            _ => None,
        },
        _ => None,
    }
}

/// Checks one field; an error reads on after the field's name.
fn check_field(field: &Value, value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => check_text(field, text),
        Value::Number(number) => check_number(field, number.as_f64().unwrap_or(f64::NAN)),
        Value::Bool(_) => check_type(field, &["boolean"]),
        Value::Array(items) => check_list(field, items),
        Value::Null | Value::Object(_) => Err(wrong_type(field)),
    }
}

fn check_text(field: &Value, text: &str) -> Result<(), String> {
    check_type(field, &["string"])?;
    let length = text.chars().count() as f64;
    let (min, max) = (bound(field, "minLength"), bound(field, "maxLength"));
    check_within(length, min, max, "is shorter than", "is longer than")
        .map_err(|fault| format!("{fault} characters"))?;
    check_choice(field, text)?;
    check_format(field, text)?;
    check_pattern(field, text)
}

fn check_number(field: &Value, number: f64) -> Result<(), String> {
    let is_whole = number.fract() == 0.0;
    let kinds: &[&str] = if is_whole {
        &["number", "integer"]
    } else {
        &["number"]
    };
    check_type(field, kinds)?;
    let (min, max) = (bound(field, "minimum"), bound(field, "maximum"));
    check_within(number, min, max, "is less than", "is more than")
}

fn check_list(field: &Value, items: &[Value]) -> Result<(), String> {
    check_type(field, &["array"])?;
    let (min, max) = (bound(field, "minItems"), bound(field, "maxItems"));
    check_within(
        items.len() as f64,
        min,
        max,
        "has fewer than",
        "has more than",
    )
    .map_err(|fault| format!("{fault} items"))?;
    items.iter().try_for_each(|item| {
        let word = item.as_str().ok_or("has an item that is not a text")?;
        let checked = check_choice(&field["items"], word);
        checked.map_err(|fault| format!("has an item that {fault}"))
    })
}

fn check_type(field: &Value, names: &[&str]) -> Result<(), String> {
    // A shape that is unknown here is the client's to check.
    let fits = field["type"]
        .as_str()
        .is_none_or(|name| names.contains(&name));
    fits.then_some(()).ok_or_else(|| wrong_type(field))
}

fn wrong_type(field: &Value) -> String {
    let expected = match field["type"].as_str() {
        Some("string") => "a text",
        Some("number") => "a number",
        Some("integer") => "an integer",
        Some("boolean") => "true or false",
        Some("array") => "a list",
        _ => "of its type",
    };
    format!("is not {expected}")
}

fn bound(field: &Value, name: &str) -> Option<f64> {
    field[name].as_f64()
}

fn check_within(
    measure: f64,
    min: Option<f64>,
    max: Option<f64>,
    below: &str,
    above: &str,
) -> Result<(), String> {
    match (min, max) {
        (Some(min), _) if measure < min => Err(format!("{below} {min}")),
        (_, Some(max)) if measure > max => Err(format!("{above} {max}")),
        _ => Ok(()),
    }
}

/// Whether a text has the format of its field, if that is one of the formats of forms.
fn check_format(field: &Value, text: &str) -> Result<(), String> {
    let (fits, expected) = match field["format"].as_str() {
        Some("email") => (is_address(text), "an email address"),
        Some("uri") => (is_uri(text), "a URI"),
        Some("date") => (
            is_instant(&format!("{text}T00:00:00Z")),
            "a date like 2026-07-28",
        ),
        Some("date-time") => (is_instant(text), "a time like 2026-07-28T12:00:00Z"),
        _ => return Ok(()),
    };
    fits.then_some(())
        .ok_or_else(|| format!("is not {expected}"))
}

fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && is_word(host))
}

fn is_uri(text: &str) -> bool {
    let parts = text.split_once(':');
    parts.is_some_and(|(scheme, rest)| is_scheme(scheme) && is_word(rest))
}

/// Whether a text matches the pattern of its field. One that cannot be matched in linear time is the
/// client's to check.
fn check_pattern(field: &Value, text: &str) -> Result<(), String> {
    let Some(pattern) = field.get("pattern") else {
        return Ok(());
    };
    let schema = JsonObject::from_iter([("pattern".to_owned(), pattern.clone())]);
    match Validator::compile_foreign(&schema) {
        Ok(validator) if validator.validate(&text.into()).is_err() => {
            Err(format!("does not match the pattern {pattern}"))
        }
        _ => Ok(()),
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
fn check_choice(field: &Value, word: &str) -> Result<(), String> {
    let titled = || field["oneOf"].as_array().or(field["anyOf"].as_array());
    let choices: Vec<&Value> = match (field["enum"].as_array(), titled()) {
        (Some(words), _) => words.iter().collect(),
        (None, Some(choices)) => choices.iter().map(|choice| &choice["const"]).collect(),
        (None, None) => return Ok(()),
    };
    if choices.iter().any(|choice| **choice == word) {
        return Ok(());
    }
    let named: Vec<_> = choices
        .iter()
        .take(NAMED_CHOICES)
        .map(|choice| choice.to_string())
        .collect();
    let more = if choices.len() > NAMED_CHOICES {
        ", …"
    } else {
        ""
    };
    Err(format!("is not one of {}{more}", named.join(", ")))
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
    fn an_error_names_the_field_and_its_rule() {
        let words: Vec<_> = (0..11).map(|at| format!("w{at}")).collect();
        for (field, answer, reason) in [
            (json!({ "type": "string" }), json!(5), "is not a text"),
            (
                json!({ "type": "integer" }),
                json!(2.5),
                "is not an integer",
            ),
            (json!({ "type": "number" }), json!("2"), "is not a number"),
            (
                json!({ "type": "boolean" }),
                json!(null),
                "is not true or false",
            ),
            (json!({ "type": "array" }), json!("a"), "is not a list"),
            (
                json!({ "type": "string", "minLength": 3 }),
                json!("ab"),
                "is shorter than 3 characters",
            ),
            (
                json!({ "type": "string", "maxLength": 1 }),
                json!("ab"),
                "is longer than 1 characters",
            ),
            (
                json!({ "type": "integer", "minimum": 1 }),
                json!(0),
                "is less than 1",
            ),
            (
                json!({ "type": "number", "maximum": 0.5 }),
                json!(1),
                "is more than 0.5",
            ),
            (
                json!({ "type": "string", "enum": ["a", "b"] }),
                json!("c"),
                "is not one of \"a\", \"b\"",
            ),
            (
                json!({ "type": "string", "format": "date" }),
                json!("today"),
                "is not a date like 2026-07-28",
            ),
            (
                json!({ "type": "string", "pattern": "^a$" }),
                json!("b"),
                "does not match the pattern \"^a$\"",
            ),
            (
                json!({ "type": "array", "minItems": 2, "items": { "enum": ["a"], "type": "string" } }),
                json!(["a"]),
                "has fewer than 2 items",
            ),
            (
                json!({ "type": "array", "items": { "enum": ["a"], "type": "string" } }),
                json!(["b"]),
                "has an item that is not one of \"a\"",
            ),
        ] {
            let request = ask(json!({ "a": field }));
            let expected = Err(format!("the field \"a\" {reason}"));
            assert_eq!(
                check(&request, &json!({ "a": answer })),
                expected,
                "{field}"
            );
        }
        let request = ask(json!({ "a": { "type": "string", "enum": words } }));
        let reason = check(&request, &json!({ "a": "x" })).expect_err("no choice");
        assert!(reason.ends_with("\"w9\", …"), "{reason}");
    }

    #[test]
    fn integers_are_written_without_a_fraction_where_one_was_asked_for() {
        let request = ask(json!({ "a": { "type": "integer" }, "b": { "type": "number" } }));
        let mut content = json!({ "a": 3.0, "b": 3.0, "c": 3.0 });
        assert_eq!(check(&request, &content), Ok(()));
        write_integers(&request, &mut content);
        assert_eq!(content.to_string(), r#"{"a":3,"b":3.0,"c":3.0}"#);
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
