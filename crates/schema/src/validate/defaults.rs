//! Defaults that the handler would receive although the schema forbids them.

use pintle_model::JsonObject;
use serde_json::Value;

use super::needs::BOUNDS;
use super::{Validator, Violation};
use crate::schema::SchemaError;
use crate::schema::keywords::{children, value_of};

/// Checks every `default` in a schema against the bounds beside it. Other keywords are not checked: a
/// default may have another form than the schema.
///
/// # Errors
///
/// [`SchemaError::Default`] for the first that breaks one.
pub(super) fn check(schema: &JsonObject) -> Result<(), SchemaError> {
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = open.pop() {
        check_one(&pointer, schema)?;
        for child in children(schema, &pointer) {
            if let Value::Object(schema) = child.schema {
                open.push((child.pointer, schema));
            }
        }
    }
    Ok(())
}

fn check_one(pointer: &str, schema: &JsonObject) -> Result<(), SchemaError> {
    let Some(default) = value_of(schema, "default") else {
        return Ok(());
    };
    let bounds: JsonObject = schema
        .iter()
        .filter(|(keyword, _)| BOUNDS.contains(&keyword.as_str()))
        .map(|(keyword, bound)| (keyword.clone(), bound.clone()))
        .collect();
    if bounds.is_empty() {
        return Ok(());
    }
    let judged = Validator::compile(&bounds)?.validate(default);
    judged.map_err(|violations| SchemaError::Default {
        pointer: pointer.to_owned(),
        reason: violations.first().map_or_else(String::new, reason),
    })
}

fn reason(violation: &Violation) -> String {
    format!("expected {}, found {}", violation.expected, violation.found)
}

#[cfg(test)]
mod tests {
    // The fields are read by the derived schema only.
    #![allow(dead_code)]

    use schemars::JsonSchema;

    use crate::validate::Typed;

    fn zero() -> u32 {
        0
    }

    fn text() -> String {
        "abc".to_owned()
    }

    #[test]
    fn a_default_outside_its_bounds_is_refused() {
        #[derive(JsonSchema)]
        struct Number {
            #[schemars(range(min = 1), default = "zero")]
            limit: u32,
        }
        #[derive(JsonSchema)]
        struct Text {
            #[schemars(length(max = 2), default = "text")]
            code: String,
        }
        #[derive(JsonSchema)]
        struct Nested {
            inner: Number,
        }
        let refused = Typed::derive::<Number>().expect_err("is refused");
        assert_eq!(
            refused.to_string(),
            "invalid default at \"/properties/limit\": expected a number at least 1, found 0"
        );
        assert!(Typed::derive::<Text>().is_err());
        assert!(Typed::derive::<Nested>().is_err());
    }

    #[test]
    fn a_default_within_its_bounds_or_of_another_form_is_accepted() {
        #[derive(JsonSchema)]
        struct Fine {
            #[schemars(range(max = 50), default = "zero")]
            limit: u32,
            #[schemars(length(min = 3), default = "text")]
            code: String,
            #[schemars(range(min = 1))]
            count: Option<u32>,
        }
        #[derive(JsonSchema)]
        struct OtherForm {
            #[schemars(with = "String", length(min = 9), default = "zero")]
            limit: u32,
        }
        assert!(Typed::derive::<Fine>().is_ok());
        assert!(Typed::derive::<OtherForm>().is_ok());
    }
}
