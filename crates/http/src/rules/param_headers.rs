//! Arguments of a tool that headers repeat (`x-mcp-header`).
//!
//! A tool's input schema may annotate a property with a header's name. [`param_headers`] reads
//! the annotations once per tool, strictly: one in the wrong place makes the whole set invalid,
//! because an unchecked header is worse than no header. [`verify`] compares a call with them.
//!
//! Spec: [2026-07-28, Streamable HTTP, Custom headers][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

use std::borrow::Cow;
use std::collections::HashMap;

use http::{HeaderMap, HeaderName};
use pintle_model::JsonObject;
use pintle_model::RawJson;
use pintle_runtime::ParamHeader;
use pintle_schema::{Subschemas, subschemas};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::rules::agreement::{HeaderMismatchError, agree, agree_by};
use crate::rules::headers::{PARAM_PREFIX, single};
use crate::rules::number::same_number;

const ANNOTATION: &str = "x-mcp-header";
/// Deepest nesting of a schema that is read.
const MAX_DEPTH: usize = 64;

/// The reason why the annotations of a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderAnnotationError {
    /// The header name has characters that are not token characters.
    #[error("the header name is not one or more token characters")]
    Name,
    /// Two properties share a header.
    #[error("two parameters share the header {0:?}")]
    Shared(Box<str>),
    /// The property is not exactly a string, an integer or a boolean.
    #[error("the annotated value is not a string, an integer or a boolean")]
    Type,
    /// The annotated value is not reachable through properties.
    #[error("the annotated value is not reachable through properties")]
    Place,
    /// The schema nests too deeply to be read.
    #[error("the schema nests deeper than 64 levels")]
    Depth,
}

/// Returns the annotated properties of the input schema of a tool.
///
/// # Errors
///
/// [`HeaderAnnotationError`] for the first annotation that breaks a rule.
pub fn param_headers(schema: &JsonObject) -> Result<Vec<ParamHeader>, HeaderAnnotationError> {
    let mut walk = Walk {
        path: Vec::new(),
        found: Vec::new(),
    };
    walk.schema(schema, Reach::Root, 0)?;
    Ok(walk.found)
}

/// How a schema is reached. Closed: by a path of properties, otherwise, or as the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Root,
    Property,
    Elsewhere,
}

struct Walk {
    path: Vec<Box<str>>,
    found: Vec<ParamHeader>,
}

impl Walk {
    fn schema(
        &mut self,
        schema: &JsonObject,
        reach: Reach,
        depth: usize,
    ) -> Result<(), HeaderAnnotationError> {
        if depth > MAX_DEPTH {
            return Err(HeaderAnnotationError::Depth);
        }
        if let Some(annotation) = schema.get(ANNOTATION) {
            self.bind(schema, annotation, reach)?;
        }
        for (member, value) in schema {
            self.member(member, value, reach, depth + 1)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        member: &str,
        value: &Value,
        reach: Reach,
        depth: usize,
    ) -> Result<(), HeaderAnnotationError> {
        match subschemas(member, value) {
            Some(Subschemas::Map(map)) if member == "properties" => {
                self.properties(map, reach, depth)
            }
            Some(Subschemas::Map(map)) => self.each(map.values(), depth),
            Some(Subschemas::List(list)) => self.each(list.iter(), depth),
            Some(Subschemas::One(schema)) => self.each(std::iter::once(schema), depth),
            None => Ok(()),
        }
    }

    fn properties(
        &mut self,
        map: &JsonObject,
        reach: Reach,
        depth: usize,
    ) -> Result<(), HeaderAnnotationError> {
        let inner = if reach == Reach::Elsewhere {
            reach
        } else {
            Reach::Property
        };
        for (name, property) in map {
            if let Value::Object(property) = property {
                self.path.push(name.as_str().into());
                self.schema(property, inner, depth)?;
                self.path.pop();
            }
        }
        Ok(())
    }

    fn each<'s>(
        &mut self,
        schemas: impl Iterator<Item = &'s Value>,
        depth: usize,
    ) -> Result<(), HeaderAnnotationError> {
        for schema in schemas.filter_map(Value::as_object) {
            self.schema(schema, Reach::Elsewhere, depth)?;
        }
        Ok(())
    }

    fn bind(
        &mut self,
        schema: &JsonObject,
        annotation: &Value,
        reach: Reach,
    ) -> Result<(), HeaderAnnotationError> {
        if reach != Reach::Property {
            return Err(HeaderAnnotationError::Place);
        }
        let named = |name: &&str| !name.is_empty() && header_name(name).is_some();
        let name = annotation
            .as_str()
            .filter(named)
            .ok_or(HeaderAnnotationError::Name)?;
        if !matches!(
            schema.get("type").and_then(Value::as_str),
            Some("string" | "integer" | "boolean")
        ) {
            return Err(HeaderAnnotationError::Type);
        }
        if self
            .found
            .iter()
            .any(|header| header.name.eq_ignore_ascii_case(name))
        {
            return Err(HeaderAnnotationError::Shared(name.into()));
        }
        self.found.push(ParamHeader::new(name, self.path.clone()));
        Ok(())
    }
}

/// Returns the full header name in lower case. It accepts exactly the token characters.
pub(crate) fn header_name(name: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(format!("{PARAM_PREFIX}{name}").as_bytes()).ok()
}

/// Compares the headers of a call with its arguments. Headers without an annotation are ignored.
///
/// # Errors
///
/// The first [`HeaderMismatchError`].
pub(crate) fn verify(
    annotated: &[ParamHeader],
    headers: &HeaderMap,
    arguments: Option<RawJson<'_>>,
) -> Result<(), HeaderMismatchError> {
    annotated
        .iter()
        .try_for_each(|param| verify_one(param, headers, arguments))
}

fn verify_one(
    param: &ParamHeader,
    headers: &HeaderMap,
    arguments: Option<RawJson<'_>>,
) -> Result<(), HeaderMismatchError> {
    let Some(header) = header_name(&param.name) else {
        // Such a header cannot be sent, so it is not required.
        return Ok(());
    };
    match arguments.and_then(|arguments| descend(arguments, &param.path)) {
        None => agree(single(headers, &header), &header, None),
        Some(raw) => compare(headers, &header, raw),
    }
}

fn compare(
    headers: &HeaderMap,
    header: &HeaderName,
    raw: RawJson<'_>,
) -> Result<(), HeaderMismatchError> {
    match raw.get().as_bytes().first() {
        Some(b'"') => agree(single(headers, header), header, raw.as_text().as_deref()),
        Some(b'-' | b'0'..=b'9') => agree_by(
            single(headers, header),
            header,
            Some(raw.get()),
            same_number,
        ),
        Some(b't' | b'f') => agree(single(headers, header), header, Some(raw.get())),
        // Headers cannot repeat objects and arrays. The schema check rejects them later.
        _ => agree(single(headers, header), header, None),
    }
}

/// Returns the value at a path of properties, or `None` if it is absent or null.
fn descend<'a>(value: RawJson<'a>, path: &[Box<str>]) -> Option<RawJson<'a>> {
    let Some((first, rest)) = path.split_first() else {
        return (!value.is_null()).then_some(value);
    };
    let mut members: HashMap<Cow<'a, str>, &'a RawValue> = value.decode().ok()?;
    descend(members.remove(&**first)?.into(), rest)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn read(schema: &Value) -> Result<Vec<(String, String)>, HeaderAnnotationError> {
        let found = param_headers(schema.as_object().expect("an object"))?;
        let pair = |param: ParamHeader| (param.path.join("."), param.name.to_string());
        Ok(found.into_iter().map(pair).collect())
    }

    // spec: 2026-07-28 N-XHDR-01, N-XHDR-05, N-XHDR-06, N-XHDR-19
    #[test]
    fn properties_are_found_along_properties_only() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "x-mcp-header": {"type": "boolean", "default": {"x-mcp-header": 1}},
            "limits": {"type": "object", "properties": {"cpu": {"type": "integer", "x-mcp-header": "Method"}}},
        }});
        let expected = [("region", "Region"), ("limits.cpu", "Method")];
        assert_eq!(
            read(&schema).expect("valid"),
            expected.map(|(p, h)| (p.to_owned(), h.to_owned()))
        );
    }

    // spec: 2026-07-28 N-XHDR-03, N-XHDR-04, N-XHDR-05, N-XHDR-06
    #[test]
    fn an_annotation_that_breaks_a_rule_makes_the_schema_invalid() {
        let property = |schema: Value| json!({"properties": {"a": schema}});
        let good = json!({"type": "string", "x-mcp-header": "A"});
        let rows = [
            (
                property(json!({"type": "string", "x-mcp-header": ""})),
                HeaderAnnotationError::Name,
            ),
            (
                property(json!({"type": "string", "x-mcp-header": "a b"})),
                HeaderAnnotationError::Name,
            ),
            (
                property(json!({"type": "string", "x-mcp-header": "a:b"})),
                HeaderAnnotationError::Name,
            ),
            (
                property(json!({"type": "string", "x-mcp-header": "a\r\n"})),
                HeaderAnnotationError::Name,
            ),
            (
                property(json!({"type": "string", "x-mcp-header": 1})),
                HeaderAnnotationError::Name,
            ),
            (
                property(json!({"type": "number", "x-mcp-header": "A"})),
                HeaderAnnotationError::Type,
            ),
            (
                property(json!({"type": ["string", "null"], "x-mcp-header": "A"})),
                HeaderAnnotationError::Type,
            ),
            (
                property(json!({"enum": ["a"], "x-mcp-header": "A"})),
                HeaderAnnotationError::Type,
            ),
            (
                property(json!({"items": good})),
                HeaderAnnotationError::Place,
            ),
            (
                property(json!({"prefixItems": [good]})),
                HeaderAnnotationError::Place,
            ),
            (
                property(json!({"items": {"properties": {"b": good}}})),
                HeaderAnnotationError::Place,
            ),
            (
                json!({"oneOf": [{"properties": {"a": good}}]}),
                HeaderAnnotationError::Place,
            ),
            (
                json!({"then": {"properties": {"a": good}}}),
                HeaderAnnotationError::Place,
            ),
            (
                json!({"$defs": {"D": good}, "properties": {"a": {"$ref": "#/$defs/D"}}}),
                HeaderAnnotationError::Place,
            ),
            (good.clone(), HeaderAnnotationError::Place),
        ];
        for (schema, expected) in rows {
            assert_eq!(read(&schema), Err(expected), "{schema}");
        }
        let shared =
            json!({"properties": {"a": good, "b": {"type": "integer", "x-mcp-header": "a"}}});
        assert!(matches!(
            read(&shared),
            Err(HeaderAnnotationError::Shared(_))
        ));
    }

    /// Headers, arguments, and the expected result.
    type Row<'r> = (&'r [(&'r str, &'r str)], &'r str, bool);

    fn check(headers: &[(&'static str, &'static str)], arguments: &str) -> bool {
        let schema = json!({"properties": {
            "s": {"type": "string", "x-mcp-header": "S"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "o": {"properties": {"b": {"type": "boolean", "x-mcp-header": "B"}}},
        }});
        let params = param_headers(schema.as_object().expect("an object")).expect("valid");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let arguments: &RawValue = serde_json::from_str(arguments).expect("JSON");
        verify(&params, &map, Some(arguments.into())).is_ok()
    }

    // spec: 2026-07-28 N-XHDR-08, N-XHDR-09, N-XHDR-11, N-XHDR-12, N-XHDR-13, N-XHDR-18
    // hardening: H-54
    #[test]
    fn a_call_and_its_headers_agree() {
        let rows: [Row<'_>; 16] = [
            (&[], "{}", true),
            (&[], r#"{"s":null,"o":null}"#, true),
            (&[("mcp-param-s", "Hello")], r#"{"s":"Hello"}"#, true),
            (
                &[("Mcp-Param-S", "=?base64?SGVsbG8=?=")],
                r#"{"s":"Hello"}"#,
                true,
            ),
            (&[("mcp-param-s", "SGVsbG8=")], r#"{"s":"SGVsbG8="}"#, true),
            (&[("mcp-param-s", "")], r#"{"s":""}"#, true),
            (&[("mcp-param-n", "42.0")], r#"{"n":42}"#, true),
            (
                &[("mcp-param-b", "true"), ("mcp-param-other", "x")],
                r#"{"o":{"b":true}}"#,
                true,
            ),
            (&[], r#"{"s":"Hello"}"#, false),
            (&[("mcp-param-s", "hello")], r#"{"s":"Hello"}"#, false),
            (
                &[("mcp-param-s", "=?base64?SGVsbG8?=")],
                r#"{"s":"Hello"}"#,
                false,
            ),
            (
                &[("mcp-param-s", "Hello"), ("mcp-param-s", "Hello")],
                r#"{"s":"Hello"}"#,
                false,
            ),
            (&[("mcp-param-s", "Hello")], "{}", false),
            (&[("mcp-param-n", "43")], r#"{"n":42}"#, false),
            (&[("mcp-param-b", "True")], r#"{"o":{"b":true}}"#, false),
            (&[("mcp-param-n", "1")], r#"{"n":[1]}"#, false),
        ];
        for (headers, arguments, expected) in rows {
            assert_eq!(
                check(headers, arguments),
                expected,
                "{headers:?} {arguments}"
            );
        }
    }
}
