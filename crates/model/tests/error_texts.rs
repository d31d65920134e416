//! The errors of types that are read in steps, or by a generic decoder: their words and positions.

use std::fmt::Debug;

use pintle_model::responses::PingResultResponse;
use pintle_model::{ElicitParams, InputRequest, NumberKind, PrimitiveSchema};
use serde::de::DeserializeOwned;

fn assert_errors<T: DeserializeOwned + Debug>(errors: &[(&str, &str)]) {
    for (text, expected) in errors {
        let error = serde_json::from_str::<T>(text).expect_err(text);
        assert_eq!(&error.to_string(), expected, "{text}");
    }
}

#[test]
fn an_error_of_an_elicitation_has_the_position_of_the_wrong_member() {
    assert_errors::<ElicitParams>(&[
        (
            r#"{"message": 1e999, "mode": "url"}"#,
            "number out of range at line 1 column 17",
        ),
        (
            r#"{"mode": "url", "mode": "url"}"#,
            "duplicate field `mode` at line 1 column 22",
        ),
        (
            r#"{"mode": null}"#,
            "missing field `message` at line 1 column 14",
        ),
        (
            "5",
            "invalid type: integer `5`, expected struct Peek at line 1 column 1",
        ),
    ]);
}

#[test]
fn an_error_of_an_input_request_has_the_position_of_the_wrong_member() {
    assert_errors::<InputRequest>(&[
        ("{}", "missing field `method` at line 1 column 2"),
        (
            r#"{"method": 5}"#,
            "invalid type: integer `5`, expected a string at line 1 column 12",
        ),
        (
            r#"{"method": "roots/list", "params": 5}"#,
            "invalid type: integer `5`, expected struct NoParams at line 1 column 36",
        ),
        (
            r#"{"method": "elicitation/create", "params": null}"#,
            "missing field `params`",
        ),
        (
            r#"{"method": "roots/list", "params": {}, "params": {}}"#,
            "duplicate field `params` at line 1 column 47",
        ),
    ]);
}

#[test]
fn an_error_of_a_response_has_the_position_of_the_wrong_member() {
    assert_errors::<PingResultResponse>(&[
        (
            "5",
            "invalid type: integer `5`, expected struct ResultResponse at line 1 column 1",
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1}"#,
            "missing field `result` at line 1 column 27",
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "id": 2}"#,
            "duplicate field `id` at line 1 column 32",
        ),
        (
            r#"{"result": [], "id": 1}"#,
            "invalid type: sequence, expected struct EmptyResult at line 1 column 11",
        ),
    ]);
}

#[test]
fn an_error_of_a_field_of_a_form_has_the_position_of_the_wrong_member() {
    assert_errors::<PrimitiveSchema>(&[
        (
            "[]",
            "invalid type: sequence, expected a map at line 1 column 0",
        ),
        (
            r#"{"type": "string", "enum": 5}"#,
            "invalid type: integer `5`, expected a sequence at line 1 column 28",
        ),
    ]);
    assert_errors::<NumberKind>(&[(
        r#""word""#,
        "unknown variant `word`, expected `integer` or `number` at line 1 column 6",
    )]);
    let unknown = r#"{"type":5}"#;
    let field: PrimitiveSchema = serde_json::from_str(unknown).expect("an unknown field");
    assert_eq!(serde_json::to_string(&field).expect("JSON"), unknown);
}
