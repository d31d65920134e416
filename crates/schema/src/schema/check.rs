//! What every schema must satisfy before it is offered to anyone.

use pintle_model::JsonObject;
use serde_json::Value;

use super::SchemaError;
use super::header::header_bindings;
use super::keywords::{Child, value_of};
use super::reading::{Reading, named};
use super::reference::Document;

/// How deep schemas may nest, in levels: deeper ones exhaust the stacks of their readers.
pub(crate) const MAX_DEPTH: usize = 64;

/// How many schemas one document may hold: a bound on the work of everyone who reads it.
pub(crate) const MAX_SUBSCHEMAS: usize = 10_000;

/// The dialect that is spoken, with and without the empty fragment.
const DIALECTS: [&str; 2] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
];

/// Checks a schema of a tool's arguments.
///
/// # Errors
///
/// [`SchemaError`] names the first rule that is broken: the root describes an object, the dialect
/// is 2020-12, the size is bounded, references stay inside, header annotations are valid.
///
/// Spec: [2026-07-28, JSON Schema usage][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
pub fn check_input(schema: &JsonObject) -> Result<(), SchemaError> {
    check_root(schema)?;
    check_output(schema)?;
    header_bindings(schema).map(drop)
}

/// Checks a schema of a tool's structured content; its root may be anything.
///
/// # Errors
///
/// As [`check_input`], without the rules about the root and about headers.
pub fn check_output(schema: &JsonObject) -> Result<(), SchemaError> {
    check_dialect(schema)?;
    survey(schema, Reading::OURS).map(drop)
}

/// Walks the whole document once: bounds, shapes, anchors, references.
pub(crate) fn survey(schema: &JsonObject, reading: Reading) -> Result<Document<'_>, SchemaError> {
    let mut document = Document::new(schema);
    let mut references = Vec::new();
    let mut open = vec![(0, String::new(), schema)];
    let mut count = 1;
    while let Some((depth, pointer, schema)) = open.pop() {
        if !pointer.is_empty() && begins_document(&pointer, schema, reading)? {
            continue;
        }
        document.note_anchor(&pointer, schema);
        references.extend(value_of(schema, "$ref").map(|target| (pointer.clone(), target)));
        for child in reading.children(schema, &pointer) {
            count += 1;
            check_bounds(depth + 1, count, &child)?;
            if let Some(schema) = as_schema(&child)? {
                open.push((depth + 1, child.pointer, schema));
            }
        }
    }
    for (pointer, target) in references {
        document.resolve(&pointer, text(&pointer, target)?)?;
    }
    Ok(document)
}

fn check_root(schema: &JsonObject) -> Result<(), SchemaError> {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => Ok(()),
        Some(other) => Err(SchemaError::Root {
            found: format!("`type: {other}`"),
        }),
        None => Err(SchemaError::Root {
            found: "a schema without `type`".to_owned(),
        }),
    }
}

pub(crate) fn check_dialect(schema: &JsonObject) -> Result<(), SchemaError> {
    match schema.get("$schema") {
        None => Ok(()),
        Some(Value::String(dialect)) if DIALECTS.contains(&dialect.as_str()) => Ok(()),
        Some(_) => Err(SchemaError::Dialect {
            dialect: named(schema),
        }),
    }
}

/// Checks that a schema of another server names a dialect that is read here, or none.
///
/// # Errors
///
/// [`SchemaError::Dialect`].
pub fn check_foreign_dialect(schema: &JsonObject) -> Result<(), SchemaError> {
    Reading::foreign(schema).map(drop)
}

/// Whether a schema inside the document is a document of its own: its `$id` changes what
/// references below it mean. We offer none such; those of others are not looked into.
fn begins_document(
    pointer: &str,
    schema: &JsonObject,
    reading: Reading,
) -> Result<bool, SchemaError> {
    match reading.identity(schema) {
        Some(keyword) if !reading.is_foreign() => Err(SchemaError::Unsupported {
            pointer: pointer.to_owned(),
            keyword: keyword.to_owned(),
        }),
        found => Ok(found.is_some()),
    }
}

fn check_bounds(depth: usize, count: usize, child: &Child<'_>) -> Result<(), SchemaError> {
    if depth > MAX_DEPTH {
        return Err(SchemaError::TooDeep {
            pointer: child.pointer.clone(),
            limit: MAX_DEPTH,
        });
    }
    if count > MAX_SUBSCHEMAS {
        return Err(SchemaError::TooLarge {
            limit: MAX_SUBSCHEMAS,
        });
    }
    Ok(())
}

fn as_schema<'a>(child: &Child<'a>) -> Result<Option<&'a JsonObject>, SchemaError> {
    match child.schema {
        Value::Object(schema) => Ok(Some(schema)),
        Value::Bool(_) => Ok(None),
        _ => Err(SchemaError::Malformed {
            pointer: child.pointer.clone(),
            expected: "a schema: an object or a boolean",
        }),
    }
}

fn text<'a>(pointer: &str, value: &'a Value) -> Result<&'a str, SchemaError> {
    value.as_str().ok_or_else(|| SchemaError::Malformed {
        pointer: format!("{pointer}/$ref"),
        expected: "a string",
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value) -> Result<(), SchemaError> {
        check_input(schema.as_object().unwrap())
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(
            json!({}),
            |inner, _| json!({ "type": "object", "properties": { "a": inner } }),
        )
    }

    // spec: 2026-07-28 N-SCH-09
    #[test]
    fn an_input_schema_describes_an_object() {
        assert_eq!(
            check(json!({ "type": "object", "oneOf": [true], "$anchor": "a" })),
            Ok(())
        );
        for root in [
            json!({}),
            json!({ "type": "array" }),
            json!({ "type": ["object", "null"] }),
        ] {
            assert!(matches!(check(root), Err(SchemaError::Root { .. })));
        }
    }

    // spec: 2026-07-28 N-SCH-10
    #[test]
    fn an_output_schema_describes_anything() {
        let schema = json!({ "type": "array", "items": { "type": "integer" } });
        assert_eq!(check_output(schema.as_object().unwrap()), Ok(()));
    }

    // spec: 2026-07-28 N-SCH-01, N-SCH-02, N-SCH-03
    // spec: 2025-11-25 JSCH-05, JSCH-07
    #[test]
    fn only_the_default_dialect_is_spoken() {
        for dialect in DIALECTS {
            assert_eq!(
                check(json!({ "$schema": dialect, "type": "object" })),
                Ok(())
            );
        }
        for dialect in [json!("http://json-schema.org/draft-07/schema#"), json!(7)] {
            let refused = check(json!({ "$schema": dialect, "type": "object" }));
            assert!(matches!(refused, Err(SchemaError::Dialect { .. })));
        }
    }

    // spec: 2026-07-28 N-SCH-08
    #[test]
    fn depth_and_size_are_bounded() {
        assert_eq!(check(nested(MAX_DEPTH)), Ok(()));
        assert!(matches!(
            check(nested(MAX_DEPTH + 1)),
            Err(SchemaError::TooDeep { limit: 64, .. })
        ));
        let wide = |count| json!({ "type": "object", "anyOf": vec![json!({}); count] });
        assert_eq!(check(wide(MAX_SUBSCHEMAS - 1)), Ok(()));
        assert_eq!(
            check(wide(MAX_SUBSCHEMAS)),
            Err(SchemaError::TooLarge { limit: 10_000 })
        );
    }

    // spec: 2026-07-28 N-SCH-05, N-SCH-07
    // hardening: H-80
    #[test]
    fn a_reference_stays_in_the_document() {
        let with = |target: &str| {
            check(json!({
                "type": "object", "properties": { "a": { "$ref": target } }, "$defs": { "A": { "$anchor": "an" } },
            }))
        };
        for target in ["#", "#/$defs/A", "#an"] {
            assert_eq!(with(target), Ok(()));
        }
        assert!(matches!(
            with("https://a.example/s.json"),
            Err(SchemaError::RemoteRef { .. })
        ));
        assert!(matches!(
            with("#/$defs/B"),
            Err(SchemaError::DanglingRef { .. })
        ));
    }

    // spec: 2026-07-28 N-SCH-04
    // spec: 2025-11-25 JSCH-08
    #[test]
    fn a_malformed_schema_is_refused_with_its_pointer() {
        let refused = check(json!({ "type": "object", "properties": { "a": "string" } }));
        let Err(SchemaError::Malformed { pointer, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(pointer, "/properties/a");
    }
}
