use super::*;

macro_rules! errors {
    ($type:ty: $($text:literal => $expected:literal,)*) => {$(
        let error = serde_json::from_str::<$type>($text).err().expect($text);
        assert_eq!(error.to_string(), $expected, "{}", $text);
    )*};
}

#[test]
fn an_error_of_parameters_has_the_position_of_the_wrong_member() {
    errors! { CallParams<'_>:
        r#"{}"# => "missing field `name` at line 1 column 2",
        r#"{"name": 5}"# => "invalid type: integer `5`, expected a string at line 1 column 10",
        r#"{"name": "a", "requestState": 5}"# =>
            "invalid type: integer `5`, expected a string at line 1 column 31",
        r#"{"name": "a", "name": "b"}"# => "duplicate field `name` at line 1 column 20",
    }
    errors! { ReadParams<'_>: r#"{}"# => "missing field `uri` at line 1 column 2", }
    errors! { PromptParams<'_>:
        r#"{"name": "a", "arguments": {"b": 5}}"# =>
            "invalid type: integer `5`, expected a string at line 1 column 34",
        r#"{"name": "a", "arguments": 5}"# =>
            "invalid type: integer `5`, expected a map at line 1 column 28",
    }
    errors! { PageParams:
        r#"{"cursor": 5}"# => "invalid type: integer `5`, expected a string at line 1 column 12",
    }
}

#[test]
fn a_member_that_is_null_is_absent_and_others_are_skipped() {
    let text = r#"{"task": null, "name": "a\n", "x": {"y": 1e999}, "requestState": null, "arguments": [1]}"#;
    let params: CallParams<'_> = serde_json::from_str(text).expect("parameters");
    assert_eq!(params.name, "a\n");
    assert!(params.task.is_none() && params.request_state.is_none());
    assert_eq!(params.arguments.map(RawJson::get), Some("[1]"));
    let text = r#"{"name": "a", "requestState": "\u0061"}"#;
    let params: PromptParams<'_> = serde_json::from_str(text).expect("parameters");
    assert!(matches!(params.name, Cow::Borrowed("a")));
    assert_eq!(params.request_state.as_deref(), Some("a"));
}
