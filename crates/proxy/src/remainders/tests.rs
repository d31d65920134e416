use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::cut::Cut;

const URI: &str = "pintle-result:///1";

/// Cuts content at a number of bytes. Returns the kept blocks, and the contents of the remainder.
fn cut(room: usize, blocks: &[Value], structured: Option<Value>) -> (Value, Vec<Value>, bool) {
    let mut cut = Cut::new(room, URI);
    for block in blocks {
        cut.add(&to_raw_value(block).expect("JSON"))
            .expect("a block");
    }
    let structured = structured.map(|value| to_raw_value(&value).expect("JSON"));
    let has_structured = structured.is_some_and(|raw| cut.add_structured(raw.get()));
    let (kept, rest) = cut.finish();
    let kept = serde_json::to_value(&kept).expect("JSON");
    (
        kept,
        rest.map(|rest| rest.contents).unwrap_or_default(),
        has_structured,
    )
}

#[test]
fn a_picture_without_room_is_left_out_as_a_blob() {
    let picture = json!({ "type": "image", "mimeType": "image/png", "data": "AAAA".repeat(50) });
    let text = json!({ "type": "text", "text": "short" });
    let (kept, rest, _) = cut(100, &[picture.clone(), text.clone()], None);
    assert_eq!(kept, json!([text]));
    let blob = json!({ "uri": URI, "mimeType": "image/png", "blob": picture["data"] });
    assert_eq!(rest, [blob]);
}

#[test]
fn an_embedded_resource_stays_itself_in_the_remainder() {
    let resource = json!({ "uri": "memo:///a", "text": "x".repeat(200) });
    let block = json!({ "type": "resource", "resource": resource });
    let (kept, rest, _) = cut(100, &[block], None);
    assert_eq!((kept, rest), (json!([]), vec![resource]));
}

#[test]
fn structured_content_is_kept_whole_or_not_at_all() {
    let value = json!({ "n": 1 });
    assert!(cut(7, &[], Some(value.clone())).2);
    let (_, rest, has_structured) = cut(6, &[], Some(value));
    assert!(!has_structured);
    let left = json!({ "uri": URI, "mimeType": "application/json", "text": "{\"n\":1}" });
    assert_eq!(rest, [left]);
}

#[test]
fn a_text_is_cut_between_characters_and_at_its_size_as_json() {
    for (text, room, head) in [
        ("äöü".repeat(30), 5, "äö"),
        ("\u{1}".repeat(30), 13, "\u{1}\u{1}"),
        ("\n".repeat(60), 5, "\n\n"),
        ("🦀".repeat(30), 3, ""),
    ] {
        let block = json!({ "type": "text", "text": text, "annotations": { "priority": 1 } });
        let (kept, rest, _) = cut(room, &[block], None);
        assert_eq!(kept[0]["text"].as_str().unwrap_or_default(), head);
        if !head.is_empty() {
            assert_eq!(kept[0]["annotations"], json!({ "priority": 1 }));
        }
        let tail = rest[0]["text"].as_str().expect("text");
        assert_eq!(format!("{head}{tail}"), text);
    }
}

#[test]
fn a_text_whose_characters_have_room_is_whole() {
    let block = json!({ "type": "text", "text": "abc" });
    let (kept, rest, _) = cut(3, std::slice::from_ref(&block), None);
    assert_eq!((kept, rest), (json!([block]), Vec::new()));
}

#[test]
fn invalid_blocks_are_errors_or_are_left_out() {
    let long = "x".repeat(200);
    let mut cut = Cut::new(10, URI);
    for (block, is_valid) in [
        (json!({ "type": "future", "x": long }), true),
        (json!({ "type": "text", "x": long }), true),
        (json!({ "type": 1, "x": long }), false),
    ] {
        let added = cut.add(&to_raw_value(&block).expect("JSON"));
        assert_eq!(added.is_ok(), is_valid, "{block}");
    }
}
