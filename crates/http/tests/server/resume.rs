//! Clients that resume a stream.

use std::collections::HashSet;
use std::time::Duration;

use pintle_http::{HttpOptions, ResponseBody};
use pintle_proto::frame::sse;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, sleep, timeout};

use crate::common::{
    Ask, Endpoint, body_json, endpoint, endpoint_with, get, legacy, listen, messages, modern_tool,
    open, open_speaking, piece, post,
};

const SECOND: Duration = Duration::from_secs(1);

fn tool(id: i64, name: &str, arguments: Value) -> Ask {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "t" } });
    legacy(id, "tools/call", params)
}

/// A client that reads a stream, and may lose it anywhere.
#[derive(Default)]
struct Reader {
    decoder: sse::Decoder,
    messages: Vec<Value>,
    ids: Vec<String>,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let Some(event) = self.decoder.decode(&mut rest).expect("short events") {
            self.ids.extend(event.id.map(String::from));
            self.messages
                .push(serde_json::from_slice(&event.data).expect("JSON"));
        }
    }

    async fn read_to_end(&mut self, body: &mut ResponseBody) {
        while let Some(piece) = piece(body).await {
            self.read(&piece);
        }
    }

    /// Resumes after the last event that was received.
    async fn come_back(&mut self, endpoint: &Endpoint, session: &str) -> ResponseBody {
        let last = self.decoder.last_id().expect("something to come back to");
        let ask = come_back(session, last);
        self.decoder = sse::Decoder::default().resuming(Some(last));
        let response = ask.of(endpoint).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response.into_body()
    }

    /// Returns the progress of each notice, or the id of the answer.
    fn steps(&self) -> Vec<Value> {
        let step = |message: &Value| match message.get("id") {
            Some(id) => json!({ "id": id }),
            None => message["params"]["progress"].clone(),
        };
        self.messages.iter().map(step).collect()
    }
}

fn come_back(session: &str, last: &str) -> Ask {
    get().in_session(session).with("last-event-id", last)
}

async fn change(endpoint: &Endpoint, session: &str) {
    let change = tool(1, "change", json!({}))
        .in_session(session)
        .of(endpoint);
    assert_eq!(change.await.status(), 200);
}

/// Calls a tool, reads until `progress` messages have come, then loses the connection.
async fn lose(endpoint: &Endpoint, session: &str, call: Ask, progress: usize) -> Reader {
    let mut body = call.in_session(session).of(endpoint).await.into_body();
    let mut reader = Reader::default();
    while reader.decoder.last_id().is_none() || reader.messages.len() < progress {
        reader.read(&piece(&mut body).await.expect("more to come"));
    }
    reader
}

// spec: 2025-11-25 TRANS-HTTP-15, TRANS-HTTP-18, AMB-30
#[tokio::test(start_paused = true)]
async fn a_stream_begins_with_a_priming_event_if_the_revision_has_it() {
    let endpoint = endpoint();
    for (revision, primes) in [("2025-11-25", true), ("2025-06-18", false)] {
        let session = open_speaking(&endpoint, revision).await;
        let call = tool(1, "chat", json!({})).in_session(&session);
        let mut body = call.of(&endpoint).await.into_body();
        let first = piece(&mut body).await.expect("an event");
        let begins = first.starts_with("retry: 3000\nid: ") && first.contains("\ndata: \n\n");
        assert_eq!(begins, primes, "{first}");
        assert_eq!(messages(&first).len(), 1, "{first}");
        let mut stream = get().in_session(&session).of(&endpoint).await.into_body();
        let first = piece(&mut stream)
            .await
            .expect("an event or a sign of life");
        assert_eq!(first.starts_with("retry: 3000\nid: "), primes, "{first}");
        assert!(messages(&first).is_empty());
    }
}

// spec: 2025-11-25 TRANS-RESUME-01, TRANS-RESUME-02, TRANS-HTTP-28
#[tokio::test(start_paused = true)]
async fn the_events_of_a_session_have_names_that_never_repeat() {
    let endpoint = endpoint();
    let mut names = HashSet::new();
    let mut events = 0;
    for session in [open(&endpoint).await, open(&endpoint).await] {
        let mut stream = listen(&endpoint, &session).await;
        let mut reader = Reader::default();
        for nth in 2..5 {
            let call = tool(nth, "progress", json!({ "steps": 3 })).in_session(&session);
            let mut body = call.of(&endpoint).await.into_body();
            reader.read_to_end(&mut body).await;
            change(&endpoint, &session).await;
            reader.read(&piece(&mut stream).await.expect("a change"));
        }
        assert_eq!(reader.ids.len(), reader.messages.len());
        events += reader.ids.len();
        names.extend(reader.ids);
    }
    assert_eq!((events, names.len()), (2 * 3 * 5, 2 * 3 * 5));
}

// spec: 2026-07-28 N-HTTP-18
#[tokio::test(start_paused = true)]
async fn a_modern_stream_has_nothing_to_come_back_to() {
    let mut call = modern_tool(1, "progress", json!({ "steps": 3 }));
    let body: Value = serde_json::from_slice(&call.body).expect("JSON");
    let mut asking = body.clone();
    asking["params"]["_meta"]["progressToken"] = json!("t");
    call.body = asking.to_string().into();
    let mut body = call.of(&endpoint()).await.into_body();
    let first = piece(&mut body).await.expect("messages");
    assert!(!messages(&first).is_empty());
    assert!(
        !first.contains("id: ") && !first.contains("retry: "),
        "{first}"
    );
}

// spec: 2025-11-25 TRANS-HTTP-13
#[tokio::test(start_paused = true)]
async fn a_quick_answer_is_one_body_and_a_slow_one_a_stream() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    for (seconds, kind) in [(0, "application/json"), (2, "text/event-stream")] {
        let began = Instant::now();
        let call = tool(1, "slow", json!({ "seconds": seconds })).in_session(&session);
        let response = call.of(&endpoint).await;
        assert_eq!(response.headers()["content-type"], kind);
        assert!(began.elapsed() <= SECOND);
        assert_eq!(body_json(response).await["id"], 1);
    }
}

// spec: 2025-11-25 TRANS-RESUME-05, TRANS-RESUME-07, TRANS-HTTP-16, TRANS-HTTP-20, TRANS-HTTP-26, AMB-42
// hardening: H-138
#[tokio::test(start_paused = true)]
async fn a_client_that_resumes_receives_missed_messages_and_the_rest() {
    let all = json!([1.0, 2.0, 3.0, 4.0, { "id": 1 }]);
    for (seen, away) in [(0, 0), (0, 2), (1, 0), (2, 2), (3, 60), (4, 60)] {
        let (endpoint, calls) = endpoint_with(HttpOptions::default());
        let session = open(&endpoint).await;
        let call = tool(1, "steady", json!({ "steps": 4 }));
        let mut reader = lose(&endpoint, &session, call, seen).await;
        sleep(SECOND * away).await;
        let mut body = reader.come_back(&endpoint, &session).await;
        reader.read_to_end(&mut body).await;
        assert_eq!(json!(reader.steps()), all, "{seen} seen, away for {away} s");
        assert_eq!((calls.started(), calls.finished()), (1, 1));
    }
}

// spec: 2025-11-25 AMB-33
// hardening: H-178
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_cut_anywhere_is_received_whole_and_once() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let call = tool(1, "progress", json!({ "steps": 3 })).in_session(&session);
    let mut body = call.of(&endpoint).await.into_body();
    let mut text = String::new();
    while let Some(piece) = piece(&mut body).await {
        text.push_str(&piece);
    }
    drop(body);
    for cut in 0..=text.len() {
        let mut reader = Reader::default();
        reader.read(&text[..cut]);
        if reader.decoder.last_id().is_none() {
            continue;
        }
        let mut rest = reader.come_back(&endpoint, &session).await;
        reader.read_to_end(&mut rest).await;
        assert_eq!(json!(reader.steps()), json!([1.0, 2.0, 3.0, { "id": 1 }]));
        let unique: HashSet<_> = reader.ids.iter().collect();
        assert_eq!(unique.len(), 4);
    }
}

// spec: 2025-11-25 TRANS-RESUME-06, TRANS-HTTP-34
// hardening: H-187
#[tokio::test(start_paused = true)]
async fn nothing_of_another_stream_is_repeated() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let mut stream = listen(&endpoint, &session).await;
    let mut first = lose(&endpoint, &session, tool(2, "steady", json!({})), 1).await;
    let mut second = lose(&endpoint, &session, tool(3, "steady", json!({})), 2).await;
    change(&endpoint, &session).await;
    let mut unasked = Reader::default();
    unasked.read(&piece(&mut stream).await.expect("a change"));
    sleep(SECOND * 10).await;
    for (reader, id) in [(&mut first, 2), (&mut second, 3)] {
        let mut body = reader.come_back(&endpoint, &session).await;
        reader.read_to_end(&mut body).await;
        assert_eq!(json!(reader.steps()), json!([1.0, 2.0, 3.0, { "id": id }]));
    }
    drop(stream);
    let mut stream = unasked.come_back(&endpoint, &session).await;
    let silence = piece(&mut stream).await;
    assert_eq!(silence.as_deref(), Some(":\n\n"), "all was heard already");
}

// spec: 2025-11-25 TRANS-HTTP-36, TRANS-HTTP-40, TRANS-RESUME-05
#[tokio::test(start_paused = true)]
async fn a_stream_of_unsolicited_messages_can_be_resumed() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let mut reader = Reader::default();
    let response = get().in_session(&session).of(&endpoint).await;
    let mut body = response.into_body();
    reader.read(&piece(&mut body).await.expect("where to come back to"));
    change(&endpoint, &session).await;
    let lost = piece(&mut body).await.expect("a change");
    assert_eq!(messages(&lost).len(), 1, "it has left, but did not arrive");
    drop(body);
    change(&endpoint, &session).await;

    let mut body = reader.come_back(&endpoint, &session).await;
    while reader.messages.len() < 2 {
        reader.read(&piece(&mut body).await.expect("what was missed"));
    }
    change(&endpoint, &session).await;
    reader.read(&piece(&mut body).await.expect("and what comes"));
    assert_eq!((reader.messages.len(), reader.ids.len()), (3, 3));
}

// spec: 2025-11-25 AMB-35
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_opened_anew_repeats_nothing() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let mut stream = listen(&endpoint, &session).await;
    change(&endpoint, &session).await;
    assert_eq!(
        messages(&piece(&mut stream).await.expect("a change")).len(),
        1
    );
    drop(stream);
    let mut anew = listen(&endpoint, &session).await;
    assert_eq!(piece(&mut anew).await.as_deref(), Some(":\n\n"));
}

// spec: 2025-11-25 AMB-32
// hardening: H-17, H-189
#[tokio::test(start_paused = true)]
async fn an_event_that_is_not_known_here_is_refused_and_the_session_lives() {
    let endpoint = endpoint();
    let (session, other) = (open(&endpoint).await, open(&endpoint).await);
    let call = || tool(1, "progress", json!({ "steps": 2 }));
    let own = lose(&endpoint, &session, call(), 2).await;
    let foreign = lose(&endpoint, &other, call(), 2).await;
    let last = own.decoder.last_id().expect("a name");
    let (stream, position) = last.rsplit_once('-').expect("a position");
    let position = u64::from_str_radix(position, 16).expect("a number");
    let rows = [
        String::new(),
        "7".to_owned(),
        "x".repeat(1000),
        format!("{stream}-{:x}", position + 2),
        format!("{stream}-+{position:x}"),
        stream.to_owned(),
        foreign.decoder.last_id().expect("a name").to_owned(),
    ];
    for last in rows {
        let (status, body) = come_back(&session, &last).json(&endpoint).await;
        assert_eq!(
            (status, &body["error"]["code"]),
            (400, &json!(-32600)),
            "{last}"
        );
        assert!(body.get("id").is_none());
    }
    let twice = come_back(&session, last).with("last-event-id", last);
    assert_eq!(twice.json(&endpoint).await.0, 400);
    assert_eq!(come_back(&session, last).of(&endpoint).await.status(), 200);
}

// spec: 2025-11-25 AMB-33
// hardening: H-188
#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_for_ten_minutes_after_it_was_made() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let call = tool(1, "slow", json!({ "seconds": 3600 }));
    let reader = lose(&endpoint, &session, call, 0).await;
    sleep(SECOND * 3600 + SECOND * 590).await;
    let last = reader.decoder.last_id().expect("a name");
    for (later, expected) in [(0, 200), (8, 200), (2, 400)] {
        advance(SECOND * later).await;
        let response = come_back(&session, last).of(&endpoint).await;
        assert_eq!(response.status(), expected);
        let answer = body_json(response).await;
        assert_eq!(answer["id"] == 1, expected == 200, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unread_answer_does_not_keep_its_session_open() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    lose(&endpoint, &session, tool(1, "chat", json!({})), 1).await;
    sleep(SECOND * 60 * 31).await;
    let list = legacy(2, "tools/list", json!({})).in_session(&session);
    assert_eq!(list.of(&endpoint).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_resumes_replaces_a_connection_that_seems_open() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    let call = tool(1, "steady", json!({ "steps": 3 })).in_session(&session);
    let mut dead = call.of(&endpoint).await.into_body();
    let mut reader = Reader::default();
    while reader.messages.is_empty() {
        reader.read(&piece(&mut dead).await.expect("progress"));
    }
    let mut body = reader.come_back(&endpoint, &session).await;
    let on_dead = async {
        let mut stale = Reader::default();
        stale.read_to_end(&mut dead).await;
        stale.messages.len()
    };
    let (stale, ()) = tokio::join!(on_dead, reader.read_to_end(&mut body));
    assert_eq!(stale, 0, "no message is said twice");
    assert_eq!(json!(reader.steps()), json!([1.0, 2.0, 3.0, { "id": 1 }]));
}

// spec: 2025-11-25 AMB-36
#[tokio::test(start_paused = true)]
async fn a_question_waits_for_its_client_to_come_back() {
    for has_arrived in [false, true] {
        let endpoint = endpoint();
        let session = open(&endpoint).await;
        let call = tool(1, "roots later", json!({})).in_session(&session);
        let mut body = call.of(&endpoint).await.into_body();
        let mut reader = Reader::default();
        while reader.decoder.last_id().is_none() {
            reader.read(&piece(&mut body).await.expect("where to come back to"));
        }
        if has_arrived {
            piece(&mut body).await.expect("the question");
        }
        drop(body);
        sleep(SECOND * 60).await;
        let mut body = reader.come_back(&endpoint, &session).await;
        reader.read(&piece(&mut body).await.expect("the question"));
        assert_eq!(reader.messages[0]["method"], "roots/list");
        let id = &reader.messages[0]["id"];
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } });
        let posted = post(answer.to_string()).in_session(&session);
        assert_eq!(posted.of(&endpoint).await.status(), 202);
        reader.read_to_end(&mut body).await;
        assert_eq!(
            reader.messages[1]["result"]["content"][0]["text"],
            "0 roots"
        );
    }
}

// spec: 2025-11-25 AMB-36
#[tokio::test(start_paused = true)]
async fn a_question_whose_client_has_nothing_to_come_back_to_is_asked_unasked() {
    let endpoint = endpoint();
    let session = open_speaking(&endpoint, "2025-06-18").await;
    let call = tool(1, "roots later", json!({})).in_session(&session);
    let gone = timeout(SECOND / 2, call.of(&endpoint)).await;
    assert!(gone.is_err());
    let mut stream = get().in_session(&session).of(&endpoint).await.into_body();
    let asked = messages(&piece(&mut stream).await.expect("the question"));
    assert_eq!(asked[0]["method"], "roots/list");
}

#[tokio::test(start_paused = true)]
async fn there_is_nothing_to_come_back_to_after_a_cancellation() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let session = open(&endpoint).await;
    let reader = lose(&endpoint, &session, tool(1, "hang", json!({})), 0).await;
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let posted = post(cancelled.to_string()).in_session(&session);
    assert_eq!(posted.of(&endpoint).await.status(), 202);
    sleep(SECOND).await;
    assert_eq!(calls.dropped(), 1);
    let last = reader.decoder.last_id().expect("a name");
    assert_eq!(come_back(&session, last).of(&endpoint).await.status(), 204);
}

// spec: 2025-11-25 TRANS-HTTP-16, TRANS-HTTP-18, TRANS-HTTP-20
#[tokio::test(start_paused = true)]
async fn a_handler_may_let_its_client_wait_without_a_connection() {
    let (endpoint, calls) = endpoint_with(HttpOptions::default());
    let session = open(&endpoint).await;
    let began = Instant::now();
    let call = tool(1, "part", json!({})).in_session(&session);
    let mut body = call.of(&endpoint).await.into_body();
    let mut reader = Reader::default();
    reader.read_to_end(&mut body).await;
    assert_eq!(
        (began.elapsed(), reader.messages.len()),
        (Duration::ZERO, 0)
    );
    assert_eq!(reader.decoder.retry(), Some(SECOND * 3));
    let mut body = reader.come_back(&endpoint, &session).await;
    reader.read_to_end(&mut body).await;
    let text = &reader.messages[0]["result"]["content"][0]["text"];
    assert_eq!(text, "parted: true");
    assert_eq!((calls.started(), calls.finished()), (1, 1));
}

// spec: 2025-11-25 AMB-30
#[tokio::test(start_paused = true)]
async fn a_client_that_would_not_come_back_keeps_its_connection() {
    let endpoint = endpoint();
    let session = open_speaking(&endpoint, "2025-06-18").await;
    let called = tool(1, "part", json!({})).in_session(&session);
    let (_, old) = called.json(&endpoint).await;
    let (_, modern) = modern_tool(1, "part", json!({})).json(&endpoint).await;
    for answer in [old, modern] {
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(text, "parted: false");
    }
}

// hardening: H-188, H-190
#[tokio::test(start_paused = true)]
async fn a_client_that_missed_too_many_messages_receives_an_error() {
    let mut options = HttpOptions::default();
    options.limits.max_replay_events_per_stream = 3;
    let (endpoint, _) = endpoint_with(options);
    let session = open(&endpoint).await;
    let call = tool(1, "progress", json!({ "steps": 4 })).in_session(&session);
    let mut body = call.of(&endpoint).await.into_body();
    let mut reader = Reader::default();
    reader.read_to_end(&mut body).await;
    let expected = [400, 200, 200, 200, 200];
    for (name, expected) in reader.ids.iter().zip(expected) {
        let response = come_back(&session, name).of(&endpoint).await;
        assert_eq!(response.status(), expected, "{name}");
    }
}
