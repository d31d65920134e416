use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::{CallToolResult, EmptyResult, TaskStatus};

fn raw(value: Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

fn read<R: DeserializeOwned>(value: Value) -> Result<Outcome<R>, OutcomeError> {
    Outcome::decode(&raw(value))
}

// spec: 2026-07-28 N-BASE-11
#[test]
fn a_result_without_a_type_is_complete() {
    let outcome = read::<CallToolResult>(json!({"content": []})).unwrap();

    assert_eq!(outcome, Outcome::Complete(CallToolResult::new(Vec::new())));
}

// spec: 2026-07-28 N-BASE-09
#[test]
fn the_type_of_a_result_is_not_kept_as_a_member() {
    let wire = json!({"a": 1, "resultType": "complete", "_meta": {"b": 2}});
    let result = read::<EmptyResult>(wire).unwrap().into_complete().unwrap();

    assert_eq!(
        serde_json::to_value(&result).unwrap(),
        json!({"_meta": {"b": 2}, "a": 1})
    );
}

// spec: 2026-07-28 N-MRTR-01, N-MRTR-17
#[test]
fn a_result_can_ask_first() {
    let outcome =
        read::<CallToolResult>(json!({"resultType": "input_required", "requestState": "s"}));

    assert_eq!(
        outcome.unwrap(),
        Outcome::InputRequired(InputRequired::resume("s"))
    );
}

// spec: 2026-07-28 X-TASK-07, X-TASK-08
#[test]
fn a_result_can_be_a_task() {
    let outcome = read::<CallToolResult>(json!({
        "resultType": "task", "taskId": "t", "status": "working", "ttlMs": null,
        "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z"
    }));

    assert_eq!(
        outcome.unwrap(),
        Outcome::Task(Box::new(TaskHandle::new("t", "2026-07-28T00:00:00Z")))
    );
}

// spec: 2026-07-28 N-BASE-10, N-EXT-11
#[test]
fn a_result_of_an_unknown_type_is_invalid() {
    let fault = read::<EmptyResult>(json!({"resultType": "future"})).unwrap_err();

    assert!(
        matches!(fault, OutcomeError::UnknownType { result_type } if &*result_type == "future")
    );
}

// spec: 2026-07-28 A-31
#[test]
fn a_duplicate_or_non_string_result_type_is_invalid() {
    let twice = r#"{"resultType":"complete","resultType":"input_required"}"#;
    let twice = RawValue::from_string(twice.to_owned()).unwrap();

    assert!(Outcome::<EmptyResult>::decode(&twice).is_err());
    assert!(read::<EmptyResult>(json!({"resultType": 1})).is_err());
    assert!(read::<EmptyResult>(json!([])).is_err());
}

// spec: 2025-11-25 TASK-16, AMB-13
#[test]
fn a_task_member_is_a_task_only_if_one_was_requested() {
    let wire = raw(json!({"content": [], "task": {
        "taskId": "t", "status": "working", "ttl": 1000,
        "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z"
    }}));

    let asked = Outcome::<CallToolResult>::decode_augmented(&wire).unwrap();
    assert!(matches!(asked, Outcome::Task(handle) if handle.status == TaskStatus::Working));
    let plain = Outcome::<CallToolResult>::decode(&wire).unwrap();
    assert!(plain.into_complete().unwrap().extra.contains_key("task"));
}

#[test]
fn the_kind_of_a_result_is_read_alike_by_both_readers() {
    for text in [
        "{}",
        r#"{"resultType":"complete"}"#,
        r#"{"content":[{"resultType":"task"}],"resultType":"input_required"}"#,
        r#"{"resultType":"t\u0061sk","task":{"taskId":"t"}}"#,
        r#"{"task":null}"#,
        r#"{"resultType":null}"#,
        r#"{"result\u0054ype":"task"}"#,
        r#"{"resultType":"task","resultType":"task"}"#,
        r#"{"task":1,"task":2}"#,
        r#"{"resultType":1}"#,
        "[]",
        "null",
    ] {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let careful: Option<Peek<'_>> = from_text(text).ok();
        assert_eq!(Peek::read(&raw).ok(), careful, "{text}");
        let kind = careful.map(|peek| peek.result_type.as_deref().map(ResultType::from));
        assert_eq!(ResultType::of(&raw).ok(), kind, "{text}");
    }
}

#[test]
fn one_pass_agrees_with_the_careful_reader() {
    let members = [
        "\"a\":1",
        "\"resultType\":\"complete\"",
        "\"resultType\":\"task\"",
        "\"resultType\":null",
        "\"resultType\":\"c\\u006fmplete\"",
        "\"content\":[]",
        "\"_meta\":7",
    ];
    for (first, second) in members
        .iter()
        .flat_map(|one| members.map(|other| (*one, other)))
    {
        for text in [format!("{{{first}}}"), format!("{{{first},{second}}}")] {
            let raw = RawValue::from_string(text).unwrap();
            let peek = Peek::read(&raw).map_err(OutcomeError::from);
            let careful = peek.and_then(|peek| Outcome::decode_as(&raw, peek.result_type));
            let read: Result<Outcome<CallToolResult>, _> = Outcome::decode(&raw);
            assert_eq!(read.ok(), careful.ok(), "{raw}");
        }
    }
}
