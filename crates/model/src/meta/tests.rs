use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::jsonrpc::ParamsRef;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn fault_of(params: &str) -> EnvelopeError {
    RequestEnvelope::of_params(Some(&ParamsRef::read(&raw(params)))).unwrap_err()
}

// spec: 2026-07-28 N-META-01, N-META-02, N-VER-01
#[test]
fn a_member_can_be_missing_invalid_or_valid() {
    let params = raw(r#"{"_meta":{
        "io.modelcontextprotocol/protocolVersion": 20260728,
        "io.modelcontextprotocol/clientInfo": "me",
        "progressToken": 7
    }}"#);
    let params = ParamsRef::read(&params);
    let envelope = RequestEnvelope::of_params(Some(&params)).unwrap();

    assert!(envelope.is_claimed());
    assert_eq!(
        envelope.protocol_version(),
        Err(EnvelopeError::WrongType {
            key: Meta::PROTOCOL_VERSION,
            expected: "a string"
        })
    );
    assert_eq!(
        envelope.client_capabilities(),
        Err(EnvelopeError::Missing {
            key: Meta::CLIENT_CAPABILITIES
        })
    );
    assert!(envelope.client_info().is_err());
    assert_eq!(envelope.log_level(), Ok(None));
    assert_eq!(envelope.progress_token(), Ok(Some(ProgressToken::from(7))));
}

// spec: 2026-07-28 N-META-01, N-META-03, N-META-06, N-META-12
#[test]
fn a_full_envelope_is_read_in_place() {
    let params = raw(r#"{"name":"add","_meta":{
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
        "io.modelcontextprotocol/logLevel": "warning",
        "io.modelcontextprotocol/related-task": {"taskId": "t"},
        "traceparent": "00-a-b-01", "tracestate": "x=y", "baggage": 3,
        "com.example/other": [1, 2]
    }}"#);
    let params = ParamsRef::read(&params);
    let envelope = RequestEnvelope::of_params(Some(&params)).unwrap();

    assert!(matches!(
        envelope.protocol_version(),
        Ok(Cow::Borrowed("2026-07-28"))
    ));
    assert_eq!(envelope.client_info().unwrap().unwrap().name, "c");
    assert!(envelope.client_capabilities().is_ok());
    assert_eq!(
        envelope.client_capabilities_text(),
        Some(r#"{"sampling": {}}"#)
    );
    assert_eq!(envelope.log_level(), Ok(Some(LoggingLevel::Warning)));
    assert_eq!(envelope.related_task().as_deref(), Some("t"));
    assert_eq!(envelope.trace_parent().as_deref(), Some("00-a-b-01"));
    assert_eq!(envelope.trace_state().as_deref(), Some("x=y"));
    assert_eq!(envelope.baggage(), None);
}

#[test]
fn a_key_with_escapes_is_the_same_key() {
    let params =
        raw(r#"{"_meta":{"io.modelcontextprotocol\/protocolVersion": "2026\u002d07-28"}}"#);
    let params = ParamsRef::read(&params);
    let envelope = RequestEnvelope::of_params(Some(&params)).unwrap();

    assert_eq!(envelope.protocol_version().as_deref(), Ok("2026-07-28"));
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    assert_eq!(
        fault_of(r#"{"_meta":{"progressToken":1,"progressToken":1}}"#),
        EnvelopeError::Duplicate {
            key: Meta::PROGRESS_TOKEN
        }
    );
    assert_eq!(
        fault_of(r#"{"_meta":{},"_meta":{}}"#),
        EnvelopeError::Duplicate { key: "_meta" }
    );
}

// spec: 2025-11-25 AMB-04
#[test]
fn params_and_metadata_must_be_objects() {
    assert_eq!(
        fault_of("[1]"),
        EnvelopeError::NotAnObject { member: "params" }
    );
    assert_eq!(
        fault_of(r#"{"_meta":"x"}"#),
        EnvelopeError::NotAnObject { member: "_meta" }
    );
    assert_eq!(
        fault_of(r#"{"_meta":null}"#),
        EnvelopeError::NotAnObject { member: "_meta" }
    );
}

#[test]
fn parameters_without_meta_claim_nothing() {
    let params = raw(r#"{"cursor":"x"}"#);

    assert!(
        !RequestEnvelope::of_params(Some(&ParamsRef::read(&params)))
            .unwrap()
            .is_claimed()
    );
}

#[test]
fn a_claim_is_found_however_its_name_is_written() {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    for name in ["_meta", "\\u005fmeta", "_met\\u0061"] {
        let params = raw(&format!("{{\"a\":\"_meta\",\"{name}\":{meta}}}"));
        let params = ParamsRef::read(&params);
        let envelope = RequestEnvelope::of_params(Some(&params)).unwrap();
        assert!(envelope.is_claimed(), "{name}");
    }
    for none in [r#"{"meta":1,"a_meta_":{}}"#, r#"{"a":"_meta"}"#] {
        let params = raw(none);
        let params = ParamsRef::read(&params);
        let envelope = RequestEnvelope::of_params(Some(&params)).unwrap();
        assert!(!envelope.is_claimed(), "{none}");
    }
    assert!(RequestEnvelope::of_params(Some(&ParamsRef::read(&raw("[]")))).is_err());
}

// spec: 2026-07-28 N-META-13, N-META-11
// spec: 2025-11-25 META-01, META-02, META-09 (progress and task)
#[test]
fn reserved_members_are_typed_and_others_survive() {
    let mut meta = Meta::from_iter([("com.example/x", json!({"a": [1]}))]);
    meta.set_progress_token(&ProgressToken::from("p"));
    meta.set_subscription_id(&RequestId::from(3));
    meta.set_related_task("t");

    let wire = serde_json::to_value(&meta).unwrap();
    assert_eq!(
        wire,
        json!({
            "com.example/x": {"a": [1]},
            "progressToken": "p",
            "io.modelcontextprotocol/subscriptionId": 3,
            "io.modelcontextprotocol/related-task": {"taskId": "t"}
        })
    );
    let read: Meta = serde_json::from_value(wire).unwrap();
    assert_eq!(read, meta);
    assert_eq!(read.progress_token(), Some(ProgressToken::from("p")));
    assert_eq!(read.subscription_id(), Some(RequestId::from(3)));
    assert_eq!(read.related_task(), Some("t"));
}

#[test]
fn the_immediate_response_of_a_task_is_read_as_text() {
    let key = Meta::MODEL_IMMEDIATE_RESPONSE;
    let read = |value| {
        let meta = Meta::from_iter([(key, value)]);
        meta.model_immediate_response().map(str::to_owned)
    };
    assert_eq!(
        read(json!("Working on it.")).as_deref(),
        Some("Working on it.")
    );
    assert_eq!(read(json!({"text": "no"})), None);
}
