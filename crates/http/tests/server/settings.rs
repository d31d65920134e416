//! The settings and the end of a session, which all its replicas apply before the client has the answer.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use pintle_http::ResponseBody;
use pintle_runtime::{SessionKey, SessionState};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::mail::{A_WHILE, call, replicas, replicas_after, replicas_with_store};
use crate::common::{Ask, Endpoint, ask, get, legacy, messages, open, piece, post};

fn set_level(level: &str, id: &str) -> Ask {
    legacy(1, "logging/setLevel", json!({ "level": level })).in_session(id)
}

fn subscription(method: &str, uri: &str, id: &str) -> Ask {
    legacy(2, method, json!({ "uri": uri })).in_session(id)
}

fn end(id: &str) -> Ask {
    ask("DELETE").in_session(id)
}

async fn ok(ask: Ask, endpoint: &Endpoint) {
    let (status, answer) = ask.json(endpoint).await;
    assert_eq!((status, &answer["error"]), (200, &Value::Null), "{answer}");
}

async fn status(ask: Ask, endpoint: &Endpoint) -> u16 {
    ask.of(endpoint).await.status().as_u16()
}

/// Returns true if a call of the tool `log`, which logs an error, sends a log message.
async fn logs(endpoint: &Endpoint, id: &str) -> bool {
    let mut stream = call("log", id).of(endpoint).await.into_body();
    let mut all = Vec::new();
    while let Some(text) = piece(&mut stream).await {
        all.extend(messages(&text));
    }
    all.iter()
        .any(|message| message["method"] == "notifications/message")
}

#[tokio::test(start_paused = true)]
async fn a_log_level_is_in_force_at_all_replicas_when_the_client_has_the_answer() {
    let ([first, second, third], id, ..) = replicas().await;
    for (level, is_sent) in [("emergency", false), ("debug", true)] {
        ok(set_level(level, &id), &second).await;
        for replica in [&first, &second, &third] {
            assert_eq!(logs(replica, &id).await, is_sent, "{level}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_that_have_just_started_apply_a_change() {
    let ([first, second, third], id, ..) = replicas_after(Duration::from_millis(100)).await;
    ok(set_level("emergency", &id), &first).await;
    assert!(!logs(&second, &id).await && !logs(&third, &id).await);
    assert_eq!(status(end(&id), &second).await, 200);
    assert_eq!(status(call("echo", &id), &third).await, 404);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_created_later_has_the_settings_of_the_session() {
    let ([first, second, third], ..) = replicas().await;
    let id = open(&first).await;
    ok(set_level("info", &id), &first).await;
    ok(set_level("emergency", &id), &second).await;
    assert!(!logs(&third, &id).await);
}

#[tokio::test(start_paused = true)]
async fn settings_of_another_session_do_not_change() {
    let ([first, second], id, ..) = replicas().await;
    let other = open(&first).await;
    assert!(logs(&second, &other).await);
    ok(set_level("emergency", &id), &first).await;
    assert!(logs(&second, &other).await);
    assert!(!logs(&second, &id).await);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_in_force_where_the_stream_is_open() {
    let ([first, second], id, ..) = replicas().await;
    let mut stream = get().in_session(&id).of(&second).await.into_body();
    piece(&mut stream).await.expect("the first event");
    ok(subscription("resources/subscribe", "a:1", &id), &first).await;
    ok(call("update", &id), &second).await;
    let text = timeout(A_WHILE, piece(&mut stream)).await.expect("in time");
    let notice = messages(&text.expect("an event")).pop().expect("a notice");
    assert_eq!(notice["method"], "notifications/resources/updated");
    ok(subscription("resources/unsubscribe", "a:1", &id), &first).await;
    ok(call("update", &id), &second).await;
    let silence = timeout(Duration::from_secs(10), piece(&mut stream)).await;
    assert!(silence.is_err(), "{silence:?}");
}

/// Opens a stream of a session.
async fn listen(id: &str, endpoint: &Endpoint) -> ResponseBody {
    let mut stream = get().in_session(id).of(endpoint).await.into_body();
    piece(&mut stream).await.expect("the first event");
    stream
}

/// Announces a change of a resource at a replica. Returns true if a stream there receives it.
async fn is_notified(stream: &mut ResponseBody, endpoint: &Endpoint) -> bool {
    let other = open(endpoint).await;
    ok(call("update", &other), endpoint).await;
    let text = timeout(A_WHILE, piece(stream)).await;
    let notices = text.map_or(Vec::new(), |text| messages(&text.expect("an event")));
    let method = "notifications/resources/updated";
    notices.iter().any(|notice| notice["method"] == method)
}

#[tokio::test(start_paused = true)]
async fn a_part_that_was_created_without_the_store_has_the_settings_later() {
    let ([first, second], _, _, records) = replicas().await;
    let id = open(&first).await;
    ok(subscription("resources/subscribe", "a:1", &id), &first).await;
    records.is_away.store(true, Ordering::SeqCst);
    let mut stream = listen(&id, &second).await;
    assert!(!is_notified(&mut stream, &second).await);
    records.is_away.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(2)).await;
    assert!(is_notified(&mut stream, &second).await);
}

#[tokio::test(start_paused = true)]
async fn settings_that_the_store_has_lost_are_in_force_at_a_new_part() {
    let ([first, second], _, _, records, store) = replicas_with_store(A_WHILE).await;
    let id = open(&first).await;
    ok(subscription("resources/subscribe", "a:1", &id), &first).await;
    sleep(Duration::from_secs(1)).await;
    records.lose();
    store.lose_news().await;
    sleep(A_WHILE).await;
    let mut stream = listen(&id, &second).await;
    assert!(is_notified(&mut stream, &second).await);
}

#[tokio::test(start_paused = true)]
async fn a_setting_after_a_loss_is_recorded_with_earlier_ones() {
    let ([first, second], _, _, records) = replicas().await;
    let id = open(&first).await;
    ok(set_level("emergency", &id), &first).await;
    ok(subscription("resources/subscribe", "a:1", &id), &first).await;
    records.lose();
    ok(subscription("resources/unsubscribe", "a:1", &id), &first).await;
    assert!(!logs(&first, &id).await && !logs(&second, &id).await);
    let mut stream = listen(&id, &second).await;
    assert!(!is_notified(&mut stream, &second).await);
}

#[tokio::test(start_paused = true)]
async fn an_end_ends_calls_and_streams_of_other_replicas_before_its_answer() {
    let ([first, second, third], id, calls, _) = replicas().await;
    let hanging = call("hang", &id);
    let hanging = tokio::spawn({
        let first = first.clone();
        async move { hanging.of(&first).await.status() }
    });
    calls.until(|calls| calls.started() == 1).await;
    let mut stream = get().in_session(&id).of(&second).await.into_body();
    piece(&mut stream).await.expect("the first event");
    assert_eq!(status(end(&id), &third).await, 200);
    assert_eq!(calls.dropped(), 1);
    while timeout(A_WHILE, piece(&mut stream))
        .await
        .expect("ends")
        .is_some()
    {}
    for replica in [&first, &second, &third] {
        assert_eq!(status(call("echo", &id), replica).await, 404);
        assert_eq!(status(end(&id), replica).await, 404);
    }
    hanging.abort();
}

// Operations of the store by kind of request: a budget that does not depend on the machine.
#[tokio::test(start_paused = true)]
async fn a_session_without_changes_has_no_operation_and_a_change_has_four() {
    let ([first, second, third], id, _, records) = replicas().await;
    for replica in [&first, &second, &third] {
        ok(call("echo", &id), replica).await;
    }
    assert_eq!(
        records.operations(),
        6,
        "two parts, the first session of a replica, and five seconds have passed"
    );
    for replica in [&first, &second, &third] {
        for _ in 0..5 {
            ok(call("echo", &id), replica).await;
            let ping = notice_of_progress(&id);
            assert_eq!(status(ping, replica).await, 202);
        }
    }
    assert_eq!(records.operations(), 0);
    ok(set_level("error", &id), &first).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        records.operations(),
        4,
        "two, and one for each other replica"
    );
    for replica in [&first, &second, &third] {
        ok(call("echo", &id), replica).await;
    }
    assert_eq!(records.operations(), 0);
    assert_eq!(status(end(&id), &first).await, 200);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(
        records.operations(),
        3,
        "one, and one for each other replica"
    );
}

#[tokio::test(start_paused = true)]
async fn the_record_of_a_session_with_an_open_stream_is_read_in_time() {
    let ([first, second], id, _, records) = replicas().await;
    let mut stream = get().in_session(&id).of(&second).await.into_body();
    piece(&mut stream).await.expect("the first event");
    records.operations();
    for minutes in [14, 3, 12] {
        sleep(Duration::from_secs(60 * minutes)).await;
        let expected = usize::from(minutes == 3);
        assert_eq!(records.operations(), expected, "{minutes} minutes later");
    }
    // The end is not announced, so a reading has to find it.
    let key = SessionKey::unlimited(u128::from_str_radix(&id[2..34], 16).expect("digits"));
    records.end(key);
    let ended = timeout(Duration::from_secs(60 * 5), async {
        while piece(&mut stream).await.is_some() {}
    });
    ended.await.expect("in time");
    assert_eq!(status(call("echo", &id), &first).await, 404);
}

fn notice_of_progress(id: &str) -> Ask {
    let params = json!({ "progressToken": 99, "progress": 1 });
    let notice = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
    post(notice.to_string()).in_session(id)
}

#[tokio::test(start_paused = true)]
async fn without_the_store_a_setting_is_rejected_and_has_no_effect_later() {
    let ([first, second], id, _, records) = replicas().await;
    ok(set_level("debug", &id), &second).await;
    records.is_away.store(true, Ordering::SeqCst);
    let refused = set_level("emergency", &id).of(&first).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    records.is_away.store(false, Ordering::SeqCst);
    assert!(logs(&first, &id).await);
    assert!(logs(&second, &id).await);
}

#[tokio::test(start_paused = true)]
async fn a_setting_that_other_replicas_may_not_learn_is_answered_503() {
    let ([first, second], id, _, _, store) = replicas_with_store(A_WHILE).await;
    let mut stream = listen(&id, &second).await;
    let subscribe = || subscription("resources/subscribe", "a:1", &id);
    store.set_away(true);
    assert_eq!(status(subscribe(), &first).await, 503);
    store.set_away(false);
    ok(subscribe(), &first).await;
    assert!(is_notified(&mut stream, &second).await);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_does_not_end_a_doubt() {
    let ([first, second], id, _, records, store) = replicas_with_store(A_WHILE).await;
    ok(call("echo", &id), &first).await;
    ok(call("echo", &id), &second).await;
    ok(set_level("error", &id), &first).await;
    let key = SessionKey::unlimited(u128::from_str_radix(&id[2..34], 16).expect("digits"));
    records.end(key);
    store.lose_news().await;
    sleep(A_WHILE).await;
    records.is_silent.store(true, Ordering::SeqCst);
    let dropped = timeout(Duration::from_secs(1), status(call("echo", &id), &second));
    dropped.await.expect_err("no reading ends");
    records.is_silent.store(false, Ordering::SeqCst);
    assert_eq!(status(call("echo", &id), &second).await, 404);
}

// hardening: H-17
#[tokio::test(start_paused = true)]
async fn a_subscription_beyond_the_limit_of_the_record_is_rejected() {
    let ([first], id, ..) = replicas().await;
    let mut uris = 0;
    let uri = |number: usize| format!("a:{number:04}{}", "x".repeat(60 << 10));
    while status(subscription("resources/subscribe", &uri(uris), &id), &first).await == 200 {
        uris += 1;
    }
    assert_eq!(uris, SessionState::MAX_URI_BYTES / uri(0).len());
    let ended = subscription("resources/unsubscribe", &uri(0), &id);
    ok(ended, &first).await;
    ok(subscription("resources/subscribe", &uri(9), &id), &first).await;
}
