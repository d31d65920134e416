use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::{Base64, CallToolResult, ContentBlock, ImageContent};

fn written<T: Serialize + ?Sized>(value: &T) -> String {
    let mut out = b"before ".to_vec();
    write_json(&mut out, value).expect("writable");
    String::from_utf8(out.split_off(7)).expect("text")
}

fn assert_same<T: Serialize + ?Sized>(value: &T) {
    assert_eq!(written(value), serde_json::to_string(value).expect("JSON"));
}

#[derive(Serialize)]
enum Shape {
    Unit,
    New(u8),
    Tuple(i16, f32),
    Struct { a: Option<char>, b: () },
}

#[derive(Serialize)]
struct All<'a> {
    shapes: [Shape; 4],
    unit: UnitStruct,
    pair: Pair,
    raw: &'a RawValue,
    bytes: Bytes,
    numbers: (u64, i64, i128, f64, f64, f64),
    keys: BTreeMap<i32, bool>,
    flags: BTreeMap<bool, ()>,
    #[serde(rename = "a \"name\"\n")]
    odd: Option<&'a str>,
    #[serde(flatten)]
    rest: BTreeMap<&'a str, Value>,
}

#[derive(Serialize)]
struct UnitStruct;

#[derive(Serialize)]
struct Pair(u32, String);

struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[test]
fn everything_is_written_as_serde_json_writes_it() {
    let raw = RawValue::from_string("{ \"kept\" : [1.0,  2e5] }".to_owned()).expect("JSON");
    assert_same(&All {
        shapes: [
            Shape::Unit,
            Shape::New(7),
            Shape::Tuple(-3, 0.5),
            Shape::Struct {
                a: Some('"'),
                b: (),
            },
        ],
        unit: UnitStruct,
        pair: Pair(u32::MAX, "é\u{7f}\u{1}".to_owned()),
        raw: &raw,
        bytes: Bytes(b"\x00\xff"),
        numbers: (u64::MAX, i64::MIN, i128::MIN, 1e300, -0.0, f64::NAN),
        keys: [(-1, true), (2, false)].into(),
        flags: [(true, ())].into(),
        odd: None,
        rest: [("x", json!([{}, [], null, 1.5]))].into(),
    });
}

#[test]
fn numbers_are_written_as_serde_json_writes_them() {
    let most = f64::from(u32::MAX);
    for number in [
        0.0,
        -0.0,
        1.0,
        -1.0,
        9.0,
        10.0,
        0.5,
        1e15,
        1e16,
        1e300,
        most,
        most + 1.0,
    ] {
        assert_same(&number);
        assert_same(&number.next_up());
        assert_same(&number.next_down());
    }
    assert_same(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    assert_same(&(0..2_000).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn every_character_is_escaped_as_serde_json_does_it_wherever_it_stands() {
    for special in (0..=0x80).filter_map(char::from_u32) {
        for before in 0..18 {
            assert_same(&format!(
                "{}{special}é{}",
                "x".repeat(before),
                "ü".repeat(9)
            ));
        }
    }
}

#[test]
fn every_character_of_a_long_text_is_escaped_as_serde_json_does_it() {
    for special in (0..=0x80).filter_map(char::from_u32) {
        for before in (0..70).chain(120..140) {
            let (before, after) = ("x".repeat(before), "é".repeat(70));
            assert_same(&format!("{before}{special}{after}{special}{special}"));
        }
    }
}

#[test]
fn a_text_of_any_length_is_written_whole() {
    for length in 0..300 {
        assert_same(&"x".repeat(length));
        assert_same(&"\"".repeat(length));
        assert_same(&"a\n".repeat(length));
    }
}

#[test]
fn a_key_must_be_text() {
    let map: BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into();
    assert!(write_json(&mut Vec::new(), &map).is_err());
    assert!(serde_json::to_string(&map).is_err());
}

#[test]
fn base64_is_written_as_it_stands() {
    let image = ImageContent::new(Base64::encode(vec![7; 64 << 10]), "image/png");
    assert_same(&CallToolResult::new(vec![ContentBlock::Image(image)]));
}

proptest! {
    #[test]
    fn any_text_is_written_as_serde_json_writes_it(text in "(?s).{0,80}") {
        assert_same(&text);
    }

    #[test]
    fn any_number_is_written_as_serde_json_writes_it(number: f64) {
        assert_same(&number);
        assert_same(&number.trunc());
    }

    #[test]
    fn escapes_are_written_as_serde_json_writes_them(
        bytes in prop::collection::vec(prop::sample::select(b"ab\"\\\n\x1f\x20\x7f".to_vec()), 0..60)
    ) {
        assert_same(&String::from_utf8(bytes).expect("ASCII"));
    }

    #[test]
    fn escapes_in_a_long_text_are_written_as_serde_json_writes_them(
        bytes in prop::collection::vec(prop::sample::select(b"abcdefghijkl\"\\\n\x1f\x20\x7f".to_vec()), 100..500)
    ) {
        assert_same(&String::from_utf8(bytes).expect("ASCII"));
    }
}
