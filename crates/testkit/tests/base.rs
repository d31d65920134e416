//! Messages: which of them are answered, and with which id.

use pintle_model::{Feature, Revision};
use pintle_testkit::{CallBuilder, Endpoint, request};
use serde_json::{Value, json};

fn code(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or_default()
}

// spec: 2025-11-25 MSG-02, MSG-06
// spec: 2026-07-28 N-BASE-04
// hardening: H-98, H-99, H-136
#[test]
fn an_answer_has_the_id_of_its_request_digit_for_digit() {
    let ids = [
        json!(1),
        json!("1"),
        json!(0),
        json!(-1),
        json!(-9_007_199_254_740_991_i64),
        json!(9_007_199_254_740_993_i64),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("a\u{0}\n\u{2028}\u{1F600}\"\\"),
        json!("x".repeat(3000)),
    ];
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for id in &ids {
            let sent = server.exchange(id.clone(), "tools/list", json!({}));
            assert_eq!(sent.len(), 1);
            assert_eq!(sent[0]["id"], *id, "{revision}");
            assert!(sent[0]["result"].is_object());
        }
    }
}

// spec: 2026-07-28 N-BASE-02
#[test]
fn an_integer_in_float_form_is_that_integer() {
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    server.receive(r#"{"jsonrpc":"2.0","id":7.0,"method":"ping"}"#);
    assert_eq!(server.sent()[0]["id"], json!(7));
}

// spec: 2025-11-25 MSG-03, MSG-08, MSG-17 (malformed messages), AMB-03
// spec: 2026-07-28 N-BASE-02, N-BASE-06
// hardening: H-97, H-116, H-124
#[test]
fn an_invalid_message_is_refused_without_an_id_and_the_next_is_served() {
    let junk = [
        ("{", -32700),
        ("nonsense", -32700),
        ("[]", -32600),
        ("[1]", -32600),
        ("null", -32600),
        ("1", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"1.0","method":"ping"}"#, -32600),
    ];
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for (text, expected) in junk {
            server.receive(text);
            let sent = server.sent();
            assert_eq!(sent.len(), 1, "{text}");
            // A single error may be the only answer to a batch.
            let error = sent[0].get(0).unwrap_or(&sent[0]);
            assert_eq!(code(error), expected, "{text}");
            assert_eq!(error.get("id"), None, "{text}");
        }
        assert!(server.exchange(1, "tools/list", json!({}))[0]["result"].is_object());
    }
}

// spec: 2025-11-25 MSG-05, MSG-08
#[test]
fn a_request_that_is_malformed_is_refused_with_its_id() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.receive(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}"#);
        let sent = server.sent();
        assert_eq!((code(&sent[0]), &sent[0]["id"]), (-32602, &json!(7)));
        server.receive(r#"{"jsonrpc":"2.0","id":8,"method":"ping","method":"ping"}"#);
        let sent = server.sent();
        assert_eq!((code(&sent[0]), &sent[0]["id"]), (-32600, &json!(8)));
    }
}

// spec: 2025-11-25 MSG-17 (unknown method)
// hardening: H-126
#[test]
fn an_unknown_method_is_answered_with_its_name() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        for method in ["tools/List", "TOOLS/LIST", "tools/list\u{0}", "tools"] {
            server.request(1, method, json!({}));
            let sent = server.sent();
            // Methods outside the core belong to extensions: the service decides.
            assert_eq!(sent, [] as [Value; 0]);
            let key = server.open()[0];
            let error = pintle_model::Error::method_not_found(method);
            server.fail(key, error);
            assert_eq!(code(&server.sent()[0]), -32601);
        }
    }
}

// spec: 2025-11-25 MSG-14, MSG-15
// spec: 2026-07-28 N-BASE-08
// hardening: H-108, H-133
#[test]
fn a_notification_is_never_answered() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for method in [
            "tools/call",
            "initialize",
            "ping",
            "notifications/initialized",
            "notifications/no/such",
            "",
        ] {
            server.notification(method, json!({}));
            server.notification(method, Value::Null);
        }
        assert_eq!(server.sent(), [] as [Value; 0], "{revision}");
        assert!(server.open().is_empty());
    }
}

// hardening: H-109
#[test]
fn a_request_that_names_a_notification_is_refused_with_its_id() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for method in [
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/message",
        ] {
            let sent = server.exchange(3, method, json!({ "requestId": 1 }));
            assert_eq!(
                (code(&sent[0]), &sent[0]["id"]),
                (-32601, &json!(3)),
                "{method} at {revision}"
            );
        }
    }
}

// spec: 2025-11-25 MSG-04
// spec: 2026-07-28 N-BASE-03
#[test]
fn an_id_that_is_in_flight_is_refused_and_the_first_request_lives_on() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        server.request(1, "tools/call", json!({ "name": "t" }));
        let sent = server.exchange(1, "tools/call", json!({ "name": "t" }));
        assert_eq!((code(&sent[0]), &sent[0]["id"]), (-32600, &json!(1)));
        let sent = server.exchange("1", "tools/list", json!({}));
        assert_eq!(sent, [] as [Value; 0], "another type is another id");
        for key in server.open() {
            server.answer_usually(key);
        }
        let answered: Vec<_> = server
            .sent()
            .iter()
            .map(|message| message["id"].clone())
            .collect();
        assert_eq!(answered, [json!(1), json!("1")]);
        server.request(1, "tools/call", json!({ "name": "t" }));
        assert_eq!(server.open().len(), 1, "a finished id is free again");
    }
}

// spec: 2026-07-28 N-BASE-09
#[test]
fn only_the_modern_revision_marks_a_result_as_complete() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        for method in [
            "tools/call",
            "tools/list",
            "resources/read",
            "prompts/get",
            "completion/complete",
        ] {
            let sent = server.exchange(1, method, json!({ "name": "t" }));
            let expected = revision.has(Feature::ResultType).then(|| json!("complete"));
            assert_eq!(
                sent[0]["result"].get("resultType"),
                expected.as_ref(),
                "{method} at {revision}"
            );
        }
    }
}

// spec: 2025-11-25 MSG-07, MSG-12, MSG-13, MSG-09, MSG-10
// spec: 2026-07-28 N-BASE-05, N-BASE-07, N-BASE-16
#[test]
fn results_and_errors_leave_as_the_handler_made_them() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        server.request(1, "tools/call", json!({ "name": "t" }));
        server.request(2, "tools/call", json!({ "name": "t" }));
        let keys = server.open();
        server.answer(
            keys[0],
            &json!({ "content": [], "x-more": { "a": [1, null] } }),
        );
        let error = pintle_model::Error::internal().with_data(json!([1, { "b": null }]));
        server.fail(keys[1], error);
        let sent = server.sent();
        assert_eq!(sent[0]["result"]["x-more"], json!({ "a": [1, null] }));
        assert_eq!(sent[0].get("error"), None);
        assert_eq!(sent[1]["error"]["code"], -32603);
        assert!(sent[1]["error"]["message"].is_string());
        assert_eq!(sent[1]["error"]["data"], json!([1, { "b": null }]));
        assert_eq!(sent[1].get("result"), None);
    }
}

// hardening: H-107
#[test]
fn responses_without_a_pending_request_are_ignored() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.response(1, json!({}));
        server.response("1", json!({}));
        server.receive(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#);
        server.receive(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#);
        assert_eq!(server.sent(), [] as [Value; 0]);
        assert!(server.exchange(1, "tools/list", json!({}))[0]["result"].is_object());
    }
}

// hardening: H-115
#[test]
fn an_answer_that_contradicts_itself_ends_the_call_at_once() {
    for revision in Revision::ALL {
        for body in [
            r#""result":{},"error":{"code":1,"message":"m"}"#,
            r#""error":{"code":"x"}"#,
            r#""error":7"#,
        ] {
            let mut client = Endpoint::client_at(revision);
            let call = client.ask(CallBuilder::tool("t"));
            let id = client.sent()[0]["id"].clone();
            client.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#));
            assert_eq!(
                client.settled(call),
                Err(pintle_proto::PeerCallError::Contradiction),
                "{body}"
            );
        }
    }
}

// hardening: H-113, H-115
#[test]
fn an_answer_beyond_the_bounds_ends_the_call_at_once() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let wide = format!("[{}0]", "0,".repeat(1_000_000));
    for revision in Revision::ALL {
        for value in [&deep, &wide] {
            let mut client = Endpoint::client_at(revision);
            let call = client.ask(CallBuilder::tool("t"));
            let id = client.sent()[0]["id"].clone();
            client.receive(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":{value}}}}}"#
            ));
            let failure = pintle_proto::PeerCallError::Contradiction;
            assert_eq!(client.settled(call), Err(failure));
        }
    }
}

// hardening: H-106, H-115
#[test]
fn a_malformed_answer_ends_its_call_at_once() {
    let bodies: [&[u8]; 7] = [
        br#""x":0"#,
        br#""result":{},"result":{}"#,
        br#""result":{"a":NaN}"#,
        br#""result":{"a":[1"#,
        br#""result":{}} trailing"#,
        b"\"result\":{\"a\":\"\xc3\x28\"}",
        b"\"error\":{\"code\":1,\"message\":\"\xff\"}",
    ];
    for revision in Revision::ALL {
        for body in bodies {
            let mut client = Endpoint::client_at(revision);
            let (other, call) = (
                client.ask(CallBuilder::tool("t")),
                client.ask(CallBuilder::tool("t")),
            );
            let id = client.sent()[1]["id"].clone();
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            client.arrive(&[head.as_bytes(), body, b"}\n"].concat());
            let failure = pintle_proto::PeerCallError::Contradiction;
            assert_eq!(client.settled(call), Err(failure), "{body:?}");
            assert_eq!(client.sent(), [] as [Value; 0], "{body:?}");
            assert!(client.engine().is_waiting(other), "{body:?}");
        }
    }
}

// hardening: H-107, H-115
#[test]
fn a_text_without_a_certain_id_ends_no_call() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let call = client.ask(CallBuilder::tool("t"));
        let id = client.sent()[0]["id"].clone();
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}.5,"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","method":"ping"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}"#),
            format!(r#"{{"jsonrpc":"2.0","a":{{"id":{id},"result":{{}}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","a":"\",\"id\":{id},","result":{{}},"result":1}}"#),
        ] {
            client.receive(&text);
            assert!(client.engine().is_waiting(call), "{text}");
        }
    }
}

// hardening: H-115
#[test]
fn a_malformed_answer_of_a_client_ends_the_question_at_once() {
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    let call = server.ask(CallBuilder::new("ping"));
    let id = server.sent()[0]["id"].clone();
    server.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#));
    let failure = pintle_proto::PeerCallError::Contradiction;
    assert_eq!(server.settled(call), Err(failure));
    assert_eq!(server.sent(), [] as [Value; 0]);
}

// spec: 2025-11-25 MSG-04
// spec: 2026-07-28 N-BASE-02, N-BASE-03
#[test]
fn no_side_uses_an_id_twice() {
    for revision in Revision::ALL {
        let mut client = Endpoint::client_at(revision);
        let mut ids = Vec::new();
        for _ in 0..100 {
            client.ask(CallBuilder::tool("t"));
            let id = client.sent()[0]["id"].clone();
            assert!(id.is_i64() && !ids.contains(&id));
            client.response(id.clone(), json!({}));
            ids.push(id);
        }
    }
    let mut server = Endpoint::server_at(Revision::V2025_11_25);
    let mut ids = Vec::new();
    for _ in 0..100 {
        server.ask(CallBuilder::new("roots/list"));
        let id = server.sent()[0]["id"].clone();
        assert!(id.is_i64() && !ids.contains(&id));
        server.response(id.clone(), json!({ "roots": [] }));
        ids.push(id);
    }
}

// spec: 2026-07-28 N-BASE-13, N-PAT-01
#[test]
fn a_modern_client_answers_nothing_because_nothing_can_be_asked() {
    let mut client = Endpoint::client_at(Revision::V2026_07_28);
    for method in ["ping", "roots/list", "no/such"] {
        client.receive(&request(1, method, Value::Null).to_string());
    }
    assert_eq!(client.sent(), [] as [Value; 0]);
}

// spec: 2025-11-25 PING-01, PING-02
#[test]
fn both_sides_answer_a_ping_at_any_time_where_there_is_one() {
    for revision in Revision::legacy() {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        server.request(1, "tools/call", json!({ "name": "slow" }));
        assert_eq!(
            server.exchange(2, "ping", Value::Null),
            [json!({ "jsonrpc": "2.0", "id": 2, "result": {} })]
        );
        let mut client = Endpoint::client_at(revision);
        client.receive(&request("p", "ping", Value::Null).to_string());
        assert_eq!(
            client.sent(),
            [json!({ "jsonrpc": "2.0", "id": "p", "result": {} })]
        );
    }
    let mut server = Endpoint::server_at(Revision::LATEST);
    assert_eq!(code(&server.exchange(2, "ping", json!({}))[0]), -32601);
}

// spec: 2025-11-25 MSG-16
// spec: 2026-07-28 N-BASE-01, N-TRAN-05
// hardening: H-106, H-120
#[test]
fn a_message_that_is_not_utf8_is_refused_and_the_next_is_served() {
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.arrive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}\n");
        assert_eq!(code(&server.sent()[0]), -32700);
        assert!(server.exchange(1, "tools/list", json!({}))[0]["result"].is_object());
    }
}

// spec: 2026-07-28 N-VER-07
// spec: 2025-11-25 LIFE-15, GEN-08
// hardening: H-101
#[test]
fn unknown_members_and_capabilities_are_tolerated() {
    let mut server = Endpoint::server();
    let mut opening = pintle_testkit::initialize(1, "2025-11-25");
    opening["params"]["capabilities"] =
        json!({ "x-mine": {}, "experimental": { "a": {} }, "roots": { "x": 1 } });
    opening["params"]["later"] = json!([1]);
    opening["later"] = json!({});
    server.receive(&opening.to_string());
    assert!(server.sent()[0]["result"].is_object());
    let mut server = Endpoint::server_at(Revision::LATEST);
    let capabilities = json!({ "x-mine": {}, "extensions": { "com.example/a": {} } });
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities, "io.modelcontextprotocol/later": 1 });
    let sent = server.exchange(1, "tools/list", json!({ "_meta": meta, "later": true }));
    assert!(sent[0]["result"].is_object());
}

// hardening: H-129
// spec: 2026-07-28 N-STDIO-01
// spec: 2025-11-25 TRANS-STDIO-02, TRANS-STDIO-03
#[test]
fn whatever_a_payload_holds_leaves_as_one_line() {
    let payload = "a\r\nb\u{2028}c\u{2029}d\u{0}e\u{1F600}f\u{7f}\u{85}\"\\";
    for revision in Revision::ALL {
        let mut server = Endpoint::server_at(revision);
        server.answers_by_hand();
        server.request(payload, "tools/call", json!({ "name": payload }));
        let key = server.open()[0];
        let (_, params) = server.opened_request(key).expect("open");
        assert_eq!(params["name"], payload);
        server.answer(
            key,
            &json!({ "content": [{ "type": "text", "text": payload }], (payload): payload }),
        );
        let frame = server
            .engine()
            .poll_transmit()
            .expect("an answer")
            .frame
            .to_vec();
        assert!(!frame.contains(&b'\n') && !frame.contains(&b'\r'));
        let answer: Value = serde_json::from_slice(&frame).expect("JSON");
        assert_eq!(answer["result"]["content"][0]["text"], payload);
        assert_eq!(
            (&answer["id"], &answer["result"][payload]),
            (&json!(payload), &json!(payload))
        );
    }
}
