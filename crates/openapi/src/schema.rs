//! Schemas of OpenAPI as JSON Schema 2020-12.

use pintle_schema::{Subschemas, subschemas};
use serde_json::{Map, Value, json};

use crate::error::UnsupportedOperationError;

type Result<T> = std::result::Result<T, UnsupportedOperationError>;

/// The deepest schema.
pub(crate) const MAX_DEPTH: usize = 64;

/// Keywords that have no meaning for a caller, or that would change the meaning of references.
const DROPPED: [&str; 10] = [
    "$anchor",
    "$defs",
    "$id",
    "$schema",
    "definitions",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "xml",
];

/// A conversion of the schemas of one operation.
pub(crate) trait References {
    /// Returns the reference to use for a reference of the document.
    fn refer(&mut self, reference: &str) -> Result<String>;

    /// Counts one value.
    fn count(&mut self) -> Result<()>;

    /// Counts a text: one value for each 64 bytes, because many operations may copy one long text.
    fn count_text(&mut self, text: &str) -> Result<()>;

    /// Returns true for a document of OpenAPI 3.0, whose schemas are a dialect of their own.
    fn is_3_0(&self) -> bool;
}

/// Converts a schema.
///
/// Properties that only responses have (`readOnly`) are removed.
pub(crate) fn convert(
    schema: &Value,
    references: &mut impl References,
    depth: usize,
) -> Result<Value> {
    if depth > MAX_DEPTH {
        return Err(UnsupportedOperationError::TooDeep);
    }
    references.count()?;
    let schema = match schema {
        Value::Bool(_) => return Ok(schema.clone()),
        Value::Object(schema) => schema,
        _ => return Err(UnsupportedOperationError::malformed("schema")),
    };
    let mut converted = Map::new();
    if let Some(reference) = schema.get("$ref") {
        let reference = reference
            .as_str()
            .ok_or_else(|| UnsupportedOperationError::malformed("$ref"))?;
        references.count_text(reference)?;
        converted.insert("$ref".to_owned(), references.refer(reference)?.into());
        if references.is_3_0() {
            // OpenAPI 3.0 ignores the members beside a reference.
            return Ok(Value::Object(converted));
        }
    }
    for (keyword, value) in schema {
        if keyword == "$ref" || keyword.starts_with("x-") || DROPPED.contains(&&**keyword) {
            continue;
        }
        references.count_text(keyword)?;
        let value = keyword_value(keyword, value, references, depth)?;
        converted.insert(keyword.clone(), value);
    }
    remove_read_only(schema, &mut converted);
    if references.is_3_0() {
        modernize(&mut converted);
    }
    Ok(Value::Object(converted))
}

fn keyword_value(
    keyword: &str,
    value: &Value,
    references: &mut impl References,
    depth: usize,
) -> Result<Value> {
    match subschemas(keyword, value) {
        Some(Subschemas::List(schemas)) => {
            let schemas = schemas
                .iter()
                .map(|schema| convert(schema, references, depth + 1));
            schemas.collect::<Result<Vec<_>>>().map(Value::Array)
        }
        Some(Subschemas::Map(schemas)) => {
            let schemas = schemas.iter().map(|(name, schema)| {
                references.count_text(name)?;
                let schema = match schema {
                    // An entry of `dependencies` may be a list of names.
                    Value::Array(_) => copied(schema, references, depth + 1)?,
                    schema => convert(schema, references, depth + 1)?,
                };
                Ok((name.clone(), schema))
            });
            schemas.collect::<Result<Map<_, _>>>().map(Value::Object)
        }
        Some(Subschemas::One(schema)) => convert(schema, references, depth + 1),
        None => copied(value, references, depth),
    }
}

/// Copies a value that is not a schema, such as a default.
fn copied(value: &Value, references: &mut impl References, depth: usize) -> Result<Value> {
    if depth > MAX_DEPTH {
        return Err(UnsupportedOperationError::TooDeep);
    }
    references.count()?;
    match value {
        Value::Array(items) => {
            let items = items.iter().map(|item| copied(item, references, depth + 1));
            items.collect::<Result<Vec<_>>>().map(Value::Array)
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| {
                references.count_text(name)?;
                Ok((name.clone(), copied(member, references, depth + 1)?))
            });
            members.collect::<Result<Map<_, _>>>().map(Value::Object)
        }
        Value::String(text) => {
            references.count_text(text)?;
            Ok(value.clone())
        }
        other => Ok(other.clone()),
    }
}

fn remove_read_only(schema: &Map<String, Value>, converted: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_read_only =
        |(name, property): (&String, &Value)| (property["readOnly"] == true).then(|| name.clone());
    for name in properties.into_iter().flatten().filter_map(is_read_only) {
        if let Some(Value::Object(properties)) = converted.get_mut("properties") {
            properties.shift_remove(&name);
        }
        if let Some(Value::Array(required)) = converted.get_mut("required") {
            required.retain(|required| *required != *name);
        }
    }
}

/// Converts the keywords of OpenAPI 3.0 that JSON Schema 2020-12 does not have.
fn modernize(schema: &mut Map<String, Value>) {
    for (exclusive, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        if let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) {
            let is_exclusive = *is_exclusive;
            schema.shift_remove(exclusive);
            if is_exclusive && let Some(bound) = schema.shift_remove(bound) {
                schema.insert(exclusive.to_owned(), bound);
            }
        }
    }
    let is_nullable = schema.shift_remove("nullable") == Some(Value::Bool(true));
    if is_nullable && let Some(Value::String(name)) = schema.get("type") {
        let types = json!([name, "null"]);
        schema.insert("type".to_owned(), types);
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain {
        is_3_0: bool,
        left: usize,
    }

    impl References for Plain {
        fn refer(&mut self, reference: &str) -> Result<String> {
            Ok(reference.to_uppercase())
        }

        fn count(&mut self) -> Result<()> {
            self.left = self
                .left
                .checked_sub(1)
                .ok_or(UnsupportedOperationError::TooDeep)?;
            Ok(())
        }

        fn count_text(&mut self, text: &str) -> Result<()> {
            let left = self.left.checked_sub(text.len() / 64);
            self.left = left.ok_or(UnsupportedOperationError::TooDeep)?;
            Ok(())
        }

        fn is_3_0(&self) -> bool {
            self.is_3_0
        }
    }

    fn converted(schema: Value, is_3_0: bool) -> Value {
        convert(&schema, &mut Plain { is_3_0, left: 100 }, 0).expect("a schema")
    }

    #[test]
    fn keywords_of_3_0_become_those_of_json_schema() {
        let schema =
            json!({ "type": "string", "nullable": true, "enum": ["a"], "example": "a", "x-y": 1 });
        assert_eq!(
            converted(schema, true),
            json!({ "type": ["string", "null"], "enum": ["a", null] })
        );
        let schema = json!({ "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false });
        assert_eq!(
            converted(schema, true),
            json!({ "exclusiveMinimum": 1, "maximum": 9 })
        );
        let schema = json!({ "$ref": "#/a", "description": "ignored" });
        assert_eq!(converted(schema.clone(), true), json!({ "$ref": "#/A" }));
        assert_eq!(
            converted(schema, false),
            json!({ "$ref": "#/A", "description": "ignored" })
        );
    }

    #[test]
    fn names_of_properties_are_not_keywords() {
        let schema = json!({ "properties": { "example": { "$ref": "#/a" }, "x-y": { "items": { "xml": {} } } } });
        let expected =
            json!({ "properties": { "example": { "$ref": "#/A" }, "x-y": { "items": {} } } });
        assert_eq!(converted(schema, false), expected);
    }

    #[test]
    fn read_only_properties_are_left_out() {
        let schema = json!({ "required": ["id", "name"], "properties": { "id": { "readOnly": true }, "name": {} } });
        assert_eq!(
            converted(schema, false),
            json!({ "required": ["name"], "properties": { "name": {} } })
        );
    }

    #[test]
    fn deep_and_large_schemas_are_refused() {
        let mut deep = json!({});
        for _ in 0..=MAX_DEPTH {
            deep = json!({ "items": deep });
        }
        let mut references = Plain {
            is_3_0: false,
            left: 1_000,
        };
        assert!(convert(&deep, &mut references, 0).is_err());
        let mut references = Plain {
            is_3_0: false,
            left: 5,
        };
        assert!(convert(&json!({ "enum": [1, 2, 3, 4, 5] }), &mut references, 0).is_err());
    }
}
