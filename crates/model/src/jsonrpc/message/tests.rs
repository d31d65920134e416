use super::*;

fn refused(text: &str) -> (Option<RequestId>, i64) {
    let malformed = Message::parse(text.as_bytes()).expect_err(text);
    (malformed.id, malformed.error.code.0)
}

// spec: 2025-11-25 MSG-01, MSG-05, MSG-14
// spec: 2026-07-28 N-BASE-01, N-BASE-05, N-BASE-08
#[test]
fn the_kind_of_a_message_follows_from_its_members() {
    let parse = |text: &'static str| Message::parse(text.as_bytes()).expect(text);
    let request = parse(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1},"more":true}"#);
    assert!(matches!(request, Message::Request(r) if r.method == "m" && r.params.is_some()));
    let notice = parse(r#"{"jsonrpc":"2.0","method":"n","params":null}"#);
    assert!(matches!(notice, Message::Notification(n) if n.params.is_none()));
    let result = parse(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#);
    assert!(matches!(
        result,
        Message::Response(Response {
            body: ResponseBody::Result(_),
            ..
        })
    ));
    let error = parse(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#);
    assert!(matches!(
        error,
        Message::Response(Response {
            id: None,
            body: ResponseBody::Error(_)
        })
    ));
    let both = parse(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#);
    assert!(matches!(
        both,
        Message::Response(Response {
            body: ResponseBody::Contradiction,
            ..
        })
    ));
}

// hardening: H-94, H-95, H-96
#[test]
fn invalid_json_and_invalid_messages_have_different_codes() {
    for text in [
        "",
        "{",
        "{\"a\":1,}",
        "nul",
        "{\"jsonrpc\":\"2.0\"} x",
        "{\"a\":\"\u{1}\"}",
        "[1,",
    ] {
        assert_eq!(refused(text), (None, -32700), "{text:?}");
    }
    for text in [
        "\"s\"",
        "1",
        "null",
        "true",
        "[]",
        "[1]",
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
    ] {
        assert_eq!(refused(text), (None, -32600), "{text:?}");
    }
}

// hardening: H-97, H-100, H-102
#[test]
fn members_are_exact() {
    for text in [
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
        r#"{"jsonrpc":2.0,"method":"m"}"#,
        r#"{"jsonrpc":"1.0","method":"m"}"#,
        r#"{"jsonrpc":"2.0 ","method":"m"}"#,
        r#"{"method":"m"}"#,
        r#"{"jsonrpc":"2.0","Method":"m"}"#,
        r#"{"jsonrpc":"2.0","method\u0000":"m"}"#,
    ] {
        assert_eq!(refused(text), (None, -32600), "{text}");
    }
}

// hardening: H-103
#[test]
fn a_member_that_occurs_twice_is_refused_with_the_id() {
    let twice = r#"{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}"#;
    assert_eq!(refused(twice), (Some(RequestId::Integer(7)), -32600));
}

// spec: 2025-11-25 MSG-08
#[test]
fn an_id_that_can_be_read_is_recovered() {
    assert_eq!(
        refused(r#"{"jsonrpc":"2.0","id":7,"method":1}"#),
        (Some(7.into()), -32600)
    );
    assert_eq!(
        refused(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#),
        (Some(7.into()), -32602)
    );
}

// hardening: H-104, H-113
#[test]
fn nesting_is_bounded_and_the_id_recovered() {
    let nested = |depth: usize| {
        let params = format!(
            "{{\"a\":{}{}}}",
            "[".repeat(depth - 2),
            "]".repeat(depth - 2)
        );
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{params}}}"#)
    };
    assert!(Message::parse(nested(128).as_bytes()).is_ok());
    for depth in [129, 200, 5_000, 100_000] {
        assert_eq!(refused(&nested(depth)), (Some(7.into()), -32600));
    }
}

// hardening: H-106
#[test]
fn invalid_utf8_is_rejected_even_in_skipped_members() {
    for bytes in [
        &b"\xff"[..],
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf5",
        b"\xe2\x82",
    ] {
        let mut text = br#"{"jsonrpc":"2.0","id":1,"method":"m","skipped":""#.to_vec();
        text.extend_from_slice(bytes);
        text.extend_from_slice(b"\"}");
        let malformed = Message::parse(&text).expect_err("invalid");
        assert_eq!(malformed.error.code.0, -32700);
    }
}

// spec: 2025-11-25 MSG-15
// spec: 2026-07-28 N-BASE-08
#[test]
fn a_notification_is_never_refused_for_its_parameters() {
    for params in ["[1]", "1", "\"text\"", "null"] {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"n","params":{params}}}"#);
        let message = Message::parse(text.as_bytes()).expect("a notification");
        assert!(matches!(message, Message::Notification(n) if n.params.is_none()));
    }
}

// hardening: H-107
#[test]
fn an_answer_that_is_refused_is_not_taken_for_a_request_of_its_id() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
    ] {
        assert_eq!(refused(text), (None, -32600));
    }
}

// hardening: H-113, H-115
#[test]
fn an_answer_beyond_the_bounds_is_the_end_of_its_call() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let wide = format!("[{}0]", "0,".repeat(1_000));
    for (member, value) in [("result", &deep), ("result", &wide), ("error", &wide)] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"{member}":{{"code":1,"message":"","a":{value}}}}}"#
        );
        let read = Message::parse_within(text.as_bytes(), 1_000);
        let Ok(Message::Response(response)) = read else {
            panic!("{read:?}");
        };
        assert_eq!(response.id, Some(RequestId::Integer(1)));
        assert!(matches!(response.body, ResponseBody::Contradiction));
        // An unreadable id cannot name the request to answer.
        for id in ["null", "1.5", "[]"] {
            let text = text.replace(r#""id":1"#, &format!(r#""id":{id}"#));
            assert!(
                Message::parse_within(text.as_bytes(), 1_000).is_err(),
                "{id}"
            );
        }
    }
}
