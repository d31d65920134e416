//! Event streams in every form: cut anywhere, in any notation, or ended before the answer.

use std::time::Duration;

use pintle_proto::TransportErrorKind;
use pintle_testkit::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, courtesy, empty, end, event, piece, result,
    stream, streamed, with,
};
use serde_json::json;
use tokio::time::Instant;

use crate::hostile::{loss, visit, within};

const SECOND: Duration = Duration::from_secs(1);

fn legacy(answer: impl Fn(&SeenRequest) -> FakeResponse + Send + Sync + 'static) -> FakeServer {
    FakeServer::new(move |seen, _| match seen {
        seen if seen.is("server/discover") => empty(404),
        seen if seen.is("tools/list") || seen.header("last-event-id").is_some() => answer(seen),
        seen => courtesy(seen).unwrap_or_else(|| empty(404)),
    })
}

// hardening: H-154, H-155, H-156
#[tokio::test(start_paused = true)]
async fn a_stream_has_the_same_events_in_every_notation_and_cut() {
    let written: [fn(&str) -> String; 7] = [
        |text| format!("data: {text}\n\n"),
        |text| format!("data: {text}\r\n\r\n"),
        |text| format!("data: {text}\r\r"),
        |text| format!("event: message\rid: 1\r\ndata:{text}\n\r\n"),
        |text| format!("\u{feff}: a comment\nretry: 10\nunknown: field\ndata: {text}\n\n"),
        |text| format!("id: 0\ndata:\n\ndata: {text}\n\n"),
        |text| {
            let (first, rest) = text.split_once(',').expect("members");
            format!("data: {first},\ndata: {rest}\n\n")
        },
    ];
    for (at, write) in written.into_iter().enumerate() {
        for size in [1, 2, 3, 7, 4_096] {
            let origin = legacy(move |seen| {
                let tool = json!({ "name": "Ærøskøbing", "inputSchema": {} });
                let mut answer = result(seen);
                answer["result"]["tools"] = json!([tool]);
                let text = write(&answer.to_string());
                let mut answer = stream(&[]);
                answer.extend(text.as_bytes().chunks(size).map(piece));
                answer.push(end());
                answer
            });
            let client = visit(&origin).await.expect("a conversation");
            let tools = within(client.list_tools()).await;
            let tools = tools.unwrap_or_else(|why| panic!("{at} in pieces of {size}: {why}"));
            assert_eq!(tools[0].name, "Ærøskøbing");
        }
    }
}

// hardening: H-158, H-159
#[tokio::test(start_paused = true)]
async fn a_stream_that_always_ends_before_its_answer_is_resumed_a_few_times() {
    let empty_events = || streamed([piece("id: e-1\ndata:\n\n")]);
    let origin = legacy(move |_| empty_events());
    let client = visit(&origin).await.expect("a conversation");
    let began = Instant::now();
    let error = within(client.list_tools()).await.unwrap_err();
    assert_eq!(loss(&error), TransportErrorKind::Disconnected);
    let resumed = |seen: &SeenRequest| seen.header("last-event-id").is_some();
    let resumes = origin.seen().iter().filter(|seen| resumed(seen)).count();
    // A list has no side effects, so it is requested once more, and resumed as often.
    assert_eq!((origin.count("tools/list"), resumes), (2, 10));
    assert!(
        began.elapsed() > SECOND,
        "not at once: {:?}",
        began.elapsed()
    );
    let times: Vec<_> = origin
        .seen()
        .into_iter()
        .filter(resumed)
        .map(|seen| seen.at)
        .collect();
    let waits: Vec<_> = times
        .windows(2)
        .take(4)
        .map(|two| two[1] - two[0])
        .collect();
    assert!(waits.iter().all(|wait| *wait <= 31 * SECOND), "{waits:?}");
}

// hardening: H-159
#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_is_asked_a_few_times_and_never_when_it_refuses() {
    // The number of requests for the list (once more if its session or its connection was lost), and of
    // its streams.
    for (status, lists, streams) in [
        (500, 2, 10),
        (503, 2, 10),
        (400, 1, 1),
        (401, 1, 1),
        (403, 1, 1),
        (404, 2, 2),
        (405, 1, 1),
    ] {
        let origin = legacy(move |seen| match seen.verb.as_str() {
            "GET" => with(status, &[("retry-after", "3")], ""),
            _ => streamed([piece("id: e-1\ndata:\n\n")]),
        });
        let client = visit(&origin).await.expect("a conversation");
        within(client.list_tools()).await.unwrap_err();
        let gets = origin.seen().into_iter();
        let gets: Vec<_> = gets
            .filter(|seen| seen.header("last-event-id").is_some())
            .collect();
        assert_eq!(
            (origin.count("tools/list"), gets.len()),
            (lists, streams),
            "{status}"
        );
        for of_one_call in gets.chunks(streams / lists) {
            let mut waits = of_one_call.windows(2).map(|two| two[1].at - two[0].at);
            assert!(waits.all(|wait| wait >= 3 * SECOND), "it said when");
        }
    }
}

// hardening: H-158, H-164
#[tokio::test(start_paused = true)]
async fn a_modern_stream_that_ends_early_is_not_resumed() {
    let endings: [fn() -> FakeResponse; 3] = [
        || streamed([piece("id: e-1\nretry: 10\ndata:\n\n")]),
        || {
            let mut answer = stream(&[]);
            answer.extend([
                event(&json!({ "jsonrpc": "2.0", "method": "notifications/x" })),
                BodyPart::Cut,
            ]);
            answer
        },
        || vec![BodyPart::Cut],
    ];
    for ending in endings {
        let server = pintle_testkit::HostileServer::modern(|_, _| {});
        let discovering = server.origin();
        let origin = FakeServer::new(move |seen, count| match seen.is("server/discover") {
            true => discovering.answer(seen, count),
            false => ending(),
        });
        let client = visit(&origin).await.expect("a conversation");
        let error = within(client.call_tool("t", ())).await.unwrap_err();
        assert_eq!(loss(&error), TransportErrorKind::Disconnected);
        assert!(!error.is_retryable());
        tokio::time::sleep(60 * SECOND).await;
        assert_eq!((origin.count("tools/call"), origin.count("GET")), (1, 0));
    }
}
