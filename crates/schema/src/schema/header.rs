//! Which parameters of a tool are mirrored into HTTP headers.
//!
//! A parameter annotated `x-mcp-header: "Region"` travels as `Mcp-Param-Region` too, so that
//! routers need not read bodies. This reads the annotations of one tool; comparing headers with
//! bodies is the transport's work.

use std::collections::HashSet;

use pintle_model::JsonObject;
use serde_json::Value;

use super::SchemaError;
use super::error::HeaderBindingError;
use super::keywords::{children, value_of};

const ANNOTATION: &str = "x-mcp-header";

/// One parameter that is mirrored into a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderBinding {
    /// The annotated name: the part after `Mcp-Param-` of the header's name.
    pub name: String,
    /// The names of the properties that lead from the arguments to the value.
    pub path: Vec<String>,
    /// The type of the value.
    pub kind: HeaderKind,
}

/// The types a mirrored parameter can have. The specification closes this set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderKind {
    /// A string of any length.
    String,
    /// An integer between -(2^53-1) and 2^53-1.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// Reads the header annotations of a tool's input schema, in the order they are written.
///
/// # Errors
///
/// [`SchemaError::Header`] if one annotation is invalid; clients drop such a tool altogether.
///
/// Spec: [2026-07-28, Tools][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/tools
pub fn header_bindings(schema: &JsonObject) -> Result<Vec<HeaderBinding>, SchemaError> {
    let mut bindings = Vec::new();
    let mut names = HashSet::new();
    let mut open = vec![(String::new(), Some(Vec::new()), schema)];
    while let Some((pointer, path, schema)) = open.pop() {
        if let Some(annotation) = value_of(schema, ANNOTATION) {
            let binding = bind(annotation, path.as_deref(), schema)
                .and_then(
                    |binding| match names.insert(binding.name.to_ascii_lowercase()) {
                        true => Ok(binding),
                        false => Err(HeaderBindingError::Duplicate),
                    },
                )
                .map_err(|fault| SchemaError::Header {
                    pointer: pointer.clone(),
                    fault,
                })?;
            bindings.push(binding);
        }
        for child in children(schema, &pointer).into_iter().rev() {
            let reached = step(path.as_deref(), child.keyword, child.name);
            if let Some(schema) = child.schema.as_object() {
                open.push((child.pointer, reached, schema));
            }
        }
    }
    Ok(bindings)
}

/// The path to a child, if it can be reached at all.
fn step(path: Option<&[String]>, keyword: &str, name: Option<&str>) -> Option<Vec<String>> {
    match (path, keyword, name) {
        (Some(path), "properties", Some(name)) => Some([path, &[name.to_owned()]].concat()),
        _ => None,
    }
}

fn bind(
    annotation: &Value,
    path: Option<&[String]>,
    schema: &JsonObject,
) -> Result<HeaderBinding, HeaderBindingError> {
    let path = path
        .filter(|path| !path.is_empty())
        .ok_or(HeaderBindingError::Unreachable)?;
    let name = annotation
        .as_str()
        .filter(|name| is_token(name))
        .ok_or(HeaderBindingError::Name)?;
    Ok(HeaderBinding {
        name: name.to_owned(),
        path: path.to_vec(),
        kind: kind(schema)?,
    })
}

fn kind(schema: &JsonObject) -> Result<HeaderKind, HeaderBindingError> {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => Ok(HeaderKind::String),
        Some("integer") => Ok(HeaderKind::Integer),
        Some("boolean") => Ok(HeaderKind::Boolean),
        _ => Err(HeaderBindingError::Type),
    }
}

/// Whether `name` is a token of RFC 9110.
fn is_token(name: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_tchar)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bindings(schema: Value) -> Result<Vec<HeaderBinding>, SchemaError> {
        header_bindings(schema.as_object().unwrap())
    }

    fn fault(schema: Value) -> HeaderBindingError {
        match bindings(schema) {
            Err(SchemaError::Header { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    }

    fn on(property: Value) -> Value {
        json!({ "type": "object", "properties": { "a": property } })
    }

    // spec: 2026-07-28 N-XHDR-01, N-XHDR-05, N-XHDR-06, N-XHDR-19
    #[test]
    fn annotations_are_read_in_order_with_their_paths() {
        let found = bindings(json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "where": { "type": "object", "properties": { "row": { "type": "integer", "x-mcp-header": "Method" } } },
            "x-mcp-header": { "type": "boolean", "x-mcp-header": "!a~1" },
        } }))
        .unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|b| (b.name.as_str(), b.path.join("."), b.kind))
            .collect();
        assert_eq!(
            found,
            [
                ("Region", "region".to_owned(), HeaderKind::String),
                ("Method", "where.row".to_owned(), HeaderKind::Integer),
                ("!a~1", "x-mcp-header".to_owned(), HeaderKind::Boolean),
            ]
        );
    }

    // spec: 2026-07-28 N-XHDR-03
    #[test]
    fn a_name_is_a_token() {
        for name in [
            json!(""),
            json!("a b"),
            json!("a:b"),
            json!("a\r\nb"),
            json!("é"),
            json!(1),
            json!(null),
        ] {
            assert_eq!(
                fault(on(json!({ "type": "string", "x-mcp-header": name }))),
                HeaderBindingError::Name
            );
        }
    }

    // spec: 2026-07-28 N-XHDR-04
    #[test]
    fn a_name_is_used_once_in_whatever_case() {
        let twice = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "Region" },
            "b": { "type": "string", "x-mcp-header": "REGION" },
        } });
        assert_eq!(fault(twice), HeaderBindingError::Duplicate);
    }

    // spec: 2026-07-28 N-XHDR-05, A-16
    #[test]
    fn only_exact_scalar_types_travel() {
        for kind in [json!("number"), json!("object"), json!(["string", "null"])] {
            assert_eq!(
                fault(on(json!({ "type": kind, "x-mcp-header": "A" }))),
                HeaderBindingError::Type
            );
        }
        assert_eq!(
            fault(on(json!({ "enum": ["a"], "x-mcp-header": "A" }))),
            HeaderBindingError::Type
        );
        assert_eq!(
            fault(on(json!({ "const": "a", "x-mcp-header": "A" }))),
            HeaderBindingError::Type
        );
    }

    // spec: 2026-07-28 N-XHDR-06, A-16
    #[test]
    fn only_properties_lead_to_a_parameter() {
        let leaf = json!({ "type": "string", "x-mcp-header": "A" });
        let inner = on(leaf.clone());
        for elsewhere in [
            leaf.clone(),
            on(json!({ "type": "array", "items": leaf })),
            json!({ "anyOf": [inner] }),
            json!({ "not": inner }),
            json!({ "if": inner }),
            json!({ "$defs": { "A": leaf }, "properties": { "a": { "$ref": "#/$defs/A" } } }),
            json!({ "additionalProperties": leaf }),
            json!({ "patternProperties": { "^a": leaf } }),
        ] {
            assert_eq!(fault(elsewhere), HeaderBindingError::Unreachable);
        }
    }

    #[test]
    fn data_that_looks_like_an_annotation_is_data() {
        let schema = on(
            json!({ "type": "object", "default": { "x-mcp-header": "" }, "enum": [{ "x-mcp-header": 1 }] }),
        );
        assert_eq!(bindings(schema), Ok(Vec::new()));
    }
}
