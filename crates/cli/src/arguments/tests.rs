use std::io;

use pintle::model::JsonObject;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::error::ArgumentError;
use super::*;
use crate::exit::Exit;

fn object(value: Value) -> JsonObject {
    value.as_object().expect("an object").clone()
}

fn read(file: Option<&str>) -> io::Result<String> {
    match file {
        None => Ok(r#"{"in": 1}"#.to_owned()),
        Some("a.json") => Ok(r#"{"file": [1]}"#.to_owned()),
        Some("note.txt") => Ok("line\n".to_owned()),
        Some("list.json") => Ok("[1]".to_owned()),
        Some(_) => Err(io::ErrorKind::NotFound.into()),
    }
}

fn built(schema: Value, typed: &[&str]) -> Result<Built, ArgumentError> {
    let typed: Vec<_> = typed.iter().map(|word| (*word).to_owned()).collect();
    build(&words(&typed)?, &object(schema), &mut read)
}

fn arguments(schema: Value, typed: &[&str]) -> Value {
    Value::Object(
        built(schema, typed)
            .unwrap_or_else(|error| panic!("{typed:?}: {error}"))
            .arguments,
    )
}

fn of(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "x": schema } })
}

#[test]
fn text_is_converted_to_the_type_in_the_schema() {
    for (schema, text, value) in [
        (json!({ "type": "string" }), "5", json!("5")),
        (json!({ "type": "string" }), "", json!("")),
        (json!({ "type": "string" }), "a=b=c", json!("a=b=c")),
        (json!({ "type": "integer" }), "5", json!(5)),
        (json!({ "type": "integer" }), "+5", json!(5)),
        (json!({ "type": "integer" }), "-5", json!(-5)),
        (json!({ "type": "number" }), "0.5", json!(0.5)),
        (json!({ "type": "number" }), "1e3", json!(1000.0)),
        (json!({ "type": "boolean" }), "yes", json!(true)),
        (json!({ "type": "boolean" }), "False", json!(false)),
        (json!({ "type": "boolean" }), "0", json!(false)),
        (json!({ "type": "null" }), "null", Value::Null),
        (json!({ "type": ["string", "null"] }), "null", Value::Null),
        (
            json!({ "type": ["string", "integer"] }),
            "8080",
            json!(8080),
        ),
        (
            json!({ "type": ["string", "integer"] }),
            "007",
            json!("007"),
        ),
        (
            json!({ "type": ["string", "boolean"] }),
            "auto",
            json!("auto"),
        ),
        (
            json!({ "type": "array", "items": { "type": "string" } }),
            "a,b",
            json!(["a,b"]),
        ),
        (
            json!({ "type": "array", "items": { "type": "integer" } }),
            "1, 2",
            json!([1, 2]),
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] } }),
            "a,b",
            json!(["a", "b"]),
        ),
        (json!({ "type": "array" }), "", json!([])),
        (json!({ "type": "array" }), "[1, \"a\"]", json!([1, "a"])),
        (json!({ "type": "object" }), "{\"a\": 1}", json!({ "a": 1 })),
        (json!({ "enum": ["1", 2, null, true] }), "2", json!(2)),
        (json!({ "enum": ["1", 2, null, true] }), "1", json!("1")),
        (json!({ "enum": ["1", 2, null, true] }), "null", Value::Null),
        (json!({ "const": 7 }), "7", json!(7)),
        (json!({}), "5", json!(5)),
        (json!({}), "five", json!("five")),
        (json!(true), "[1]", json!([1])),
        (json!({ "$ref": "#/$defs/n" }), "5", json!(5)),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
            "5",
            json!(5),
        ),
        (
            json!({ "allOf": [{ "$ref": "#/$defs/n" }, { "minimum": 1 }] }),
            "5",
            json!(5),
        ),
    ] {
        let mut whole = of(schema.clone());
        whole["$defs"] = json!({ "n": { "type": "integer" } });
        let found = arguments(whole, &[&format!("x={text}")]);
        assert_eq!(found, json!({ "x": value }), "{schema} {text}");
    }
}

#[test]
fn dots_in_a_key_nest_objects_and_lists() {
    let point = json!({ "type": "object", "properties": { "lat": { "type": "number" }, "name": { "type": "string" } } });
    let schema = json!({ "type": "object", "properties": {
        "at": point, "all": { "type": "array", "items": point }, "with.dot": { "type": "integer" },
        "any": {}, "many": { "type": "array", "items": { "type": "integer" } },
        "free": { "type": "object", "additionalProperties": { "type": "string" } } } });
    for (typed, expected) in [
        (
            &["at.lat=1", "at.name=2"][..],
            json!({ "at": { "lat": 1, "name": "2" } }),
        ),
        (
            &["all.0.lat=1", "all.1.name=b"],
            json!({ "all": [{ "lat": 1 }, { "name": "b" }] }),
        ),
        (&["with.dot=5"], json!({ "with.dot": 5 })),
        (&["any.a\\.b.0=5"], json!({ "any": { "a.b": { "0": 5 } } })),
        (
            &["many=1", "many=2", "many=3"],
            json!({ "many": [1, 2, 3] }),
        ),
        (&["any=1", "any=a"], json!({ "any": [1, "a"] })),
        (&["free.x=5"], json!({ "free": { "x": "5" } })),
        (
            &["{\"at\": {\"lat\": 1}, \"any\": 1}", "at.lat=2"],
            json!({ "at": { "lat": 2 }, "any": 1 }),
        ),
        (&["any:={\"a\": null}"], json!({ "any": { "a": null } })),
        (&["many:=[4]"], json!({ "many": [4] })),
        (&["-", "@a.json"], json!({ "in": 1, "file": [1] })),
        (
            &["at.name=@note.txt", "any:=@a.json"],
            json!({ "at": { "name": "line\n" }, "any": { "file": [1] } }),
        ),
        (&["any:=@-"], json!({ "any": { "in": 1 } })),
        (&["any=@"], json!({ "any": "@" })),
        (&[], json!({})),
    ] {
        assert_eq!(arguments(schema.clone(), typed), expected, "{typed:?}");
    }
}

#[test]
fn an_invalid_argument_is_a_usage_error() {
    let deep = format!("{}x=1", "a.".repeat(40));
    for (typed, part) in [
        (&["word"][..], "invalid argument `word`"),
        (&["=1"], "empty"),
        (&["a..b=1"], "empty"),
        (&[&deep], "too many parts"),
        (&["x:=nonsense"], "the value of `x` is not JSON"),
        (&["{\"a\""], "the object is not JSON"),
        (&["@list.json"], "list.json is not a JSON object"),
        (&["@none"], "cannot read none"),
        (&["x=@none"], "cannot read none"),
        (&["x=1", "x=2"], "`x` is given twice"),
        (&["x=1", "x.y=2"], "a single value"),
        (&["l.1=1"], "numbered from 0"),
        (&["l=[]", "l.a=1"], "numbered from 0"),
    ] {
        let schema = json!({ "type": "object", "properties": {
            "x": { "type": "integer" }, "l": { "type": "array" } } });
        let error = built(schema, typed).expect_err(part);
        assert_eq!(error.exit(), Exit::Usage, "{error}");
        assert!(error.to_string().contains(part), "{typed:?}: {error}");
    }
}

#[test]
fn an_error_of_the_schema_names_the_expected_value() {
    let schema = json!({ "type": "object", "additionalProperties": false, "required": ["count", "name"],
        "properties": { "count": { "type": "integer", "minimum": 1, "maximum": 50 },
            "name": { "type": "string", "description": "Whom to greet." },
            "deep": { "type": "object", "properties": { "on": { "type": "boolean" } } },
            "mode": { "enum": ["fast", "slow"] } } });
    for (typed, fault) in [
        (
            &["name=a", "count=abc"][..],
            "`count` is \"abc\"; expected an integer",
        ),
        (&["name=a", "count=99"], "`count` is 99; expected"),
        (
            &["count=1"],
            "`name` is missing; expected a string: Whom to greet.",
        ),
        (
            &["name=a", "count=1", "deep.on=perhaps"],
            "`deep.on` is \"perhaps\"; expected a boolean",
        ),
        (
            &["name=a", "count=1", "mode=fats"],
            "`mode` is \"fats\"; expected one of \"fast\", \"slow\"",
        ),
        (
            &["name=a", "count=1", "cuont=1"],
            "no argument `cuont` (did you mean `count`?)",
        ),
    ] {
        let error = built(schema.clone(), typed).expect_err(fault);
        assert_eq!(error.exit(), Exit::Schema, "{error}");
        assert!(error.to_string().contains(fault), "{typed:?}: {error}");
    }
    let error = built(schema, &["count=x"]).expect_err("two faults");
    assert_eq!(error.to_string().lines().count(), 2, "{error}");
}

#[test]
fn an_unknown_argument_that_is_permitted_causes_a_remark() {
    let schema = of(json!({ "type": "string" }));
    let built = built(schema, &["x=1", "xx=1"]).expect("built");
    assert_eq!(built.remarks.len(), 1, "{:?}", built.remarks);
    let open = json!({ "type": "object" });
    assert_eq!(self::built(open, &["a=1"]).expect("built").remarks, [""; 0]);
}

#[test]
fn the_server_enforces_a_schema_that_cannot_be_compiled() {
    let members = json!({ "x": { "type": "integer" } });
    let closed = json!({ "type": "object", "unevaluatedProperties": false, "properties": members });
    assert_eq!(
        arguments(closed.clone(), &["x=5", "y=1"]),
        json!({ "x": 5, "y": 1 })
    );
    let error = built(closed, &["x=abc"]).expect_err("no integer");
    assert_eq!(error.exit(), Exit::Schema, "{error}");
    let strange = json!({ "$schema": "urn:own", "type": "object", "properties": members });
    assert_eq!(arguments(strange, &["x=abc"]), json!({ "x": "abc" }));
}

#[test]
fn a_schema_of_an_older_draft_is_enforced_where_it_reads_the_same() {
    let mut schema = of(json!({ "type": "number" }));
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    let error = built(schema, &["x=two"]).expect_err("no number");
    assert_eq!(error.exit(), Exit::Schema, "{error}");
}

#[test]
fn a_schema_with_circular_references_terminates() {
    let schema = json!({ "$ref": "#", "type": "object", "properties": { "x": { "$ref": "#/properties/x" }, "y": { "$ref": "#" } } });
    // The validator decides the meaning of such a schema. This test checks that the build ends.
    let ended = built(schema, &["x=5", "y.y.y.x=1"]);
    assert!(ended.is_ok() || ended.is_err_and(|error| error.exit() == Exit::Schema));
}

#[test]
fn a_list_of_itself_terminates() {
    let list = json!({ "type": "array", "items": { "$ref": "#/properties/a" } });
    let schema = json!({ "type": "object", "properties": { "a": list } });
    let error = built(schema.clone(), &["a=x"]).expect_err("only lists of nothing fit");
    assert_eq!(error.exit(), Exit::Schema, "{error}");
    let found = arguments(schema.clone(), &["a=[[],[[]]]"]);
    assert_eq!(found, json!({ "a": [[], [[]]] }));
    let schema = object(schema);
    let kind = Guide::new(&schema).member("a").kind();
    assert_eq!(kind, "list of list of list of list");
}

#[test]
fn kinds_are_described_in_words() {
    for (schema, kind) in [
        (json!({ "type": ["integer", "null"] }), "integer or null"),
        (
            json!({ "type": "array", "items": { "type": "number" } }),
            "list of number",
        ),
        (json!({}), "any"),
    ] {
        assert_eq!(Guide::new(&object(schema)).kind(), kind);
    }
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "integer" })),
        Just(json!({ "type": ["number", "null"] })),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "enum": ["a", 1, null] })),
        Just(json!({ "type": 5, "enum": 5, "properties": 5, "items": 5, "$ref": 5 })),
        Just(json!({ "$ref": "#/properties/a" })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({ "type": "array", "items": items })),
            inner
                .clone()
                .prop_map(|b| json!({ "type": "object", "properties": { "b": b } })),
            prop::collection::vec(inner, 0..3).prop_map(|any| json!({ "anyOf": any })),
        ]
    })
}

proptest! {
    #[test]
    fn no_words_and_no_schema_panic(
        schema in schemas(),
        typed in prop::collection::vec("(a|b|0|\\.|\\\\|é){0,6}(=|:=|)(\\PC{0,8}|[0-9\\[\\]{},\"]{0,8}|@|-)", 0..5),
    ) {
        let schema = object(json!({ "type": "object", "properties": { "a": schema } }));
        if let Ok(words) = words(&typed) {
            let _ = build(&words, &schema, &mut read);
        }
    }

    #[test]
    fn a_value_written_as_json_arrives_unchanged(number in any::<i64>(), text in any::<String>()) {
        let value = json!({ "n": number, "t": [text] });
        let found = arguments(json!({ "type": "object" }), &[&format!("x:={value}")]);
        prop_assert_eq!(found, json!({ "x": value }));
    }
}
