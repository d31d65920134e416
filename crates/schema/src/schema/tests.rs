//! What hosts get to read of derived types.

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
                "items": { "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": 255 },
                    { "type": "null" },
                ] },
            },
        })
    );
    assert_eq!(schema["required"], json!(["rows"]));
}

#[test]
fn a_variant_with_a_title_keeps_its_branch() {
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
    assert_eq!(
        input::<Args>()["properties"]["size"],
        json!({ "anyOf": [
            { "type": "string", "enum": ["Large"] },
            { "title": "Small one", "type": "string", "enum": ["Small"] },
        ] })
    );
}

#[test]
fn a_described_parameter_keeps_the_docs_of_its_variants() {
    #[derive(Deserialize, JsonSchema)]
    struct Args {
        /// How the report is written.
        style: Style,
        /// How the title is written.
        title: Option<Style>,
        other: Style,
    }
    let schema = input::<Args>();
    let description = |name: &str| schema["properties"][name]["description"].clone();
    let variants = "- terse: Few words.";
    let both = |own: &str| json!(format!("{own}\n\n{variants}"));
    assert_eq!(description("style"), both("How the report is written."));
    assert_eq!(description("title"), both("How the title is written."));
    assert_eq!(description("other"), both("How to write."));
    assert!(!schema.to_string().contains("x-pintle"), "{schema}");
}

#[test]
fn enums_with_data_are_any_of_without_constants() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    enum External {
        Unit,
        Number(u8),
        Fields { x: u8 },
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        Text(String),
        Unit,
    }
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Args {
        shape: Shape,
        external: Option<External>,
        adjacent: Vec<Adjacent>,
    }
    for schema in [
        input::<Args>(),
        Value::Object(output_schema::<Args>().unwrap()),
    ] {
        let text = schema.to_string();
        assert!(!text.contains("oneOf") && !text.contains("const"), "{text}");
        assert!(!text.contains(r#""type":["#), "{text}");
    }
}

#[test]
fn alternatives_that_may_both_fit_stay_one_of() {
    #[derive(JsonSchema)]
    #[schemars(extend("oneOf" = [{ "required": ["a"] }, { "required": ["b"] }]))]
    struct Either {
        a: Option<u8>,
        b: Option<u8>,
    }
    assert!(input::<Either>()["oneOf"].is_array());
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
        /// Shape to draw.
        shape: Shape,
    }
    let schema = input::<Args>();
    assert!(schema.get("$defs").is_none());
    assert_eq!(
        schema["properties"]["shape"],
        json!({
            "description": "Shape to draw.",
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "kind": { "type": "string", "enum": ["Circle"] },
                        "radius": { "type": "number" },
                    },
                    "required": ["kind", "radius"],
                },
                {
                    "type": "object",
                    "properties": {
                        "kind": { "type": "string", "enum": ["Dot"] },
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
fn the_root_of_an_input_schema_has_type_object() {
    #[derive(JsonSchema)]
    struct Nothing {}
    assert_eq!(
        input::<Nothing>(),
        json!({ "type": "object", "properties": {} })
    );
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
fn an_output_schema_has_any_root_and_lists_null() {
    #[derive(Serialize, JsonSchema)]
    struct Row {
        name: Option<String>,
    }
    let row = Value::Object(output_schema::<Row>().unwrap());
    assert_eq!(
        row["properties"]["name"],
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
    );
    let rows = Value::Object(output_schema::<Vec<Row>>().unwrap());
    assert_eq!(rows["type"], "array");
    assert!(rows.get("title").is_none());
}
