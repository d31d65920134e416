//! Schemas of other servers.

use proptest::prelude::*;

use super::*;

const DRAFT7: &str = "http://json-schema.org/draft-07/schema#";
const DRAFT2019: &str = "https://json-schema.org/draft/2019-09/schema";

fn foreign(schema: Value) -> Validator {
    Validator::compile_foreign(schema.as_object().unwrap()).unwrap()
}

fn refused(schema: Value) -> SchemaError {
    Validator::compile_foreign(schema.as_object().unwrap()).unwrap_err()
}

/// Asserts what each value comes to: `fits`, `known`, `wrong`, `unchecked`.
fn judges(schema: Value, verdicts: &[(Value, &str)]) {
    let validator = foreign(schema.clone());
    for (value, expected) in verdicts {
        let verdict = match validator.check(value) {
            Validity::Valid => "fits",
            Validity::PartlyChecked => "known",
            Validity::Unchecked => "unchecked",
            Validity::Invalid(_) => "wrong",
        };
        assert_eq!(verdict, *expected, "{value} by {schema}");
    }
}

// What zod and the TypeScript SDK make of an object.
// spec: 2026-07-28 N-SCH-02, N-SCH-03
// spec: 2025-11-25 JSCH-02, JSCH-06
#[test]
fn draft_7_is_read_as_its_authors_mean_it() {
    judges(
        json!({
            "$schema": DRAFT7,
            "$ref": "#/definitions/Weather",
            "definitions": { "Weather": {
                "type": "object",
                "properties": {
                    "place": { "$ref": "#/definitions/Weather/properties/name", "type": "array" },
                    "name": { "type": "string" },
                    "at": { "type": "array", "items": [{ "type": "number" }, { "type": "number" }],
                        "additionalItems": false },
                },
                "required": ["name"],
                "additionalProperties": false,
                "dependencies": { "at": ["place"], "place": { "maxProperties": 3 } },
            } },
        }),
        &[
            (json!({ "name": "x" }), "fits"),
            (json!({ "name": "x", "place": "y", "at": [1, 2] }), "fits"),
            (json!({ "name": "x", "place": ["y"] }), "wrong"),
            (
                json!({ "name": "x", "place": "y", "at": [1, 2, 3] }),
                "wrong",
            ),
            (json!({ "name": "x", "place": "y", "at": ["1"] }), "wrong"),
            (json!({ "name": "x", "at": [1] }), "wrong"),
            (json!({ "name": "x", "more": 1 }), "wrong"),
            (json!({}), "wrong"),
        ],
    );
    // These came later: to draft 7 they are notes.
    judges(
        json!({ "$schema": DRAFT7, "prefixItems": [false], "items": { "type": "integer" },
            "dependentRequired": { "a": ["b"] }, "unevaluatedProperties": false }),
        &[
            (json!([1]), "fits"),
            (json!(["a"]), "wrong"),
            (json!({ "a": 1 }), "fits"),
        ],
    );
}

// spec: 2026-07-28 N-SCH-02
#[test]
fn draft_2019_has_the_older_lists_and_siblings_of_references() {
    judges(
        json!({
            "$schema": DRAFT2019,
            "items": [{ "$ref": "#/$defs/A", "minLength": 2 }], "additionalItems": { "type": "null" },
            "prefixItems": [false],
            "dependentRequired": { "a": ["b"] },
            "$defs": { "A": { "type": "string" } },
        }),
        &[
            (json!(["ab", null]), "fits"),
            (json!(["a"]), "wrong"),
            (json!(["ab", 1]), "wrong"),
            (json!({ "a": 1 }), "wrong"),
        ],
    );
    judges(
        json!({ "$schema": DRAFT7, "$id": "#root", "items": { "$ref": "#leaf" },
            "definitions": { "L": { "$id": "#leaf", "type": "integer" } } }),
        &[(json!([1]), "fits"), (json!(["a"]), "wrong")],
    );
}

// spec: 2026-07-28 N-SCH-01
// spec: 2025-11-25 JSCH-01, JSCH-03
#[test]
fn without_a_dialect_it_is_2020_12_and_unknown_keywords_are_notes() {
    judges(
        json!({ "type": "object", "x-order": 1, "nullable": 7, "dependencies": 5, "additionalItems": 1,
            "extends": {}, "$vocabulary": {}, "$comment": "c", "format": "no-such",
            "properties": { "a": { "prefixItems": [true], "items": false } } }),
        &[
            (json!({ "a": [1] }), "fits"),
            (json!({ "a": [1, 2] }), "wrong"),
            (json!(null), "wrong"),
        ],
    );
}

#[test]
fn unenforced_keywords_are_listed_and_never_reject() {
    let cases = [
        (
            json!({ "unevaluatedProperties": false }),
            "unevaluatedProperties",
        ),
        (json!({ "unevaluatedItems": false }), "unevaluatedItems"),
        (json!({ "$dynamicRef": "#a" }), "$dynamicRef"),
        (json!({ "$recursiveRef": "#" }), "$recursiveRef"),
        (json!({ "pattern": "^(?!x)" }), "pattern"),
        (json!({ "pattern": "(a{999}){999}" }), "pattern"),
        (json!({ "items": [false] }), "items"),
    ];
    for (schema, keyword) in cases {
        let left_out = foreign(schema.clone()).unenforced().to_vec();
        assert_eq!(left_out.len(), 1, "{schema}");
        assert_eq!(left_out[0].pointer, format!("/{keyword}"));
        assert_eq!(
            left_out[0].to_string(),
            format!("`{keyword}` at \"/{keyword}\"")
        );
        for value in [json!({ "a": 1 }), json!([1]), json!("x")] {
            judges(schema.clone(), &[(value, "known")]);
        }
    }
    assert!(
        foreign(json!({ "pattern": "^a/b\\/c-\\d+$" }))
            .unenforced()
            .is_empty()
    );
    let inside = json!({ "properties": { "a": { "$id": "https://a.example/b", "$ref": "#/no" } } });
    assert_eq!(foreign(inside).unenforced()[0].pointer, "/properties/a");
}

#[test]
fn an_unknown_result_stays_unknown_in_every_combination() {
    let unknown = json!({ "type": "string", "pattern": "(?=a)" });
    let text = |verdict| (json!("a"), verdict);
    let number = |verdict| (json!(1), verdict);
    judges(json!({ "not": unknown }), &[text("known"), number("fits")]);
    judges(
        json!({ "not": { "not": unknown } }),
        &[text("known"), number("wrong")],
    );
    judges(
        json!({ "oneOf": [unknown, { "type": "string" }] }),
        &[text("known"), number("wrong")],
    );
    judges(
        json!({ "oneOf": [unknown, { "type": "integer" }] }),
        &[text("known"), number("fits")],
    );
    judges(
        json!({ "oneOf": [unknown, true, true] }),
        &[text("wrong"), number("wrong")],
    );
    judges(
        json!({ "anyOf": [unknown, { "minLength": 1 }] }),
        &[text("fits"), number("fits")],
    );
    judges(
        json!({ "anyOf": [unknown, { "type": "null" }] }),
        &[text("known"), number("wrong")],
    );
    judges(
        json!({ "allOf": [unknown, { "maxLength": 0 }] }),
        &[text("wrong"), number("wrong")],
    );
    judges(
        json!({ "if": unknown, "then": { "minLength": 9 }, "else": { "minimum": 5 } }),
        &[text("known"), number("wrong")],
    );
    judges(
        json!({ "propertyNames": { "pattern": "(?=a)" } }),
        &[(json!({ "a": 1 }), "known")],
    );
    judges(
        json!({ "contains": unknown, "minContains": 2, "maxContains": 2 }),
        &[
            (json!(["a"]), "wrong"),
            (json!(["a", "b"]), "known"),
            (json!(["a", "b", "c"]), "known"),
        ],
    );
    judges(
        json!({ "contains": { "type": "string" }, "maxContains": 1 }),
        &[(json!(["a", "b"]), "wrong")],
    );
    judges(
        json!({ "patternProperties": { "(?=a)": true, "^b": { "type": "null" } }, "additionalProperties": false }),
        &[
            (json!({ "c": 1 }), "known"),
            (json!({ "b": 1 }), "wrong"),
            (json!({ "b": null }), "known"),
        ],
    );
}

// spec: 2026-07-28 N-SCH-03, N-SCH-04, N-SCH-07, N-SCH-08
// hardening: H-80
#[test]
fn an_unreadable_foreign_schema_is_refused() {
    let nested = |levels| (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }));
    assert!(matches!(
        refused(json!({ "$schema": "urn:own" })),
        SchemaError::Dialect { .. }
    ));
    assert!(matches!(
        refused(json!({ "type": "text" })),
        SchemaError::Malformed { .. }
    ));
    assert!(matches!(
        refused(json!({ "exclusiveMinimum": true })),
        SchemaError::Malformed { .. }
    ));
    assert!(matches!(
        refused(json!({ "$ref": "https://a.example" })),
        SchemaError::RemoteRef { .. }
    ));
    assert!(matches!(
        refused(json!({ "$ref": "#/no" })),
        SchemaError::DanglingRef { .. }
    ));
    assert!(matches!(refused(nested(65)), SchemaError::TooDeep { .. }));
    assert!(foreign(nested(64)).unenforced().is_empty());
    let wide = |count| json!({ "$schema": DRAFT7, "items": vec![json!({}); count] });
    assert!(matches!(
        refused(wide(10_000)),
        SchemaError::TooLarge { limit: 10_000 }
    ));
    assert!(foreign(wide(9_999)).unenforced().is_empty());
    // Not under a keyword, and so not surveyed: only references lead there.
    let mut hidden: Vec<Value> = (1..11_000)
        .map(|at| json!({ "$ref": format!("#/x/{at}") }))
        .collect();
    hidden.push(json!({}));
    let schema = json!({ "x": hidden, "$ref": "#/x/0" });
    assert!(matches!(
        refused(schema),
        SchemaError::TooLarge { limit: 10_000 }
    ));
}

// spec: 2026-07-28 N-SCH-08
#[test]
fn the_patterns_and_the_steps_of_a_foreign_schema_are_bounded() {
    let patterns = |count: usize| {
        let members = (0..count).map(|at| (format!("^{at}$"), json!({ "type": "null" })));
        json!({ "patternProperties": members.collect::<JsonObject>() })
    };
    assert!(foreign(patterns(64)).unenforced().is_empty());
    assert_eq!(foreign(patterns(65)).unenforced().len(), 1);
    let slow = foreign(json!({ "items": { "pattern": "(a{40}){40}b" } }));
    let endless = json!(vec!["a".repeat(2_000); 100]);
    assert_eq!(slow.check(&endless), Validity::Unchecked);
    assert_eq!(slow.validate(&endless), Ok(()));
    let enums = foreign(json!({ "items": { "enum": [vec![json!({}); 1_000], 1] } }));
    assert_eq!(
        enums.check(&json!(vec![vec![json!({}); 1_000]; 2_000])),
        Validity::Unchecked
    );
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({ "type": "string", "pattern": "(?=a)" })),
        Just(json!({ "type": ["integer", "null"], "minimum": 1 })),
        Just(json!({ "$ref": "#/$defs/A" })),
        Just(json!({ "unevaluatedProperties": false, "required": ["a"] })),
        Just(json!({ "enum": ["a", 1, null] })),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|schema| json!({ "not": schema })),
            inner
                .clone()
                .prop_map(|schema| json!({ "properties": { "a": schema } })),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({ "items": [a], "additionalItems": b })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({ "oneOf": [a, b] })),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({ "anyOf": [a, b] })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
            inner.prop_map(|schema| json!({ "dependencies": { "a": schema, "b": ["a"] } })),
        ]
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!("a"))];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            inner.prop_map(|value| json!({ "a": value, "b": 1 })),
        ]
    })
}

/// Replaces each unreadable pattern by a schema that always, or never, holds.
fn with_patterns(schema: &Value, replacement: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: JsonObject = members
                .iter()
                .map(|(name, value)| (name.clone(), with_patterns(value, replacement)))
                .collect();
            if members.shift_remove("pattern").is_some() {
                members.insert("allOf".to_owned(), json!([replacement]));
            }
            if members.shift_remove("unevaluatedProperties").is_some() {
                members.insert("allOf".to_owned(), json!([replacement]));
            }
            Value::Object(members)
        }
        Value::Array(items) => items
            .iter()
            .map(|item| with_patterns(item, replacement))
            .collect(),
        other => other.clone(),
    }
}

proptest! {
    // Certainly invalid, or certainly valid: the left-out parts cannot change either.
    #[test]
    fn a_certain_verdict_ignores_left_out_keywords(schema in any_schema(), value in any_value()) {
        let whole = json!({ "$schema": DRAFT2019, "allOf": [schema], "$defs": { "A": { "type": "object" } } });
        let verdict = foreign(whole.clone()).check(&value);
        for replacement in [json!(true), json!(false)] {
            let decided = foreign(with_patterns(&whole, &replacement)).check(&value);
            match &verdict {
                Validity::Valid => prop_assert_eq!(decided, Validity::Valid),
                Validity::Invalid(_) => prop_assert!(matches!(decided, Validity::Invalid(_))),
                Validity::PartlyChecked => {}
                Validity::Unchecked => prop_assert!(false),
            }
        }
    }
}
