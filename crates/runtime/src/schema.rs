//! From Rust types to the schemas that hosts read.
//!
//! Schemas made here are plain JSON Schema 2020-12 in the form that the strictest hosts accept:
//! no formats of our own, optional parameters that are left out rather than null, enums as
//! `enum`, no references where none is needed. Hand-written schemas are checked, and otherwise
//! left alone. Enforcing a schema is [`crate::validate`]'s work.

use pintle_model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Value, json};

pub use check::{check_input, check_output};
pub use error::{HeaderFault, SchemaError};
pub use header::{HeaderBinding, HeaderKind, header_bindings};

pub(crate) mod check;
mod error;
mod header;
mod inline;
pub(crate) mod keywords;
mod portable;
pub(crate) mod reading;
pub(crate) mod reference;

pub(crate) use check::{check_dialect, survey};

/// Makes the schema of arguments that are decoded as `T`.
///
/// Properties stand in the order of `T`'s fields; the result is the same on every call. A property
/// that may be left out is not nullable in the schema, although decoding accepts null.
///
/// # Errors
///
/// [`SchemaError`] if `T` is not decoded from an object, or an annotation on it is invalid.
pub fn input_schema<T: JsonSchema>() -> Result<JsonObject, SchemaError> {
    input_schema_of(generate::<T>(Contract::Deserialize))
}

/// Makes the schema of arguments of what schemars says about their type.
pub(crate) fn input_schema_of(mut schema: Value) -> Result<JsonObject, SchemaError> {
    portable::simplify(&mut schema);
    portable::drop_optional_nulls(&mut schema);
    let mut schema = into_object(schema);
    inline::inline(&mut schema);
    complete_root(&mut schema);
    check_input(&schema)?;
    Ok(schema)
}

/// Makes the schema of structured content that is encoded from `T`.
///
/// The root may be anything. What is encoded as null is nullable in the schema: the content must
/// satisfy it.
///
/// # Errors
///
/// [`SchemaError`] if an annotation on `T` is invalid.
pub fn output_schema<T: JsonSchema>() -> Result<JsonObject, SchemaError> {
    let mut schema = generate::<T>(Contract::Serialize);
    portable::simplify(&mut schema);
    let mut schema = into_object(schema);
    inline::inline(&mut schema);
    check_output(&schema)?;
    Ok(schema)
}

/// The schema of a tool without parameters.
///
/// It leaves other members be: some hosts send one of their own where there is nothing to send.
#[must_use]
pub fn empty_input() -> JsonObject {
    into_object(json!({ "type": "object", "properties": {} }))
}

/// What schemars says about `T`, before it is made portable.
pub(crate) fn generate<T: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    if schema.get("title").and_then(Value::as_str) == Some(&*T::schema_name()) {
        schema
            .as_object_mut()
            .map(|schema| schema.shift_remove("title"));
    }
    schema.to_value()
}

fn into_object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => into_object(json!({ "not": {} })),
        _ => JsonObject::new(),
    }
}

/// Says of the root what is true and often left out: that it is an object, and has properties.
fn complete_root(root: &mut JsonObject) {
    if !root.contains_key("type") && has_object_branches(root) {
        root.shift_insert(0, "type".to_owned(), json!("object"));
    }
    if root.get("type").is_some_and(|kind| kind == "object") {
        root.entry("properties").or_insert_with(|| json!({}));
    }
}

fn has_object_branches(root: &JsonObject) -> bool {
    let branches = root
        .get("oneOf")
        .or_else(|| root.get("anyOf"))
        .and_then(Value::as_array);
    branches.is_some_and(|branches| {
        let is_object = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "object");
        !branches.is_empty() && branches.iter().all(is_object)
    })
}

#[cfg(test)]
mod tests {
    // The fields are read by the derived schema only.
    #![allow(dead_code)]

    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::*;

    fn input<T: JsonSchema>() -> Value {
        Value::Object(input_schema::<T>().unwrap())
    }

    /// How to write.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Style {
        /// Few words.
        Terse,
        Long,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Node {
        zeta: u32,
        child: Option<Box<Node>>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Circle {
        radius: f32,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle(Circle),
        Dot { x: u8 },
    }

    #[test]
    fn numbers_have_bounds_and_no_formats_of_ours() {
        #[derive(JsonSchema)]
        struct Args {
            zoom: u8,
            count: u64,
            delta: i32,
            ratio: f32,
            #[schemars(range(min = 1, max = 50))]
            limit: u32,
        }
        assert_eq!(
            input::<Args>(),
            json!({
                "type": "object",
                "properties": {
                    "zoom": { "type": "integer", "minimum": 0, "maximum": 255 },
                    "count": { "type": "integer", "minimum": 0 },
                    "delta": { "type": "integer" },
                    "ratio": { "type": "number" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                },
                "required": ["zoom", "count", "delta", "ratio", "limit"],
            })
        );
    }

    #[test]
    fn optional_parameters_are_left_out_rather_than_null() {
        #[derive(Deserialize, JsonSchema)]
        struct Args {
            /// The name.
            #[schemars(length(min = 1))]
            name: Option<String>,
            #[serde(default)]
            style: Option<Style>,
            rows: Vec<Option<u8>>,
        }
        let schema = input::<Args>();
        assert_eq!(
            schema["properties"],
            json!({
                "name": { "description": "The name.", "type": "string", "minLength": 1 },
                "style": {
                    "description": "How to write.\n\n- terse: Few words.",
                    "type": "string",
                    "enum": ["long", "terse"],
                },
                "rows": {
                    "type": "array",
                    "items": { "type": ["integer", "null"], "minimum": 0, "maximum": 255 },
                },
            })
        );
        assert_eq!(schema["required"], json!(["rows"]));
    }

    #[test]
    fn a_variant_with_a_title_keeps_the_long_form() {
        #[derive(JsonSchema)]
        enum Size {
            #[schemars(title = "Small one")]
            Small,
            Large,
        }
        #[derive(JsonSchema)]
        struct Args {
            size: Size,
        }
        assert!(input::<Args>()["properties"]["size"]["oneOf"].is_array());
    }

    #[test]
    fn properties_stand_in_the_order_of_the_fields() {
        #[derive(JsonSchema)]
        struct Args {
            zebra: bool,
            apple: bool,
            #[serde(flatten)]
            mango: Circle,
        }
        let schema = input::<Args>();
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["zebra", "apple", "radius"]);
        assert_eq!(schema.to_string(), input::<Args>().to_string());
    }

    #[test]
    fn a_definition_used_once_stands_where_it_is_used() {
        #[derive(JsonSchema)]
        struct Args {
            /// What to draw.
            shape: Shape,
        }
        let schema = input::<Args>();
        assert!(schema.get("$defs").is_none());
        assert_eq!(
            schema["properties"]["shape"],
            json!({
                "description": "What to draw.",
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {
                            "kind": { "type": "string", "const": "Circle" },
                            "radius": { "type": "number" },
                        },
                        "required": ["kind", "radius"],
                    },
                    {
                        "type": "object",
                        "properties": {
                            "kind": { "type": "string", "const": "Dot" },
                            "x": { "type": "integer", "minimum": 0, "maximum": 255 },
                        },
                        "required": ["kind", "x"],
                    },
                ],
            })
        );
    }

    #[test]
    fn a_definition_with_an_awkward_name_is_found() {
        #[derive(JsonSchema)]
        #[schemars(rename = "a/b c~")]
        struct Odd {
            x: bool,
        }
        #[derive(JsonSchema)]
        struct Args {
            odd: Odd,
        }
        assert_eq!(
            input::<Args>()["properties"]["odd"]["properties"],
            json!({ "x": { "type": "boolean" } })
        );
    }

    #[test]
    fn a_recursive_type_keeps_its_reference() {
        #[derive(JsonSchema)]
        struct Args {
            first: Node,
            second: Node,
        }
        let schema = input::<Args>();
        assert_eq!(
            schema["properties"]["first"],
            json!({ "$ref": "#/$defs/Node" })
        );
        assert_eq!(
            schema["$defs"]["Node"]["properties"]["child"],
            json!({ "$ref": "#/$defs/Node" })
        );
        assert_eq!(
            input::<Node>()["properties"]["child"],
            json!({ "$ref": "#" })
        );
    }

    #[test]
    fn the_root_says_that_it_is_an_object() {
        #[derive(JsonSchema)]
        struct Nothing {}
        assert_eq!(input::<Nothing>(), Value::Object(empty_input()));
        assert_eq!(input::<Shape>()["type"], "object");
        let map = input::<BTreeMap<String, Value>>();
        assert_eq!(
            (&map["type"], &map["properties"]),
            (&json!("object"), &json!({}))
        );
        assert!(matches!(
            input_schema::<Vec<u8>>(),
            Err(SchemaError::Root { .. })
        ));
    }

    #[test]
    fn a_value_of_any_kind_is_an_empty_schema() {
        #[derive(JsonSchema)]
        struct Args {
            any: Value,
        }
        assert_eq!(input::<Args>()["properties"]["any"], json!({}));
    }

    // spec: 2026-07-28 N-SCH-02
    #[test]
    fn a_dialect_is_named_if_the_author_names_it() {
        #[derive(JsonSchema)]
        #[schemars(extend("$schema" = "https://json-schema.org/draft/2020-12/schema"))]
        struct Args {}
        #[derive(JsonSchema)]
        #[schemars(extend("$schema" = "http://json-schema.org/draft-07/schema#"))]
        struct Old {}
        assert!(input::<Args>().get("$schema").is_some());
        assert!(input::<Node>().get("$schema").is_none());
        assert!(matches!(
            input_schema::<Old>(),
            Err(SchemaError::Dialect { .. })
        ));
    }

    // spec: 2026-07-28 N-XHDR-01
    #[test]
    fn an_optional_parameter_can_travel_in_a_header() {
        #[derive(JsonSchema)]
        struct Args {
            #[schemars(extend("x-mcp-header" = "Region"))]
            region: Option<String>,
        }
        let bindings = header_bindings(&input_schema::<Args>().unwrap()).unwrap();
        assert_eq!(bindings[0].path, ["region"]);
    }

    // spec: 2026-07-28 N-SCH-10
    #[test]
    fn output_is_anything_and_says_where_null_can_be() {
        #[derive(Serialize, JsonSchema)]
        struct Row {
            name: Option<String>,
        }
        let row = Value::Object(output_schema::<Row>().unwrap());
        assert_eq!(row["properties"]["name"]["type"], json!(["string", "null"]));
        let rows = Value::Object(output_schema::<Vec<Row>>().unwrap());
        assert_eq!(rows["type"], "array");
        assert!(rows.get("title").is_none());
    }
}
