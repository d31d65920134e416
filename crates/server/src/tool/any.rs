//! Any JSON Schema, for tools that are made at run time: the crate `jsonschema` enforces it.

use std::sync::Arc;

use pintle_model::JsonObject;
use serde_json::Value;

use pintle_schema::{SchemaError, Violation, header_bindings};

/// Greatest number of violations that a check reports.
const MAX_VIOLATIONS: usize = 16;

/// Greatest depth of the JSON of a schema, in levels.
const MAX_LEVELS: usize = 128;

/// Greatest number of JSON values in a schema.
const MAX_VALUES: usize = 100_000;

/// A compiled schema with keywords that [`Validator`](pintle_schema::Validator) does not enforce.
///
/// # Limits
///
/// A schema has at most 128 levels and 100,000 JSON values. The check of a value has no limit on its steps, so a schema
/// comes from an author whom the server trusts. `format` is a note to the reader.
#[derive(Debug, Clone)]
pub(super) struct AnyValidator(Arc<jsonschema::Validator>);

impl AnyValidator {
    /// Compiles the schema of a tool's arguments. It is read in the dialect that it names: drafts 4 to 7,
    /// 2019-09 or 2020-12, which is also the default.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the root is not an object, the schema is malformed or above a limit, or a reference
    /// leaves the document. No reference is fetched.
    pub(super) fn compile_input(schema: &JsonObject) -> Result<Self, SchemaError> {
        let schema_value = Value::Object(schema.clone());
        check_bounds(&schema_value)?;
        header_bindings(schema)?;
        let built = jsonschema::options()
            .should_validate_formats(false)
            .build(&schema_value);
        built
            .map(|validator| Self(Arc::new(validator)))
            .map_err(|error| SchemaError::Uncompilable {
                reason: error.to_string(),
            })
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// The violations in the order of the schema, 16 at most.
    pub(super) fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        let errors = self.0.iter_errors(value).take(MAX_VIOLATIONS);
        let violations: Vec<Violation> = errors.map(|error| violation(&error)).collect();
        if violations.is_empty() {
            return Ok(());
        }
        Err(violations)
    }
}

/// Describes an error without the text of the value.
fn violation(error: &jsonschema::ValidationError<'_>) -> Violation {
    let expected = format!("a value that fits {} of the schema", error.schema_path());
    Violation::new(
        error.instance_path().to_string(),
        expected,
        error.instance(),
    )
}

fn check_bounds(schema: &Value) -> Result<(), SchemaError> {
    let mut open = vec![(1, schema)];
    let mut count = 0;
    while let Some((level, value)) = open.pop() {
        count += 1;
        if count > MAX_VALUES {
            return Err(SchemaError::TooLarge { limit: MAX_VALUES });
        }
        if level > MAX_LEVELS {
            return Err(SchemaError::TooDeep {
                pointer: String::new(),
                limit: MAX_LEVELS,
            });
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (level + 1, item))),
            Value::Object(members) => open.extend(members.values().map(|item| (level + 1, item))),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compile(schema: Value) -> Result<AnyValidator, SchemaError> {
        match schema {
            Value::Object(schema) => AnyValidator::compile_input(&schema),
            other => panic!("{other} is not a schema"),
        }
    }

    #[test]
    fn unevaluated_properties_are_enforced_without_their_text() {
        let schema = json!({
            "type": "object",
            "allOf": [{ "properties": { "a": { "type": "integer" } } }],
            "unevaluatedProperties": false
        });
        let validator = compile(schema).expect("compiles");
        assert_eq!(validator.validate(&json!({ "a": 1 })), Ok(()));
        let violations = validator
            .validate(&json!({ "a": 1, "secret": "text" }))
            .expect_err("one property too many");
        assert_eq!(
            violations[0].to_string(),
            "the whole value: expected a value that fits /unevaluatedProperties of the schema, found an object of 2 members"
        );
    }

    #[test]
    fn look_around_and_older_dialects_are_enforced() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": { "word": { "pattern": "^(?!x)" } }
        });
        let validator = compile(schema).expect("compiles");
        assert!(validator.validate(&json!({ "word": "ab" })).is_ok());
        let violations = validator
            .validate(&json!({ "word": "xb" }))
            .expect_err("the pattern does not match");
        assert_eq!(violations[0].pointer, "/word");
    }

    #[test]
    fn a_reference_out_of_the_document_is_refused() {
        let schema = json!({ "type": "object", "$ref": "https://example.com/other" });
        assert!(matches!(
            compile(schema),
            Err(SchemaError::Uncompilable { .. })
        ));
    }

    #[test]
    fn a_schema_of_128_levels_compiles_and_one_of_129_does_not() {
        // One subschema has two levels: its object and `properties`.
        let nested = |levels: usize| {
            let inner = if levels.is_multiple_of(2) {
                json!({ "x": 1 })
            } else {
                json!(1)
            };
            (0..(levels - 1) / 2).fold(inner, |inner, _| json!({ "x": { "x": inner } }))
        };
        let depth = |levels| check_bounds(&nested(levels));
        assert_eq!(depth(128), Ok(()));
        assert!(matches!(depth(129), Err(SchemaError::TooDeep { .. })));
    }

    #[test]
    fn a_schema_of_100_000_values_is_within_the_limit_and_one_more_is_not() {
        let list = |count: usize| json!(vec![0; count - 1]);
        assert_eq!(check_bounds(&list(MAX_VALUES)), Ok(()));
        assert_eq!(
            check_bounds(&list(MAX_VALUES + 1)),
            Err(SchemaError::TooLarge { limit: MAX_VALUES })
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends_its_check() {
        let schema = json!({ "type": "object", "$ref": "#", "unevaluatedProperties": false });
        if let Ok(validator) = compile(schema) {
            let _ = validator.validate(&json!({}));
        }
    }
}
