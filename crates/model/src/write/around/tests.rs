use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::write::write_json;
use crate::{
    AudioContent, CallToolResult, ContentBlock, GetPromptResult, ImageContent, Meta, PromptMessage,
    ReadResourceResult, ResourceContents, Role,
};

const LARGE: usize = 16 << 10;

fn around<T: Serialize + Clone + PartialEq + std::fmt::Debug>(
    value: &T,
    find: fn(&mut T) -> Option<&mut Base64>,
) -> (Vec<u8>, Option<Bytes>) {
    let mut out = b"before ".to_vec();
    let mut given = value.clone();
    let parts = write_around(&mut out, &mut given, find, |value, out| {
        write_json(out, value)
    });
    assert_eq!(given, *value, "the value is unchanged");
    let Some((base64, after)) = parts.expect("writable") else {
        return (out.split_off(7), None);
    };
    out.extend_from_slice(&base64);
    out.extend_from_slice(&after);
    (out.split_off(7), Some(base64))
}

/// Returns whether a base64 was not copied.
fn assert_same<T: Serialize + Clone + PartialEq + std::fmt::Debug>(
    value: &T,
    find: fn(&mut T) -> Option<&mut Base64>,
) -> bool {
    let (whole, base64) = around(value, find);
    assert_eq!(whole, serde_json::to_vec(value).expect("JSON"));
    base64.is_some()
}

/// Base64 whose JSON has `length` bytes. Other text than base64 may need escapes.
fn base64(length: usize, needs_escapes: bool) -> Base64 {
    let mut text = "A".repeat(length.saturating_sub(2));
    if needs_escapes && length >= 8 {
        text.replace_range(..4, "\\\n");
    }
    Base64::from_text(&text)
}

fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![0..100_usize, LARGE - 2..LARGE + 3, Just(3 * LARGE)]
}

fn blobs() -> impl Strategy<Value = Base64> {
    (lengths(), any::<bool>()).prop_map(|(length, escapes)| base64(length, escapes))
}

fn contents() -> impl Strategy<Value = ResourceContents> {
    prop_oneof![
        "(?s).{0,20}".prop_map(|text| ResourceContents::text("a:b\n", text)),
        blobs().prop_map(|blob| crate::BlobResourceContents::new("a:[\n]", blob).into()),
        Just(json!({ "uri": "a:b", "stream": "[\n]" }))
            .prop_map(|wire| serde_json::from_value(wire).expect("an item")),
    ]
}

fn blocks() -> impl Strategy<Value = ContentBlock> {
    let annotated = blobs().prop_map(|data| {
        let mut image = ImageContent::new(data, "image/png");
        image.meta = Some(Meta::new());
        image.extra.insert("data".to_owned(), json!(["\n", [], ""]));
        ContentBlock::Image(image)
    });
    prop_oneof![
        "(?s).{0,20}".prop_map(ContentBlock::text),
        annotated,
        blobs().prop_map(|data| AudioContent::new(data, "audio/wav\n").into()),
        contents().prop_map(ContentBlock::resource),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_parts_of_a_tool_result_equal_the_text_of_serde_json(
        content in prop::collection::vec(blocks(), 0..5),
        has_data in any::<bool>(),
    ) {
        let mut result = CallToolResult::new(content);
        let nested = serde_json::to_value(&result).expect("JSON");
        result.structured_content = has_data.then_some(nested);
        assert_same(&result, CallToolResult::large_base64);
    }

    #[test]
    fn the_parts_of_a_read_equal_the_text_of_serde_json(
        contents in prop::collection::vec(contents(), 0..5),
    ) {
        let mut result = ReadResourceResult::new(contents);
        result.extra.insert("x".to_owned(), json!("[\n]"));
        assert_same(&result, ReadResourceResult::large_base64);
    }

    #[test]
    fn the_parts_of_a_prompt_equal_the_text_of_serde_json(
        contents in prop::collection::vec(blocks(), 0..4),
    ) {
        let messages = contents.into_iter();
        let messages = messages.map(|content| PromptMessage::new(Role::User, content));
        assert_same(
            &GetPromptResult::new(messages.collect()),
            GetPromptResult::large_base64,
        );
    }
}

#[test]
fn base64_of_16_kib_is_not_copied_and_smaller_base64_is() {
    for (length, is_apart) in [
        (2, false),
        (LARGE - 1, false),
        (LARGE, true),
        (LARGE + 1, true),
    ] {
        let image = ImageContent::new(base64(length, false), "image/png");
        let result = CallToolResult::new(vec![image.into()]);
        let found = assert_same(&result, CallToolResult::large_base64);
        assert_eq!(found, is_apart, "{length}");
    }
}

#[test]
fn the_base64_has_the_memory_of_the_value() {
    let data = base64(LARGE, true);
    let image = ImageContent::new(data.clone(), "image/png");
    let result = CallToolResult::new(vec![image.into()]);
    let (_, apart) = around(&result, CallToolResult::large_base64);
    let apart = apart.expect("a large base64");
    assert_eq!(apart.as_ptr().wrapping_add(1), data.as_str().as_ptr());
    drop((result, data));
    assert_eq!(apart.len(), base64(LARGE, true).into_json().len());
}

#[derive(Debug, Clone, Serialize)]
struct WithRaw {
    raw: Box<RawValue>,
    data: Base64,
}

impl PartialEq for WithRaw {
    fn eq(&self, other: &Self) -> bool {
        self.raw.get() == other.raw.get() && self.data == other.data
    }
}

#[test]
fn a_base64_is_copied_if_other_json_looks_like_its_mark() {
    let value = WithRaw {
        raw: RawValue::from_string("[[\n]]".to_owned()).expect("JSON"),
        data: base64(LARGE, false),
    };
    assert!(!assert_same(&value, |value| Some(&mut value.data)));
}

#[test]
fn a_base64_that_is_not_written_has_no_parts() {
    let mut value = (7, base64(LARGE, false));
    let mut out = Vec::new();
    let parts = write_around(
        &mut out,
        &mut value,
        |value| Some(&mut value.1),
        |value, out| write_json(out, &value.0),
    );
    assert_eq!((parts.expect("writable"), &*out), (None, &b"7"[..]));
}

#[test]
fn a_value_that_cannot_be_written_is_unchanged() {
    let mut value = (7, base64(LARGE, false));
    let unwritable = |_: &(i32, Base64), _: &mut Vec<u8>| Err(serde::ser::Error::custom("no"));
    let parts = write_around(
        &mut Vec::new(),
        &mut value,
        |value| Some(&mut value.1),
        unwritable,
    );
    assert!(parts.is_err());
    assert_eq!(value.1, base64(LARGE, false));
}

#[test]
fn large_base64_is_the_same_text_in_a_value() {
    let text = "A".repeat(LARGE);
    let value = serde_json::to_value(Base64::from_text(&text));
    assert_eq!(value.expect("JSON"), Value::String(text));
}
