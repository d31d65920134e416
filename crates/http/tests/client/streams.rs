//! Streams that end before their answer, in every way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_proto::TransportErrorKind;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::origin::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, courtesy, empty, end, event, piece, result,
    stream, streamed,
};
use super::user::{User, loss};

const SECOND: Duration = Duration::from_secs(1);

fn polled(id: &str, retry: Option<u64>) -> BodyPart {
    let retry = retry.map_or(String::new(), |retry| format!("retry: {retry}\n"));
    piece(format!("id: {id}\n{retry}data:\n\n"))
}

fn resumed(seen: &SeenRequest) -> bool {
    seen.verb == "GET" && seen.header("last-event-id").is_some()
}

/// The call that a stream is for.
fn call_of(origin: &FakeServer) -> SeenRequest {
    origin.first("tools/list")
}

// spec: 2025-11-25 TRANS-HTTP-16, TRANS-HTTP-17, TRANS-HTTP-19, TRANS-RESUME-04, TRANS-SESS-05
// hardening: H-158
#[tokio::test(start_paused = true)]
async fn a_closed_stream_is_resumed_after_the_delay_and_brings_the_answer() {
    let origin = FakeServer::new(|seen, _| match seen {
        seen if seen.is("tools/list") => streamed([polled("e-1", Some(500))]),
        seen if resumed(seen) => {
            let message = json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [] } });
            streamed([event(&message)])
        }
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    let outcome = user.list().await;
    let get = origin.seen().into_iter().find(resumed).expect("a GET");
    assert_eq!(get.header("last-event-id"), Some("e-1"));
    assert_eq!(get.header("mcp-session-id"), Some("s-1"));
    assert_eq!(get.header("mcp-protocol-version"), Some("2025-11-25"));
    let wait = get.at - call_of(&origin).at;
    assert!((500..=600).contains(&wait.as_millis()), "{wait:?}");
    // The answer above is for the wrong call if ids are not counted from 1.
    assert_eq!(call_of(&origin).id(), json!(2), "{outcome:?}");
    outcome.expect("a result");
}

// hardening: H-158
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_polled_a_few_times_and_no_more() {
    let origin = FakeServer::new(|seen, _| match seen {
        seen if seen.is("tools/list") || resumed(seen) => streamed([polled("e-1", None)]),
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    let outcome = user.list().await;
    assert_eq!(loss(&outcome), TransportErrorKind::Disconnected);
    assert_eq!(origin.seen().iter().filter(|seen| resumed(seen)).count(), 5);
}

// spec: 2026-07-28 N-HTTP-18, N-HTTP-19, N-HTTP-28
// hardening: H-158
#[tokio::test(start_paused = true)]
async fn the_early_end_of_a_modern_stream_fails_its_call_without_a_retry() {
    let endings: [fn() -> FakeResponse; 3] = [
        || streamed([polled("e-1", Some(100))]),
        || {
            let mut answer = stream(&[]);
            answer.extend([polled("e-1", None), BodyPart::Cut]);
            answer
        },
        || {
            let mut answer = stream(&[]);
            answer.extend([piece("data: {\"jsonrpc\":\"2.0\",\"id\":1,"), BodyPart::Cut]);
            answer
        },
    ];
    for ending in endings {
        let origin = FakeServer::new(move |_, _| ending());
        let user = User::modern(origin.clone()).await;
        assert_eq!(loss(&user.list().await), TransportErrorKind::Disconnected);
        sleep(60 * SECOND).await;
        assert_eq!(origin.seen().len(), 1);
        assert_eq!(origin.seen()[0].header("last-event-id"), None);
    }
}

/// Sends the stream of a call, cut at one place, and the rest to a request that resumes it.
fn cut_at(place: usize) -> FakeServer {
    let sent = AtomicUsize::new(usize::MAX);
    FakeServer::new(move |seen, _| {
        let messages = |id: &Value| {
            let note = |n: u64| json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": n } });
            let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [] } });
            [note(1), note(2), result]
        };
        let written = |from: usize, id: &Value| -> String {
            let numbered = messages(id).into_iter().enumerate().skip(from);
            numbered
                .map(|(n, message)| format!("id: e-{n}\ndata: {message}\n\n"))
                .collect()
        };
        if seen.is("tools/list") {
            sent.store(
                seen.id().as_u64().map_or(0, |id| id as usize),
                Ordering::SeqCst,
            );
            let whole = format!("id: e-start\ndata:\n\n{}", written(0, &seen.id()));
            let cut = &whole.as_bytes()[..place.min(whole.len())];
            let mut answer = stream(&[]);
            answer.push(piece(cut));
            answer.push(if place >= whole.len() {
                end()
            } else {
                BodyPart::Cut
            });
            return answer;
        }
        if let Some(last) = seen.header("last-event-id") {
            let from = last
                .strip_prefix("e-")
                .and_then(|n| n.parse::<usize>().ok())
                .map_or(0, |n| n + 1);
            let id = json!(sent.load(Ordering::SeqCst));
            return streamed([piece(format!(": \n{}", written(from, &id)))]);
        }
        courtesy(seen).expect("nothing else")
    })
}

// spec: 2025-11-25 TRANS-HTTP-25, TRANS-RESUME-04
// hardening: H-178
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_cut_at_any_byte_arrives_once_and_in_order() {
    for place in 19..330 {
        let user = User::in_session(cut_at(place)).await;
        let outcome = user.list().await;
        outcome.unwrap_or_else(|why| panic!("cut at {place}: {why}"));
        assert_eq!(
            user.received(),
            ["notifications/message"; 2],
            "cut at {place}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_cut_before_its_first_event_is_lost() {
    for place in [1, 18] {
        let user = User::in_session(cut_at(place)).await;
        assert_eq!(
            loss(&user.list().await),
            TransportErrorKind::Disconnected,
            "cut at {place}"
        );
    }
}

// hardening: H-159
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_to_go_on_is_not_asked_again() {
    for (status, expected) in [
        (400, TransportErrorKind::Status(400)),
        (405, TransportErrorKind::Status(405)),
        (401, TransportErrorKind::Unauthorized(401)),
    ] {
        let origin = FakeServer::new(move |seen, _| match seen {
            seen if seen.is("tools/list") => streamed([polled("e-1", None)]),
            seen if resumed(seen) => empty(status),
            seen => courtesy(seen).expect("nothing else"),
        });
        let user = User::in_session(origin.clone()).await;
        assert_eq!(loss(&user.list().await), expected);
        assert_eq!(origin.seen().iter().filter(|seen| resumed(seen)).count(), 1);
    }
}

// hardening: H-159
#[tokio::test(start_paused = true)]
async fn a_busy_server_sets_the_delay_before_the_next_request() {
    let origin = FakeServer::new(|seen, _| match seen {
        seen if seen.is("tools/list") => streamed([polled("e-1", None)]),
        seen if resumed(seen) => super::origin::with(503, &[("retry-after", "7")], ""),
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    assert_eq!(loss(&user.list().await), TransportErrorKind::Disconnected);
    let asked: Vec<Instant> = origin
        .seen()
        .into_iter()
        .filter(resumed)
        .map(|seen| seen.at)
        .collect();
    assert_eq!(asked.len(), 5);
    assert!(asked.windows(2).all(|two| two[1] - two[0] >= 7 * SECOND));
}

// spec: 2025-11-25 TRANS-HTTP-29, TRANS-HTTP-32, TRANS-HTTP-35, TRANS-HTTP-36, TRANS-HTTP-38
#[tokio::test(start_paused = true)]
async fn the_stream_of_a_session_is_open_before_the_first_call_and_comes_back() {
    let note = |n: u64| json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": n } });
    let origin = FakeServer::new(move |seen, _| match seen.verb.as_str() {
        "GET" => streamed([piece(format!(
            "id: g-1\nretry: 2000\ndata: {}\n\n",
            note(1)
        ))]),
        _ if seen.is("tools/list") => super::origin::json(200, &result(seen)),
        _ => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    user.list().await.expect("a result");
    let seen = origin.seen();
    let order: Vec<String> = seen
        .iter()
        .map(|seen| format!("{}{}", seen.verb, seen.method()))
        .collect();
    assert_eq!(
        order[..4],
        [
            "POSTinitialize",
            "POSTnotifications/initialized",
            "GET",
            "POSTtools/list"
        ]
    );
    sleep(3 * SECOND).await;
    let gets: Vec<SeenRequest> = origin
        .seen()
        .into_iter()
        .filter(|seen| seen.verb == "GET")
        .collect();
    assert_eq!(gets[0].header("last-event-id"), None);
    assert_eq!(gets[1].header("last-event-id"), Some("g-1"));
    assert!(gets[1].at - gets[0].at >= 2 * SECOND);
}

// spec: 2025-11-25 TRANS-HTTP-31
#[tokio::test(start_paused = true)]
async fn a_server_without_a_session_stream_is_usable() {
    for status in [400, 404, 405, 406, 409, 500, 501] {
        let origin = FakeServer::new(move |seen, _| match seen.verb.as_str() {
            "GET" => empty(status),
            _ if seen.is("tools/list") => super::origin::json(200, &result(seen)),
            _ => courtesy(seen).expect("nothing else"),
        });
        let user = User::in_session(origin.clone()).await;
        for _ in 0..3 {
            user.list()
                .await
                .unwrap_or_else(|why| panic!("{status}: {why}"));
        }
        sleep(60 * SECOND).await;
        let asked = origin.count("GET");
        assert!(asked == 1, "{status} {asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_stream_is_requested_until_the_server_is_there() {
    let note = |n: u64| json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": n } });
    for status in [408, 429, 502, 503, 504] {
        let refused = AtomicUsize::new(0);
        let origin = FakeServer::new(move |seen, _| match seen.verb.as_str() {
            "GET" if refused.fetch_add(1, Ordering::SeqCst) < 8 => {
                super::origin::with(status, &[("retry-after", "2")], "")
            }
            "GET" => streamed([event(&note(1)), BodyPart::Wait(600 * SECOND)]),
            _ => courtesy(seen).expect("nothing else"),
        });
        let user = User::in_session(origin.clone()).await;
        sleep(200 * SECOND).await;
        assert_eq!(user.received(), ["notifications/message"], "{status}");
        assert_eq!(origin.count("GET"), 9, "{status}");
    }
}

// spec: 2025-11-25 TASK-42, TASK-25
#[tokio::test(start_paused = true)]
async fn messages_of_a_task_are_read_on_every_stream() {
    let ask = |id: &str| {
        let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t" } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "roots/list", "params": { "_meta": related } })
    };
    let origin = FakeServer::new(move |seen, _| match seen {
        seen if seen.verb == "GET" => streamed([event(&ask("r-1")), BodyPart::Wait(60 * SECOND)]),
        seen if seen.is("tools/list") => streamed([
            event(&ask("r-2")),
            BodyPart::Wait(SECOND),
            event(&result(seen)),
        ]),
        seen if seen.json().get("result").is_some() => empty(202),
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    user.list().await.expect("a result");
    let all = origin.seen();
    let answers = all
        .iter()
        .filter(|seen| seen.json().get("result").is_some());
    let mut answered: Vec<Value> = answers.map(SeenRequest::id).collect();
    answered.sort_by_key(ToString::to_string);
    assert_eq!(answered, [json!("r-1"), json!("r-2")]);
}

/// Returns how often a client posts its answer to a server that refuses it `refused` times.
async fn posts_of_an_answer(status: u16, refused: usize) -> usize {
    let posts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&posts);
    let origin = FakeServer::new(move |seen, _| match seen {
        seen if seen.is("tools/list") => {
            let ask = json!({ "jsonrpc": "2.0", "id": "r-1", "method": "roots/list" });
            streamed([
                event(&ask),
                BodyPart::Wait(50 * SECOND),
                event(&result(seen)),
            ])
        }
        seen if seen.json().get("result").is_some() => {
            match counted.fetch_add(1, Ordering::SeqCst) < refused {
                true => super::origin::with(status, &[("retry-after", "2")], ""),
                false => empty(202),
            }
        }
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    user.list().await.expect("a result");
    posts.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_server_did_not_accept_is_posted_again() {
    for status in [429, 502, 503] {
        assert_eq!(posts_of_an_answer(status, 2).await, 3, "{status}");
    }
    assert_eq!(posts_of_an_answer(503, 100).await, 6);
    assert_eq!(posts_of_an_answer(400, 1).await, 1);
}

/// Returns how often a client posts a notification to a server that refuses it `refused` times.
async fn posts_of_a_notice(method: &'static str, status: u16, refused: usize) -> usize {
    let posts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&posts);
    let origin = FakeServer::new(move |seen, _| match seen {
        seen if seen.is(method) => match counted.fetch_add(1, Ordering::SeqCst) < refused {
            true => super::origin::with(status, &[("retry-after", "2")], ""),
            false => empty(202),
        },
        seen if seen.is("tools/list") => streamed([BodyPart::Wait(50 * SECOND)]),
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    if method == "notifications/cancelled" {
        assert!(timeout(SECOND, user.list()).await.is_err());
    }
    sleep(100 * SECOND).await;
    posts.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_that_a_server_did_not_accept_is_posted_again() {
    let cancelled = |status, refused| posts_of_a_notice("notifications/cancelled", status, refused);
    for status in [429, 500, 503] {
        assert_eq!(cancelled(status, 2).await, 3, "{status}");
    }
    assert_eq!(cancelled(503, 100).await, 6);
    assert_eq!(cancelled(400, 1).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_a_busy_server_did_not_confirm_is_confirmed_again() {
    let confirmed =
        |status, refused| posts_of_a_notice("notifications/initialized", status, refused);
    assert_eq!(confirmed(503, 2).await, 3);
    assert_eq!(confirmed(503, 100).await, 6);
    assert_eq!(confirmed(500, 1).await, 1);
}

// spec: 2025-11-25 TRANS-HTTP-21
#[tokio::test(start_paused = true)]
async fn a_question_on_a_reply_is_answered_by_a_separate_post() {
    let origin = FakeServer::new(|seen, _| match seen {
        seen if seen.is("tools/list") => {
            let ask = json!({ "jsonrpc": "2.0", "id": "r-1", "method": "roots/list" });
            streamed([event(&ask), BodyPart::Wait(SECOND), event(&result(seen))])
        }
        seen if seen.json().get("result").is_some() => empty(202),
        seen => courtesy(seen).expect("nothing else"),
    });
    let user = User::in_session(origin.clone()).await;
    user.list().await.expect("a result");
    assert_eq!(user.received(), ["roots/list"]);
    let all = origin.seen();
    let answer = all.iter().find(|seen| seen.json().get("result").is_some());
    let answer = answer.expect("an answer");
    assert_eq!(answer.id(), json!("r-1"));
    assert_eq!(answer.header("mcp-session-id"), Some("s-1"));
}
