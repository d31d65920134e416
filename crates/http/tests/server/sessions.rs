//! Sessions of the handshake era.

use std::collections::HashSet;
use std::time::Duration;

use crate::common::{
    Ask, Endpoint, ask, body_json, endpoint, endpoint_with, get, initialize, legacy, listen,
    messages, modern, notice, open, piece, post,
};
use http::StatusCode;
use pintle_http::HttpOptions;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, sleep, timeout};

fn tool(id: impl Into<Value>, name: &str, arguments: Value) -> Ask {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "t" } });
    legacy(id, "tools/call", params)
}

async fn list_status(endpoint: &Endpoint, id: &str) -> u16 {
    legacy(9, "tools/list", json!({}))
        .in_session(id)
        .of(endpoint)
        .await
        .status()
        .as_u16()
}

// spec: 2026-07-28 N-COMPAT-04
// spec: 2025-11-25 TRANS-SESS-01, TRANS-SESS-03, TRANS-HTTP-10, TRANS-HTTP-13
// spec: 2025-11-25 SEC-17, SEC-18 (generator)
// hardening: H-12
#[tokio::test(start_paused = true)]
async fn initialize_opens_a_session_that_later_requests_name() {
    let endpoint = endpoint();
    let mut ids = HashSet::new();
    for _ in 0..20 {
        let id = open(&endpoint).await;
        assert!(id.len() >= 22 && id.bytes().all(|byte| byte.is_ascii_graphic()));
        let (status, body) = tool(1, "echo", json!({ "id": id }))
            .in_session(&id)
            .json(&endpoint)
            .await;
        assert_eq!((status, &body["id"]), (200, &json!(1)));
        assert!(body["result"].get("resultType").is_none());
        ids.insert(id);
    }
    assert_eq!(ids.len(), 20);
}

// spec: 2025-11-25 TRANS-SESS-06, TRANS-SESS-08
// spec: 2025-11-25 TRANS-VER-01, TRANS-VER-04
// hardening: H-13, H-15, H-18, H-59, H-60
// spec: 2025-11-25 AMB-28, AMB-41, D0326-03
#[tokio::test(start_paused = true)]
async fn a_request_must_name_a_session_that_exists() {
    let endpoint = endpoint();
    let id = open(&endpoint).await;
    let forged = "0123456789abcdef0123456789abcdef";
    let list = || legacy(9, "tools/list", json!({}));
    let rows = [
        (list().in_session(&id), 200),
        (
            list()
                .in_session(&id)
                .with("mcp-protocol-version", "2025-11-25"),
            200,
        ),
        (
            list()
                .in_session(&id)
                .with("mcp-protocol-version", "2025-06-18"),
            200,
        ),
        (
            list()
                .in_session(&id)
                .with("mcp-protocol-version", "9999-99-99"),
            400,
        ),
        (list(), 400),
        (list().in_session(forged), 404),
        (list().in_session("x"), 404),
        (notice("n").in_session(forged), 404),
        (initialize("2025-11-25").in_session(forged), 404),
        (get(), 400),
        (get().in_session(forged), 404),
        (get().in_session(&id).with("last-event-id", "forged"), 400),
        (ask("DELETE"), 400),
        (ask("DELETE").in_session(forged), 404),
    ];
    for (ask, expected) in rows {
        let said = format!("{ask:?}");
        let response = ask.of(&endpoint).await;
        assert_eq!(response.status().as_u16(), expected, "{said}");
        assert!(!response.headers().contains_key("mcp-session-id"), "{said}");
    }
}

// spec: 2025-11-25 TRANS-HTTP-23, TRANS-HTTP-35
// spec: 2025-11-25 TRANS-SESS-07, TRANS-SESS-08, TRANS-SESS-10
// hardening: H-14
// spec: 2025-11-25 LIFE-22, AMB-39
#[tokio::test(start_paused = true)]
async fn a_deleted_session_is_gone_with_everything_in_it() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let mut stream = listen(&endpoint, &id).await;
    let call = tool(1, "hang", json!({})).in_session(&id).of(&endpoint);
    let delete = async {
        sleep(Duration::from_secs(1)).await;
        ask("DELETE").in_session(&id).json(&endpoint).await
    };
    let (answer, deleted) = tokio::join!(call, delete);
    assert_eq!(deleted, (200, json!(null)));
    let answer = body_json(answer).await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-32000))
    );
    assert_eq!(piece(&mut stream).await, None);
    assert_eq!(calls.dropped(), 1);
    for ask in [
        legacy(2, "tools/list", json!({})),
        notice("n"),
        ask("DELETE"),
    ] {
        assert_eq!(
            ask.in_session(&id).of(&endpoint).await.status(),
            StatusCode::NOT_FOUND
        );
    }
}

// spec: 2025-11-25 TRANS-HTTP-25
// spec: 2025-11-25 TRANS-HTTP-26
// hardening: H-138
#[tokio::test(start_paused = true)]
async fn a_client_that_goes_away_cancels_nothing() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let slow = tool(1, "slow", json!({ "seconds": 10 })).in_session(&id);
    assert!(
        timeout(Duration::from_millis(500), slow.of(&endpoint))
            .await
            .is_err()
    );
    assert_eq!((calls.dropped(), calls.finished()), (0, 0));
    sleep(Duration::from_secs(10)).await;
    assert_eq!((calls.dropped(), calls.finished()), (0, 1));
    assert_eq!(list_status(&endpoint, &id).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_client_is_gone_can_still_be_cancelled() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let hang = tool(1, "hang", json!({})).in_session(&id);
    assert!(
        timeout(Duration::from_millis(500), hang.of(&endpoint))
            .await
            .is_err()
    );
    cancel(&endpoint, &id, 1).await;
    sleep(A_MOMENT).await;
    assert_eq!(calls.dropped(), 1);
}

/// Longer than a cancellation to another replica takes.
const A_MOMENT: Duration = Duration::from_millis(100);

async fn cancel(endpoint: &Endpoint, id: &str, request: i64) {
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": request } });
    let response = post(body.to_string()).in_session(id).of(endpoint).await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
}

// AMB-43: a cancelled request gets no answer, but HTTP must end.
// spec: 2025-11-25 TRANS-HTTP-27
#[tokio::test(start_paused = true)]
async fn a_cancelled_request_ends_its_response() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let cancelling = async {
        sleep(Duration::from_secs(1)).await;
        cancel(&endpoint, &id, 1).await;
    };
    let (said, ()) = tokio::join!(
        tool(1, "hang", json!({})).in_session(&id).events(&endpoint),
        cancelling
    );
    assert!(said.is_empty(), "{said:?}");
    let mut body = tool(2, "chat", json!({ "seconds": 100 }))
        .in_session(&id)
        .of(&endpoint)
        .await
        .into_body();
    assert_eq!(
        messages(&piece(&mut body).await.expect("progress")).len(),
        1
    );
    cancel(&endpoint, &id, 2).await;
    assert_eq!(piece(&mut body).await, None);
    assert_eq!(calls.dropped(), 2);
}

// spec: 2025-11-25 TRANS-HTTP-20, TRANS-HTTP-34
#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_ends_even_if_its_client_disconnects_first() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let chat = tool(1, "chat", json!({ "seconds": 100_000 }));
    let body = chat.in_session(&id).of(&endpoint).await.into_body();
    cancel(&endpoint, &id, 1).await;
    drop(body);
    sleep(A_MOMENT).await;
    assert_eq!((calls.dropped(), calls.finished()), (1, 0));
    sleep(Duration::from_secs(31 * 60)).await;
    assert_eq!(list_status(&endpoint, &id).await, 404);
}

// spec: 2025-11-25 TRANS-HTTP-21, TRANS-HTTP-22, TRANS-HTTP-24
#[tokio::test(start_paused = true)]
async fn messages_of_a_request_stay_on_its_own_stream() {
    let endpoint = endpoint();
    let id = open(&endpoint).await;
    let mut stream = listen(&endpoint, &id).await;
    let said = tool(1, "progress", json!({ "steps": 3 }))
        .in_session(&id)
        .events(&endpoint)
        .await;
    assert_eq!(said.len(), 4);
    assert_eq!(said[3]["id"], json!(1));
    let logged = tool(2, "log", json!({}))
        .in_session(&id)
        .events(&endpoint)
        .await;
    assert_eq!(logged[0]["method"], "notifications/message");
    assert_eq!(piece(&mut stream).await.as_deref(), Some(":\n\n"));
}

// spec: 2025-11-25 TRANS-HTTP-29, TRANS-HTTP-32, TRANS-HTTP-33, TRANS-HTTP-38, TRANS-HTTP-39
#[tokio::test(start_paused = true)]
async fn unsolicited_messages_use_the_newest_stream_or_wait_for_one() {
    let endpoint = endpoint();
    let id = open(&endpoint).await;
    let change = || tool(1, "change", json!({})).in_session(&id).of(&endpoint);
    change().await;
    let mut old = listen(&endpoint, &id).await;
    let said = messages(&piece(&mut old).await.expect("what waited"));
    assert_eq!(said[0]["method"], "notifications/tools/list_changed");
    let mut new = listen(&endpoint, &id).await;
    change().await;
    assert_eq!(messages(&piece(&mut new).await.expect("a change")).len(), 1);
    assert_eq!(
        piece(&mut old).await.as_deref(),
        Some(":\n\n"),
        "nothing is said twice"
    );
    drop(new);
    change().await;
    assert_eq!(messages(&piece(&mut old).await.expect("a change")).len(), 1);
}

// hardening: H-140, H-186, H-201
#[tokio::test(start_paused = true)]
async fn a_slow_reader_does_not_delay_others() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let _unread: Vec<_> = [listen(&endpoint, &id).await, listen(&endpoint, &id).await].into();
    let stuck = tool(1, "progress", json!({ "steps": 5000 }))
        .in_session(&id)
        .of(&endpoint)
        .await;
    for nth in 2..100 {
        let (status, _) = tool(nth, "change", json!({}))
            .in_session(&id)
            .json(&endpoint)
            .await;
        assert_eq!(status, 200);
    }
    assert_eq!(calls.finished(), 98);
    drop(stuck);
}

// hardening: H-16, H-147
#[tokio::test(start_paused = true)]
async fn equal_ids_of_different_sessions_do_not_meet() {
    let endpoint = endpoint();
    let mut sessions = Vec::new();
    for _ in 0..32 {
        sessions.push(open(&endpoint).await);
    }
    let mut asks = tokio::task::JoinSet::new();
    for id in sessions {
        let endpoint = endpoint.clone();
        asks.spawn(async move {
            let (_, body) = tool(1, "echo", json!({ "mine": id }))
                .in_session(&id)
                .json(&endpoint)
                .await;
            assert!(
                body["result"]["content"][0]["text"]
                    .as_str()
                    .is_some_and(|text| text.contains(&id))
            );
        });
    }
    while let Some(asked) = asks.join_next().await {
        asked.expect("its own payload");
    }
}

// spec: 2025-11-25 TRANS-SESS-07, SEC-18 (expiry)
#[tokio::test(start_paused = true)]
async fn a_session_is_idle_only_when_nothing_is_open() {
    let endpoint = endpoint();
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let id = open(&endpoint).await;
    advance(minutes(29)).await;
    assert_eq!(list_status(&endpoint, &id).await, 200);
    let stream = listen(&endpoint, &id).await;
    advance(minutes(120)).await;
    assert_eq!(list_status(&endpoint, &id).await, 200);
    drop(stream);
    let call = tool(1, "slow", json!({ "seconds": 7200 })).in_session(&id);
    let response = call.of(&endpoint).await;
    advance(minutes(60)).await;
    assert_eq!(list_status(&endpoint, &id).await, 200);
    drop(response);
    sleep(minutes(90)).await;
    assert_eq!(list_status(&endpoint, &id).await, 404);
}

// hardening: H-200
#[tokio::test(start_paused = true)]
async fn a_session_that_is_never_confirmed_ends_after_a_minute() {
    let endpoint = endpoint();
    let response = initialize("2025-11-25").of(&endpoint).await;
    let id = response.headers()["mcp-session-id"]
        .to_str()
        .expect("text")
        .to_owned();
    advance(Duration::from_secs(59)).await;
    assert_eq!(
        legacy(1, "ping", json!({}))
            .in_session(&id)
            .of(&endpoint)
            .await
            .status(),
        StatusCode::OK
    );
    advance(Duration::from_secs(2)).await;
    assert_eq!(
        legacy(1, "ping", json!({}))
            .in_session(&id)
            .of(&endpoint)
            .await
            .status(),
        StatusCode::NOT_FOUND
    );
}

// hardening: H-148, H-197
#[tokio::test(start_paused = true)]
async fn one_session_too_many_takes_the_place_of_the_longest_idle_or_is_refused() {
    let mut options = HttpOptions::default();
    options.limits.max_sessions = 2;
    let (endpoint, _) = endpoint_with(options);
    let first = open(&endpoint).await;
    advance(Duration::from_secs(1)).await;
    let second = open(&endpoint).await;
    let refused = initialize("2025-11-25").of(&endpoint).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    assert!(!refused.headers().contains_key("mcp-session-id"));
    advance(Duration::from_secs(61)).await;
    let third = open(&endpoint).await;
    assert_eq!(list_status(&endpoint, &first).await, 404);
    assert_eq!(list_status(&endpoint, &second).await, 200);
    assert_eq!(list_status(&endpoint, &third).await, 200);
}

// hardening: H-19, H-149
#[tokio::test(start_paused = true)]
async fn a_refused_handshake_leaves_no_session() {
    let endpoint = endpoint();
    for params in [json!({}), json!({ "protocolVersion": 1 }), json!([1])] {
        let response = legacy(1, "initialize", params).of(&endpoint).await;
        assert!(!response.headers().contains_key("mcp-session-id"));
        assert!(body_json(response).await["error"].is_object());
    }
    for revision in ["", "9999-99-99", "2026-07-28"] {
        let (_, body) = initialize(revision).json(&endpoint).await;
        assert_eq!(
            body["result"]["protocolVersion"], "2025-11-25",
            "{revision}"
        );
    }
}

// spec: 2025-11-25 AMB-20
// hardening: H-13
#[tokio::test(start_paused = true)]
async fn a_second_handshake_in_a_session_is_refused_and_changes_nothing() {
    let endpoint = endpoint();
    let id = open(&endpoint).await;
    let again = initialize("2024-11-05").in_session(&id);
    let response = again.of(&endpoint).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(!response.headers().contains_key("mcp-session-id"));
    let body = body_json(response).await;
    assert_eq!(
        (&body["id"], &body["error"]["code"]),
        (&json!(0), &json!(-32600))
    );
    assert_eq!(list_status(&endpoint, &id).await, 200);
    let other = open(&endpoint).await;
    assert_ne!(other, id, "without a session it opens another one");
}

// spec: 2025-11-25 TIME-01, TIME-02
#[tokio::test(start_paused = true)]
async fn a_question_is_given_up_when_its_time_has_come_and_not_later() {
    let mut options = HttpOptions::default();
    let mut limits = pintle_proto::Limits::default();
    limits.question_timeout = Duration::from_millis(1_234);
    options.conversation_limits = limits.into();
    let (endpoint, _) = endpoint_with(options);
    let ids = [open(&endpoint).await, open(&endpoint).await];
    for id in ids {
        sleep(Duration::from_millis(777)).await;
        let began = Instant::now();
        let said = tool(1, "roots", json!({}))
            .in_session(&id)
            .events(&endpoint)
            .await;
        assert_eq!(began.elapsed(), Duration::from_millis(1_234));
        assert_eq!(said[0]["method"], "roots/list");
        assert_eq!(said[1]["method"], "notifications/cancelled");
        assert_eq!(said[2]["id"], json!(1));
    }
}

// spec: 2025-11-25 LIFE-17
#[tokio::test(start_paused = true)]
async fn features_that_need_a_session_are_not_offered_without_one() {
    let mut options = HttpOptions::default();
    options.legacy = pintle_http::LegacyMode::Sessionless;
    let (without, _) = endpoint_with(options);
    let offered = |body: Value| body["result"]["capabilities"].clone();
    let (_, whole) = initialize("2025-11-25").json(&endpoint()).await;
    assert_eq!(offered(whole)["resources"]["subscribe"], true);
    let (_, bare) = initialize("2025-11-25").json(&without).await;
    assert_eq!(offered(bare), json!({ "tools": {}, "resources": {} }));
    for (method, params) in [
        ("resources/subscribe", json!({ "uri": "a:b" })),
        ("logging/setLevel", json!({ "level": "info" })),
    ] {
        let (_, body) = legacy(1, method, params).json(&without).await;
        assert_eq!(body["error"]["code"], -32601, "{method}");
    }
}

// hardening: H-107, H-108, H-151
// spec: 2025-11-25 AMB-38
#[tokio::test(start_paused = true)]
async fn stray_notifications_and_responses_have_no_effect() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let id = open(&endpoint).await;
    let rows = [
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
    ];
    for body in rows {
        let answer = post(body).in_session(&id).json(&endpoint).await;
        assert_eq!(answer, (202, json!(null)), "{body}");
    }
    for _ in 0..500 {
        notice("notifications/unknown")
            .in_session(&id)
            .of(&endpoint)
            .await;
    }
    assert_eq!(calls.notified(), 501);
    assert_eq!(list_status(&endpoint, &id).await, 200);
}

// hardening: H-55
#[tokio::test(start_paused = true)]
async fn a_modern_request_leaves_sessions_alone() {
    let endpoint = endpoint();
    let response = modern(1, "tools/list", json!({}))
        .in_session("forged")
        .with("last-event-id", "7")
        .of(&endpoint)
        .await;
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().contains_key("mcp-session-id"));
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_of_one_session_are_refused() {
    let mut options = HttpOptions::default();
    let mut limits = pintle_proto::Limits::default();
    limits.max_running_requests = 2;
    options.conversation_limits = limits.into();
    let (endpoint, _) = endpoint_with(options);
    let id = open(&endpoint).await;
    let slow = |nth: i64| {
        tool(nth, "slow", json!({ "seconds": 5 }))
            .in_session(&id)
            .json(&endpoint)
    };
    let late = async {
        sleep(Duration::from_secs(1)).await;
        tool(3, "slow", json!({}))
            .in_session(&id)
            .json(&endpoint)
            .await
    };
    let (first, second, third) = tokio::join!(slow(1), slow(2), late);
    assert_eq!((first.0, second.0, third.0), (200, 200, 429));
    assert_eq!(third.1["id"], json!(3));
}

#[tokio::test(start_paused = true)]
async fn requests_of_one_session_that_hold_too_much_are_refused() {
    let mut options = HttpOptions::default();
    let mut limits = pintle_proto::Limits::default();
    limits.max_pending_request_bytes = 2_000;
    options.conversation_limits = limits.into();
    let (endpoint, _) = endpoint_with(options);
    let id = open(&endpoint).await;
    let ask = |nth: i64, bytes: usize| {
        tool(nth, "slow", json!({ "seconds": 5, "x": "x".repeat(bytes) }))
            .in_session(&id)
            .json(&endpoint)
    };
    let late = async {
        sleep(Duration::from_secs(1)).await;
        let refused = ask(3, 0).await;
        sleep(Duration::from_secs(5)).await;
        (refused, ask(4, 5_000).await)
    };
    let (first, second, (third, fourth)) = tokio::join!(ask(1, 1_000), ask(2, 1_000), late);
    assert_eq!((first.0, second.0, third.0), (200, 200, 429));
    assert_eq!(fourth.0, 200, "there is room for one whatever its size");
}

// hardening: H-176, H-182
#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_fails_alone_and_the_end_ends_streams() {
    let endpoint = endpoint();
    let id = open(&endpoint).await;
    let (status, body) = tool(1, "panic", json!({}))
        .in_session(&id)
        .json(&endpoint)
        .await;
    assert_eq!((status, &body["error"]["code"]), (200, &json!(-32603)));
    assert_eq!(list_status(&endpoint, &id).await, 200);
    let mut stream = listen(&endpoint, &id).await;
    let began = Instant::now();
    let call = tool(2, "slow", json!({ "seconds": 5 }))
        .in_session(&id)
        .json(&endpoint);
    let closing = async {
        sleep(Duration::from_secs(1)).await;
        endpoint.close();
        assert_eq!(piece(&mut stream).await, None);
        assert_eq!(began.elapsed(), Duration::from_secs(1));
    };
    let (answer, ()) = tokio::join!(call, closing);
    assert_eq!((answer.0, &answer.1["id"]), (200, &json!(2)));
    assert_eq!(list_status(&endpoint, &id).await, 503);
}

#[test]
fn a_handler_that_sends_on_drop_does_not_block_the_end_of_its_runtime() {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let (endpoint, calls) = endpoint_with(HttpOptions::default());
        let id = runtime.block_on(open(&endpoint));
        runtime.block_on(async {
            let parting = tool(1, "parting words", json!({})).in_session(&id);
            let served = endpoint.clone();
            tokio::spawn(async move { parting.of(&served).await });
            while calls.started() == 0 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        sender.send(calls.dropped()).expect("somebody waits");
    });
    let dropped = receiver.recv_timeout(Duration::from_secs(20));
    assert_eq!(dropped, Ok(1), "the runtime ended, and the handler with it");
}
