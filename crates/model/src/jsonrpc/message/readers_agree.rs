//! The fast reader and the careful reader agree about every message that the fast one accepts.

use proptest::prelude::*;

use super::*;
use crate::jsonrpc::scan::MAX_DEPTH;

/// Returns all facts of a message, in a form that can be compared.
fn facts(message: &Message<'_>) -> String {
    format!("{message:?}")
}

fn both(text: &str, values: usize) -> (Option<String>, Option<String>) {
    let fast = scan::read(text, values).map(Message::scanned);
    let fast = fast.map(|message| facts(&message));
    let careful = Message::read_carefully(text, values);
    (fast, careful.ok().map(|message| facts(&message)))
}

fn fast_agrees(text: &str, values: usize) -> bool {
    let (fast, careful) = both(text, values);
    let agrees = fast.is_none() || fast == careful;
    assert!(agrees, "{text}: {fast:?}, {careful:?}");
    fast.is_some()
}

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p","other":[1]}"#;

#[test]
fn messages_in_order_are_read_in_one_pass() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned(),
        r#" {"method":"m","id":"a\u0041","x":[],"jsonrpc":"2.0","params": null } "#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"n","params":{"a":[{"b":-0.5e+3},true,false,null,{}]}}"#
            .to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":-7,"method":"tools/call","params":{{"name":"a","arguments":{{"x":"\"y\\"}},"_meta":{META}}}}}"#
        ),
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\n"}]}}"#.to_owned(),
        r#" {"result": [1] , "x":0,"jsonrpc":"2.0"} "#.to_owned(),
    ] {
        assert!(fast_agrees(&text, usize::MAX), "{text}");
    }
}

#[test]
fn everything_else_is_left_to_the_careful_reader() {
    for text in [
        "",
        "{}",
        "[]",
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"\u006d"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{},"_meta":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_met\u0061":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":7}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":01,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","a":"\x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","a":1.}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m",}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m"} x"#,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"a\":\"\u{1}\"}",
    ] {
        assert!(!fast_agrees(text, usize::MAX), "{text}");
    }
}

// hardening: H-113
#[test]
fn depth_and_number_of_values_are_bounded() {
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"a":{open}{close}}}}}"#)
    };
    assert!(fast_agrees(&deep(MAX_DEPTH - 2), usize::MAX));
    assert!(!fast_agrees(&deep(MAX_DEPTH - 1), usize::MAX));
    assert!(!fast_agrees(&deep(100_000), usize::MAX));
    let wide = r#"{"jsonrpc":"2.0","method":"m","params":{"a":["[,",1]}}"#;
    assert!(fast_agrees(wide, 6));
    assert!(!fast_agrees(wide, 5));
}

// hardening: H-113
#[test]
fn depth_and_number_of_values_of_results_are_bounded() {
    let result = |value: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{value}}}"#);
    let deep = |depth: usize| result(&("[".repeat(depth) + &"]".repeat(depth)));
    assert!(fast_agrees(&deep(MAX_DEPTH - 1), usize::MAX));
    assert!(!fast_agrees(&deep(MAX_DEPTH), usize::MAX));
    assert!(!fast_agrees(&deep(100_000), usize::MAX));
    for text in ["[,".to_owned(), "[,".repeat(600)] {
        let wide = result(&format!(r#"["{text}",1]"#));
        assert!(fast_agrees(&wide, 5));
        assert!(!fast_agrees(&wide, 4));
    }
}

#[test]
fn special_bytes_are_found_at_every_place() {
    for at in 0..40 {
        for (special, is_found) in [("\\n", true), ("é", false), ("\u{7f}", false)] {
            let value = format!("{}{special}{}", "a".repeat(at), "b".repeat(20));
            let text = format!(r#"{{"jsonrpc":"2.0","method":"m","{value}":1}}"#);
            assert_eq!(fast_agrees(&text, usize::MAX), !is_found, "{text}");
        }
        let text = format!("{{\"a\":\"{}\u{1f}\"}}", "é".repeat(at));
        assert!(!fast_agrees(&text, usize::MAX));
    }
}

/// Parts of messages, in order and out of order.
fn part() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        " ",
        "1",
        "-",
        "0",
        ".5",
        "e9",
        "true",
        "null",
        "\"a\"",
        "\"\\u00e9\"",
        "\"id\":",
        "\"id\":1,",
        "\"method\":\"m\",",
        "\"jsonrpc\":\"2.0\",",
        "\"params\":{",
        "\"name\":\"n\",",
        "\"_meta\":{",
        "\"progressToken\":",
        "\"_m\\u0065ta\":{",
        "\"result\":{},",
        "\"x\":",
        "é",
        "\u{1}",
    ]);
    prop_oneof![4 => fixed.prop_map(str::to_owned), 1 => ".{0,3}"]
}

fn value(depth: u32) -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((key(), inner), 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "name",
            "_meta",
            "progressToken",
            "uri",
            "arguments",
            "cursor"
        ])
        .prop_map(str::to_owned),
        ".{0,6}",
    ]
}

fn written(message: &serde_json::Value, is_pretty: bool) -> String {
    let text = match is_pretty {
        true => serde_json::to_string_pretty(message),
        false => serde_json::to_string(message),
    };
    text.expect("JSON")
}

proptest! {
    #[test]
    fn both_readers_agree_on_any_text(parts in prop::collection::vec(part(), 0..30)) {
        let text = parts.concat();
        fast_agrees(&text, usize::MAX);
        fast_agrees(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{{text}}}}}"), 20);
    }

    #[test]
    fn both_readers_agree_on_messages(params in value(4), id in value(0), is_pretty in any::<bool>()) {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "m", "params": params});
        fast_agrees(&written(&message, is_pretty), usize::MAX);
    }

    #[test]
    fn both_readers_agree_on_responses(result in value(4), id in value(0), is_pretty in any::<bool>()) {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result});
        fast_agrees(&written(&message, is_pretty), usize::MAX);
    }
}
