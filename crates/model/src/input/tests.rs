use serde_json::json;

use super::*;
use crate::method::{CreateMessage, Elicit, ListRoots, Method};
use crate::{ElicitParams, ElicitResult, ElicitSchema, InputResponses, ListRootsResult, NoParams};

// Some peers cannot read a question without `params`.
// spec: 2026-07-28 N-MRTR-05, N-MRTR-06, N-META-14
#[test]
fn questions_have_a_method_and_params_but_no_envelope() {
    let mut requests = InputRequests::new();
    requests.insert("name", ElicitParams::form("Who?", ElicitSchema::new()));
    requests.insert("roots", InputRequest::ListRoots(NoParams::default()));
    let wire = serde_json::to_value(InputRequired::asking(requests.clone())).unwrap();

    assert_eq!(
        wire,
        json!({"inputRequests": {
            "name": {"method": "elicitation/create", "params": {
                "mode": "form", "message": "Who?",
                "requestedSchema": {"type": "object", "properties": {}}
            }},
            "roots": {"method": "roots/list", "params": {}}
        }})
    );
    let read: InputRequired = serde_json::from_value(wire).unwrap();
    assert_eq!(read.input_requests, Some(requests));
}

#[test]
fn parameters_come_before_or_after_the_method() {
    let text = r#"{"params":{"message":"Go","url":"https://a","mode":"url"},"method":"elicitation/create"}"#;
    let request: InputRequest = serde_json::from_str(text).unwrap();

    assert_eq!(request, ElicitParams::url("Go", "https://a").into());
}

#[test]
fn a_question_of_an_unknown_method_is_kept() {
    let wire = json!({"method": "future/ask", "params": [1]});
    let request: InputRequest = serde_json::from_value(wire.clone()).unwrap();

    assert_eq!(request.kind(), None);
    assert_eq!(serde_json::to_value(&request).unwrap(), wire);
}

// spec: 2026-07-28 N-MRTR-05
#[test]
fn a_name_that_is_there_twice_is_refused() {
    let twice = r#"{"a":{"method":"roots/list"},"a":{"method":"roots/list"}}"#;

    assert!(serde_json::from_str::<InputRequests>(twice).is_err());
    assert!(serde_json::from_str::<InputResponses>(r#"{"a":{},"a":{}}"#).is_err());
}

// spec: 2026-07-28 N-MRTR-23, N-MRTR-24
#[test]
fn an_answer_is_read_as_its_question_asks() {
    let responses = InputResponses::from_iter([("name", ElicitResult::decline())]);

    assert_eq!(
        responses.read("name", InputKind::Elicit).unwrap(),
        Some(InputResponse::Elicit(ElicitResult::decline()))
    );
    assert!(responses.read("name", InputKind::ListRoots).is_err());
    assert_eq!(responses.read("other", InputKind::Elicit).unwrap(), None);
}

// spec: 2026-07-28 N-MRTR-24
#[test]
fn a_response_must_be_an_object() {
    for text in [
        r#"{"a":null}"#,
        r#"{"a":"yes"}"#,
        r#"{"a":[]}"#,
        "[]",
        "null",
    ] {
        assert!(
            serde_json::from_str::<InputResponses>(text).is_err(),
            "{text}"
        );
    }
    let empty = InputResponses::from_iter([("roots", ListRootsResult::default())]);
    assert_eq!(
        serde_json::to_value(&empty).unwrap(),
        json!({"roots": {"roots": []}})
    );
}

#[test]
fn a_kind_of_input_has_the_name_of_its_method() {
    assert_eq!(InputKind::Elicit.method(), Elicit::NAME);
    assert_eq!(InputKind::CreateMessage.method(), CreateMessage::NAME);
    assert_eq!(InputKind::ListRoots.method(), ListRoots::NAME);
}
