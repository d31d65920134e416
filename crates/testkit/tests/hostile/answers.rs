//! Answers without a request, invalid answers, and answers of any size.

use pintle_client::{CallError, Misbehavior};
use pintle_proto::TransportErrorKind;
use pintle_testkit::HostileServer;
use serde_json::json;

use crate::hostile::{GROUNDS, Ground, both, good, loss, meet, misbehavior, within};

// hardening: H-161, H-162
#[tokio::test(start_paused = true)]
async fn answers_to_nothing_and_notices_of_nothing_change_nothing() {
    for ground in GROUNDS {
        for server in both(|out, message| {
            if message["method"] != "tools/call" {
                return;
            }
            for id in [json!(99), json!("2"), json!(-1), json!(null), json!(0)] {
                out.send(json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
            }
            out.notify("notifications/no/such", json!({ "x": 1 }));
            out.notify(
                "notifications/progress",
                json!({ "progressToken": 99, "progress": 1 }),
            );
            out.notify("notifications/progress", json!(null));
            out.notify(
                "notifications/message",
                json!({ "level": "loud", "data": 1 }),
            );
            out.reply(message, good());
            out.reply(message, json!({ "content": [] }));
            out.fail(message, -1, "no");
        }) {
            let client = meet(&server, ground).await;
            for _ in 0..3 {
                let message = within(client.call_tool("t", ())).await.expect("a result");
                assert_eq!(message.content.len(), 1, "{ground:?}");
            }
            let answered = server.received();
            let answered = answered
                .iter()
                .filter(|message| message.get("method").is_none());
            assert_eq!(answered.count(), 0, "nothing of it is answered");
        }
    }
}

// hardening: H-162
#[tokio::test(start_paused = true)]
async fn a_result_of_the_wrong_shape_is_a_typed_error() {
    for ground in GROUNDS {
        for result in [
            json!({ "resultType": "strange", "content": [] }),
            json!({ "resultType": 5 }),
            json!({ "resultType": "complete", "content": 5 }),
            json!([]),
            json!("text"),
            json!(null),
        ] {
            let kept = result.clone();
            let server =
                HostileServer::modern(move |out, message| out.reply(message, kept.clone()));
            let client = meet(&server, ground).await;
            let error = within(client.call_tool("t", ())).await.unwrap_err();
            let found = misbehavior(error);
            assert!(
                matches!(found, Misbehavior::Unreadable(_)),
                "{ground:?} {result}"
            );
        }
        let contradicting = HostileServer::modern(|out, message| {
            let error = json!({ "code": 1, "message": "m" });
            out.send(
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": good(), "error": error }),
            );
        });
        let client = meet(&contradicting, ground).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(
            matches!(misbehavior(error), Misbehavior::Contradiction),
            "{ground:?}"
        );
    }
}

// hardening: H-162
#[tokio::test(start_paused = true)]
async fn content_of_an_unknown_kind_is_kept_as_it_came() {
    for ground in GROUNDS {
        let result = json!({ "content": [{ "type": "hologram", "x": [1, { "y": null }] }] });
        let kept = result.clone();
        let server = HostileServer::modern(move |out, message| out.reply(message, kept.clone()));
        let client = meet(&server, ground).await;
        let message = within(client.call_tool("t", ())).await.expect("a result");
        assert_eq!(serde_json::to_value(message).expect("JSON"), result);
    }
}

// hardening: H-106, H-115, H-170
#[tokio::test(start_paused = true)]
async fn invalid_bytes_end_only_the_call_that_they_answer() {
    for garbage in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":"[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"a\":\"\xc3\x28\"}}",
        b"\xff\xfe{\x00",
        b"[]",
        b"null",
        b"{}",
        b"Content-Length: 12",
    ] {
        let script = move |out: &mut pintle_testkit::HostileReply, message: &serde_json::Value| {
            match message["params"]["name"].as_str() {
                Some("bad") => out.send_text(garbage),
                Some("good") => out.reply(message, good()),
                _ => {}
            }
        };
        for ground in GROUNDS {
            for server in both(script) {
                let client = meet(&server, ground).await;
                let error = within(client.call_tool("bad", ())).await.unwrap_err();
                match ground {
                    // A line that cannot be read answers no call, so the call waits.
                    Ground::Pipe => assert!(matches!(error, CallError::TimedOut { .. }), "{error}"),
                    Ground::Http => assert_eq!(
                        loss(&error),
                        TransportErrorKind::InvalidMessage,
                        "{garbage:?}"
                    ),
                }
                within(client.call_tool("good", ()))
                    .await
                    .expect("the conversation goes on");
                assert_eq!(server.conversations(), usize::from(ground == Ground::Pipe));
            }
        }
    }
}

// hardening: H-115
#[tokio::test(start_paused = true)]
async fn a_malformed_answer_with_the_id_of_a_call_ends_it_on_a_pipe() {
    for server in both(|out, message| {
        if message["method"] == "tools/call" {
            let id = &message["id"];
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":NaN}}}}"#);
            out.send_text(text.as_bytes());
        }
    }) {
        let client = meet(&server, Ground::Pipe).await;
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert!(matches!(misbehavior(error), Misbehavior::Contradiction));
    }
}

// hardening: H-157
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_large_is_a_typed_error_and_not_kept() {
    let huge = |out: &mut pintle_testkit::HostileReply, message: &serde_json::Value| {
        let events = message["params"]["name"] == "events";
        match message["params"]["name"].as_str() {
            Some("small") => out.reply(message, good()),
            _ => {
                if events {
                    out.notify("notifications/no/such", json!({}));
                }
                let text = "x".repeat(17 << 20);
                out.reply(
                    message,
                    json!({ "content": [{ "type": "text", "text": text }] }),
                );
            }
        }
    };
    for (ground, name) in [
        (Ground::Pipe, "line"),
        (Ground::Http, "body"),
        (Ground::Http, "events"),
    ] {
        let server = HostileServer::modern(huge);
        let client = meet(&server, ground).await;
        let error = within(client.call_tool(name, ())).await.unwrap_err();
        assert_eq!(
            loss(&error),
            TransportErrorKind::TooLarge,
            "{ground:?} {name}"
        );
        within(client.call_tool("small", ()))
            .await
            .expect("it is still there");
    }
}

// hardening: H-168
#[tokio::test(start_paused = true)]
async fn an_incomplete_answer_is_not_an_answer() {
    for ground in GROUNDS {
        for server in both(|out, message| {
            if message["method"] == "tools/call" {
                let id = &message["id"];
                let half =
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}");
                let half = if message["params"]["name"] == "event" {
                    format!("data: {half}")
                } else {
                    half
                };
                out.send_raw(half);
                out.lose_all(TransportErrorKind::Disconnected);
            }
        }) {
            let client = meet(&server, ground).await;
            for name in ["event", "line"] {
                let error = within(client.call_tool(name, ())).await.unwrap_err();
                assert_eq!(
                    loss(&error),
                    TransportErrorKind::Disconnected,
                    "{ground:?} {name}"
                );
                assert!(!error.is_retryable(), "it may have been carried out");
            }
        }
    }
}

// hardening: H-171
#[tokio::test(start_paused = true)]
async fn a_line_in_pieces_is_one_line_even_if_its_call_was_given_up() {
    let second = std::time::Duration::from_secs(1);
    let server = HostileServer::modern(move |out, message| {
        if message["params"]["name"] == "slow" {
            let id = &message["id"];
            let line =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n");
            let (first, rest) = line.split_at(20);
            out.send_raw(first);
            out.send_raw_after(2 * second, rest);
        }
    });
    let client = meet(&server, Ground::Pipe).await;
    let slow = client.clone();
    let slow = tokio::spawn(async move { slow.call_tool("slow", ()).await });
    tokio::task::yield_now().await;
    for _ in 0..10 {
        let call = client.call_tool("given up", ()).into_future();
        drop(tokio::time::timeout(second / 10, call).await);
    }
    within(slow).await.expect("no panic").expect("a result");
}
