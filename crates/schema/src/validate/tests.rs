// The fields of some types are read by the derived schema only.
#![allow(dead_code)]

use schemars::JsonSchema;
use serde_json::json;

use super::*;

mod foreign;

fn validator(schema: Value) -> Validator {
    Validator::compile(schema.as_object().unwrap()).unwrap()
}

/// Asserts which values a schema accepts and which it does not.
fn sorts(schema: Value, right: &[Value], wrong: &[Value]) {
    let validator = validator(schema.clone());
    for value in right {
        assert_eq!(
            validator.validate(value),
            Ok(()),
            "{schema} should accept {value}"
        );
    }
    for value in wrong {
        assert!(
            validator.validate(value).is_err(),
            "{schema} should not accept {value}"
        );
    }
}

fn says(schema: Value, value: Value) -> Vec<String> {
    let violations = validator(schema).validate(&value).unwrap_err();
    violations.iter().map(ToString::to_string).collect()
}

#[test]
fn each_type_is_distinguished() {
    sorts(
        json!({ "type": "integer" }),
        &[json!(5), json!(5.0), json!(-0.0)],
        &[json!(5.5), json!("5"), json!(null)],
    );
    sorts(
        json!({ "type": "number" }),
        &[json!(5), json!(5.5)],
        &[json!("5"), json!(true)],
    );
    sorts(
        json!({ "type": ["string", "null"] }),
        &[json!(""), json!(null)],
        &[json!(0), json!([])],
    );
    sorts(json!({ "type": "object" }), &[json!({})], &[json!([])]);
}

#[test]
fn constants_are_compared_by_value() {
    sorts(
        json!({ "enum": [1, "a", null, [2]] }),
        &[json!(1.0), json!("a"), json!(null), json!([2.0])],
        &[json!("1")],
    );
    sorts(
        json!({ "const": { "a": 1, "b": 2 } }),
        &[json!({ "b": 2, "a": 1.0 })],
        &[json!({ "a": 1 })],
    );
}

#[test]
fn numbers_keep_their_bounds() {
    sorts(
        json!({ "minimum": 1, "maximum": 2 }),
        &[json!(1), json!(1.5), json!(2.0), json!("0")],
        &[json!(0), json!(2.1)],
    );
    sorts(
        json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 2 }),
        &[json!(1.5)],
        &[json!(1), json!(2)],
    );
    sorts(
        json!({ "multipleOf": 0.1 }),
        &[json!(0.3), json!(1), json!(-0.7)],
        &[json!(0.35)],
    );
    sorts(
        json!({ "multipleOf": 3 }),
        &[json!(9_007_199_254_740_993_i64), json!(-3)],
        &[json!(9_007_199_254_740_992_i64)],
    );
    sorts(
        json!({ "maximum": i64::MAX }),
        &[json!(i64::MAX)],
        &[json!(u64::MAX)],
    );
}

#[test]
fn texts_are_measured_in_characters() {
    sorts(
        json!({ "minLength": 2, "maxLength": 2 }),
        &[json!("äö"), json!("🦀🦀"), json!(1)],
        &[json!("a"), json!("abc")],
    );
    sorts(
        json!({ "pattern": "^a\\d$" }),
        &[json!("a1")],
        &[json!("a٣"), json!("ba1")],
    );
    sorts(json!({ "pattern": "b" }), &[json!("abc")], &[json!("")]);
}

#[test]
fn items_are_checked_one_by_one_and_together() {
    let tuple = json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "integer" } });
    sorts(
        tuple,
        &[json!([]), json!(["a", 1]), json!("no array")],
        &[json!([1]), json!(["a", "b"])],
    );
    sorts(
        json!({ "prefixItems": [true], "items": false }),
        &[json!([1])],
        &[json!([1, 2])],
    );
    sorts(
        json!({ "minItems": 1, "maxItems": 2, "uniqueItems": true }),
        &[json!([1, 2])],
        &[json!([]), json!([1, 1.0]), json!([1, 2, 3])],
    );
    let some = json!({ "contains": { "type": "integer" }, "minContains": 2, "maxContains": 3 });
    sorts(
        some,
        &[json!([1, "a", 2])],
        &[json!([1]), json!([1, 2, 3, 4])],
    );
    sorts(
        json!({ "contains": true, "minContains": 0 }),
        &[json!([])],
        &[],
    );
}

#[test]
fn members_are_checked_by_name_by_pattern_and_otherwise() {
    let schema = json!({
        "properties": { "a": { "type": "integer" } },
        "patternProperties": { "^x-": { "type": "string" } },
        "additionalProperties": false,
        "required": ["a"],
    });
    sorts(
        schema,
        &[json!({ "a": 1, "x-b": "" })],
        &[
            json!({}),
            json!({ "a": 1, "x-b": 2 }),
            json!({ "a": 1, "b": 2 }),
        ],
    );
    sorts(
        json!({ "additionalProperties": { "type": "null" } }),
        &[json!({ "a": null })],
        &[json!({ "a": 1 })],
    );
    sorts(
        json!({ "propertyNames": { "maxLength": 2 } }),
        &[json!({ "ab": 1 })],
        &[json!({ "abc": 1 })],
    );
    sorts(
        json!({ "minProperties": 1, "maxProperties": 1 }),
        &[json!({ "a": 1 })],
        &[json!({}), json!({ "a": 1, "b": 1 })],
    );
    sorts(
        json!({ "dependentRequired": { "a": ["b"] } }),
        &[json!({}), json!({ "a": 1, "b": 1 })],
        &[json!({ "a": 1 })],
    );
    let dependent = json!({ "dependentSchemas": { "a": { "required": ["b"] } } });
    sorts(
        dependent,
        &[json!({}), json!({ "a": 1, "b": 1 })],
        &[json!({ "a": 1 })],
    );
}

#[test]
fn schemas_combine() {
    sorts(
        json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }),
        &[json!(1)],
        &[json!(0), json!(3)],
    );
    sorts(
        json!({ "anyOf": [{ "type": "string" }, { "minimum": 2 }] }),
        &[json!("a"), json!(2)],
        &[json!(1)],
    );
    sorts(
        json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 2 }] }),
        &[json!(0), json!(3)],
        &[json!(1)],
    );
    sorts(
        json!({ "not": { "type": "string" } }),
        &[json!(1)],
        &[json!("a")],
    );
    let condition =
        json!({ "if": { "type": "string" }, "then": { "minLength": 1 }, "else": { "minimum": 1 } });
    sorts(
        condition,
        &[json!("a"), json!(1), json!(null)],
        &[json!(""), json!(0)],
    );
    sorts(
        json!({ "properties": { "a": true, "b": false } }),
        &[json!({ "a": 1 })],
        &[json!({ "b": 1 })],
    );
}

#[test]
fn references_are_followed_also_in_circles() {
    let list = json!({
        "$ref": "#/$defs/List",
        "$defs": { "List": { "type": "object", "properties": { "next": { "$ref": "#list" } }, "$anchor": "list" } },
    });
    sorts(
        list,
        &[json!({ "next": { "next": {} } })],
        &[json!({ "next": { "next": 1 } }), json!(1)],
    );
    sorts(
        json!({ "properties": { "a": { "$ref": "#" } }, "type": "object" }),
        &[json!({ "a": {} })],
        &[json!({ "a": 1 })],
    );
}

#[test]
fn formats_are_notes_unless_they_are_asked_for() {
    let schema = json!({ "format": "date" });
    let schema = schema.as_object().unwrap();
    assert_eq!(
        Validator::compile(schema).unwrap().validate(&json!("soon")),
        Ok(())
    );
    let strict = Validator::compile_with(schema, Formats::Enforced).unwrap();
    assert!(strict.validate(&json!("soon")).is_err());
    assert_eq!(strict.validate(&json!("2025-11-25")), Ok(()));
}

// spec: 2026-07-28 N-SCH-03, N-SCH-04
#[test]
fn an_unenforceable_keyword_is_refused_with_its_pointer() {
    for keyword in ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef"] {
        let schema = json!({ "properties": { "a": { keyword: false } } });
        let refused = Validator::compile(schema.as_object().unwrap()).unwrap_err();
        assert_eq!(
            refused,
            SchemaError::Unsupported {
                pointer: format!("/properties/a/{keyword}"),
                keyword: keyword.to_owned()
            }
        );
    }
}

// spec: 2026-07-28 N-SCH-04
#[test]
fn a_malformed_keyword_is_refused_where_it_stands() {
    for (keyword, value) in [
        ("type", json!("int")),
        ("type", json!([])),
        ("enum", json!("a")),
        ("minLength", json!(-1)),
        ("minimum", json!("1")),
        ("multipleOf", json!(0)),
        ("required", json!("a")),
        ("uniqueItems", json!(1)),
        ("items", json!([{}])),
        ("allOf", json!({})),
        ("properties", json!([])),
        ("$ref", json!(1)),
    ] {
        let schema = json!({ keyword: value });
        let refused = Validator::compile(schema.as_object().unwrap()).unwrap_err();
        let SchemaError::Malformed { pointer, .. } = refused else {
            panic!("{refused}");
        };
        assert_eq!(pointer, format!("/{keyword}"));
    }
}

// hardening: H-89
#[test]
fn a_pattern_is_matched_in_linear_time_or_refused() {
    for source in ["(", "(a)\\1", "(?=a)", "((a{200}){200}){200}"] {
        let schema = json!({ "pattern": source });
        let refused = Validator::compile(schema.as_object().unwrap());
        assert!(
            matches!(refused, Err(SchemaError::Pattern { .. })),
            "{source}"
        );
    }
    let text = json!("a".repeat(50_000));
    assert!(
        validator(json!({ "pattern": "^(a+)+$" }))
            .validate(&text)
            .is_ok()
    );
    assert!(
        validator(json!({ "pattern": "^(a+)+b$" }))
            .validate(&text)
            .is_err()
    );
}

// spec: 2026-07-28 N-SCH-08
#[test]
fn the_work_of_one_check_is_bounded() {
    let endless = validator(json!({ "$ref": "#" }));
    assert!(endless.validate(&json!(1)).is_err());
    let not_endless = validator(json!({ "not": { "$ref": "#" } }));
    assert!(not_endless.validate(&json!(1)).is_err());
    let again = json!({ "items": { "$ref": "#" } });
    let branching = validator(json!({ "type": "array", "anyOf": [again, again] }));
    let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner, 1]));
    assert!(branching.validate(&deep(60)).is_err());
    let again = json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] });
    assert!(
        validator(json!({ "anyOf": [again, again] }))
            .validate(&json!(1))
            .is_err()
    );
    let any_depth = validator(json!({ "items": { "$ref": "#" } }));
    assert!(any_depth.validate(&deep(64)).is_ok());
    assert!(any_depth.validate(&deep(65)).is_err());
}

// spec: 2025-11-25 TOOL-25, TOOL-29
// spec: 2026-07-28 N-TOOL-14, N-TOOL-18 (inputs)
// hardening: H-92 (text)
#[test]
fn a_violation_names_place_and_type_but_not_the_text() {
    let schema = json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "minimum": 1, "maximum": 50 },
            "name": { "type": "string", "minLength": 1, "pattern": "^[a-z]+$" },
            "style": { "type": "string", "enum": ["terse", "long"] },
            "rows": { "type": "array", "items": { "$ref": "#/$defs/Row" } },
        },
        "required": ["count", "name"],
        "additionalProperties": false,
        "$defs": { "Row": { "type": "object", "properties": { "a/b": { "type": "boolean" } } } },
    });
    assert_eq!(
        says(
            schema.clone(),
            json!({ "count": 0, "name": "Secret1", "style": "Secret2", "rows": [{ "a/b": 1 }], "cuont": 1 })
        ),
        [
            "/count: expected an integer between 1 and 50, found 0",
            "/name: expected a string of at least 1 character that matches `^[a-z]+$`, found a string of 7 characters",
            "/style: expected one of \"terse\", \"long\", found a string of 7 characters",
            "/rows/0/a~1b: expected a boolean, found 1",
            "/cuont: expected no member of this name (the known ones are count, name, style, rows), found 1",
        ]
    );
    assert_eq!(
        says(schema.clone(), json!({ "name": "a" })),
        ["/count: expected an integer between 1 and 50, found nothing, although it is required"]
    );
    assert_eq!(
        says(schema, json!([])),
        ["the whole value: expected an object, found an array of 0 items"]
    );
}

#[test]
fn a_failed_choice_names_its_forms_or_the_missing_member() {
    let by_const = json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } }, "required": ["kind", "radius"] },
        { "type": "object", "properties": { "kind": { "const": "dot" } }, "required": ["kind"] },
    ] });
    let by_enum = json!({ "anyOf": [
        { "type": "object", "properties": { "kind": { "enum": ["circle"] }, "radius": { "type": "number" } }, "required": ["kind", "radius"] },
        { "type": "object", "properties": { "kind": { "enum": ["dot"] } }, "required": ["kind"] },
    ] });
    for shape in [by_const, by_enum] {
        assert_eq!(
            says(shape.clone(), json!({ "kind": "circle", "radius": "1" })),
            ["/radius: expected a number, found a string of 1 character"]
        );
        assert_eq!(
            says(shape, json!({ "kind": "square" })),
            [
                "the whole value: expected an object with kind \"circle\" or an object with kind \"dot\", found an object of 1 member"
            ]
        );
    }
    let either = json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    assert_eq!(
        says(either, json!({})),
        [
            "the whole value: expected an object with a or an object with b, found an object of 0 members"
        ]
    );
}

#[test]
fn violations_and_pointers_are_bounded() {
    let schema = json!({ "items": { "type": "string" } });
    assert_eq!(says(schema, json!(vec![0; 1000])).len(), 16);
    let long = "é".repeat(1000);
    let said = says(json!({ "additionalProperties": false }), json!({ long: 1 }));
    assert!(said[0].len() < 400);
}

#[test]
fn integers_are_written_as_integers() {
    let validator = validator(json!({
        "properties": { "a": { "type": "integer" }, "b": { "type": "number" }, "c": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/I" }] } },
        "additionalProperties": { "items": { "type": "integer" } },
        "$defs": { "I": { "type": "integer" } },
    }));
    let mut value = json!({ "a": 5.0, "b": 5.0, "c": -2.0, "d": [1.0, 1.5, 1e300, "1.0", 1.8e19] });
    validator.coerce_integers(&mut value);
    let expected = json!({ "a": 5, "b": 5.0, "c": -2, "d": [1, 1.5, 1e300, "1.0", 18_000_000_000_000_000_000_u64] });
    assert_eq!(value.to_string(), expected.to_string());
}

#[test]
fn optional_nulls_are_left_out() {
    let validator = validator(json!({
        "properties": {
            "a": { "type": "string" },
            "b": { "type": ["string", "null"] },
            "c": { "type": "string" },
            "d": { "properties": { "e": { "type": "integer" } } },
        },
        "required": ["c"],
    }));
    let mut value = json!({ "a": null, "b": null, "c": null, "d": { "e": null }, "f": null });
    validator.drop_optional_nulls(&mut value);
    assert_eq!(value, json!({ "b": null, "c": null, "d": {}, "f": null }));
}

#[test]
fn a_type_without_constraints_needs_no_check() {
    #[derive(JsonSchema)]
    #[schemars(tag = "kind")]
    enum Shape {
        Dot { x: u8, y: i16 },
        Line { to: (u32, u64) },
    }
    #[derive(JsonSchema)]
    struct Plain {
        count: usize,
        ratio: f32,
        name: Option<String>,
        shapes: Vec<Shape>,
        any: Value,
    }
    assert!(!Validator::for_type::<Plain>().unwrap().needs_check());
}

#[test]
fn a_type_with_constraints_needs_a_check() {
    #[derive(JsonSchema)]
    struct Ranged {
        #[schemars(range(min = 0))]
        count: i64,
    }
    #[derive(JsonSchema)]
    struct Limited {
        #[schemars(range(max = 50))]
        count: u32,
    }
    #[derive(JsonSchema)]
    struct Named {
        #[schemars(length(min = 1))]
        name: String,
    }
    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    struct Closed {}
    #[derive(JsonSchema)]
    struct Fixed {
        #[schemars(extend("const" = "a"))]
        name: String,
    }
    assert!(Validator::for_type::<Ranged>().unwrap().needs_check());
    assert!(Validator::for_type::<Limited>().unwrap().needs_check());
    assert!(Validator::for_type::<Named>().unwrap().needs_check());
    assert!(Validator::for_type::<Closed>().unwrap().needs_check());
    assert!(Validator::for_type::<Fixed>().unwrap().needs_check());
}

#[test]
fn a_written_schema_is_checked_whenever_it_constrains() {
    assert!(
        !validator(json!({ "type": "object", "properties": { "a": { "type": "string" } } }))
            .needs_check()
    );
    for constraint in [
        json!({ "minimum": 0 }),
        json!({ "const": 1 }),
        json!({ "not": {} }),
        json!({ "additionalProperties": false }),
    ] {
        assert!(validator(json!({ "properties": { "a": constraint } })).needs_check());
    }
}

#[test]
fn a_schema_without_keywords_accepts_everything() {
    sorts(json!({}), &[json!(null), json!([{}])], &[]);
}
