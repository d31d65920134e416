use std::fmt;

use pintle_model::ErrorCode;

use super::*;

fn result(value: impl IntoToolResult) -> CallToolResult {
    match value.into_tool_result() {
        Ok(Outcome::Complete(result)) => result,
        other => panic!("a result was expected, not {other:?}"),
    }
}

fn text(value: impl IntoToolResult) -> String {
    let result = result(value);
    assert_eq!(result.content.len(), 1);
    assert!(!result.has_failed());
    result.first_text().unwrap().to_owned()
}

fn complaint(value: impl IntoToolResult) -> String {
    let result = result(value);
    assert!(result.has_failed());
    result.first_text().unwrap().to_owned()
}

#[derive(Debug)]
struct Outer(Inner);

#[derive(Debug)]
struct Inner;

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the order was not shipped")
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the warehouse is closed")
    }
}

impl StdError for Inner {}

impl StdError for Outer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn text_numbers_and_truth_are_one_text() {
    assert_eq!(text("a"), "a");
    assert_eq!(text(String::from("b")), "b");
    assert_eq!(text(-3_i64), "-3");
    assert_eq!(text(0.5_f64), "0.5");
    assert_eq!(text(true), "true");
}

#[test]
fn nothing_is_no_content() {
    assert!(result(()).content.is_empty());
}

#[test]
fn bytes_with_a_media_type_are_a_picture() {
    let result = result(Image::png([1, 2, 3]));
    match result.content.as_slice() {
        [ContentBlock::Image(image)] => assert_eq!(image.mime_type, "image/png"),
        other => panic!("a picture was expected, not {other:?}"),
    }
}

// spec: 2026-07-28 N-TOOL-14
// spec: 2025-11-25 TOOL-26
#[test]
fn an_error_is_told_to_the_model_with_its_causes() {
    let complaint_text = complaint(Err::<String, _>(Outer(Inner)));
    assert_eq!(
        complaint_text,
        "the order was not shipped: the warehouse is closed"
    );
    assert_eq!(complaint(Err::<(), _>("no such file")), "no such file");
    let boxed: Box<dyn StdError + Send + Sync> = "no".into();
    assert_eq!(complaint(Err::<(), _>(boxed)), "no");
    assert_eq!(text(Ok::<_, String>(1)), "1");
}

#[test]
fn a_protocol_error_takes_a_protocol() {
    let complaint_text = complaint(Err::<(), _>(Error::invalid_params("bad")));
    assert!(complaint_text.contains("bad"));
    let meant = Err::<(), _>(ProtocolError(Error::invalid_params("bad")));
    assert_eq!(
        meant.into_tool_result().unwrap_err().code,
        ErrorCode::INVALID_PARAMS
    );
    let inner: Result<Result<u8, String>, ProtocolError> = Ok(Err("for the model".into()));
    assert_eq!(complaint(inner), "for the model");
}
